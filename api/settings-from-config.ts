import { type ApiConfig, sizeInBytes } from '../lib/config/api-config.js';
import type { Home } from '../lib/home/home.js';
import type { ApiSettings } from './api-settings.js';

/** Settings of api.yaml in the form this program uses. */
export function settingsFromConfig(config: ApiConfig, home: Home): ApiSettings {
  const { https, logs, cors, access } = config;
  const ssl = (name: string) => home.path('api', 'configuration', 'ssl', name);
  return {
    hosts: config.host,
    port: config.port,
    maxUploadSize: config.max_upload_size,
    authenticationPoolSize: config.authentication_pool_size,
    requestTimeoutMs: config.intervals.request_timeout * 1000,
    docs: config.docs.enabled,
    console: config.console.enabled,
    experimentalFeatures: config.experimental_features,
    daemonNames: config.compatibility.daemon_names,
    https: https.enabled
      ? {
          key: ssl(https.key),
          certificate: ssl(https.cert),
          ca: https.use_ca ? ssl(https.ca) : undefined,
          ciphers: https.ssl_ciphers === '' ? undefined : https.ssl_ciphers,
        }
      : undefined,
    logs: {
      level: logs.level,
      plain: logs.format.includes('plain'),
      json: logs.format.includes('json'),
      maxSize: logs.max_size.enabled ? sizeInBytes(logs.max_size.size) : undefined,
    },
    cors: cors.enabled
      ? {
          sourceRoute: cors.source_route,
          exposeHeaders: joined(cors.expose_headers),
          allowHeaders: joined(cors.allow_headers),
          allowCredentials: cors.allow_credentials,
        }
      : undefined,
    access: {
      maxLoginAttempts: access.max_login_attempts,
      blockSeconds: access.block_time,
      maxRequestsPerMinute: access.max_request_per_minute,
    },
  };
}

function joined(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(', ');
}
