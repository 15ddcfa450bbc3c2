import { type AuthdSettings, ratesOf } from './authd-settings.js';

const word = (value: boolean) => (value ? 'yes' : 'no');

/** The sections in force that svc-authd shows. */
export function activeSections(settings: () => AuthdSettings): ReadonlyMap<string, () => Record<string, unknown>> {
  return new Map<string, () => Record<string, unknown>>([
    ['auth', () => activeAuth(settings())],
    [
      'internal',
      () => {
        const { perMinute, perDay } = ratesOf(settings());
        return { internal: { authd: { enrollments_per_minute: perMinute, enrollments_per_day: perDay } } };
      },
    ],
  ]);
}

/** The section `auth` in force, as daemons-and-config.md 1.7 shows it; secrets are not part of it. */
export function activeAuth({ auth }: AuthdSettings): Record<string, unknown> {
  const { force, key_request: keyRequest } = auth;
  return {
    auth: {
      port: auth.port,
      disabled: word(auth.disabled),
      remote_enrollment: word(auth.remote_enrollment),
      ipv6: word(auth.ipv6),
      ...(auth.local_ip === undefined ? {} : { local_ip: auth.local_ip }),
      use_source_ip: word(auth.use_source_ip),
      purge: word(auth.purge),
      use_password: word(auth.use_password),
      ssl_verify_host: word(auth.ssl_verify_host),
      ssl_auto_negotiate: word(auth.ssl_auto_negotiate),
      ciphers: auth.ciphers,
      ...(auth.ssl_agent_ca === undefined ? {} : { ssl_agent_ca: auth.ssl_agent_ca }),
      ssl_manager_cert: auth.ssl_manager_cert,
      ssl_manager_key: auth.ssl_manager_key,
      force: {
        enabled: word(force.enabled),
        key_mismatch: word(force.key_mismatch),
        disconnected_time: {
          enabled: word(force.disconnected_time.enabled),
          value: force.disconnected_time.seconds,
        },
        after_registration_time: force.after_registration_time,
      },
      agents: { allow_higher_versions: word(auth.agents.allow_higher_versions) },
      ...(keyRequest === undefined
        ? {}
        : {
            key_request: {
              ...keyRequest,
              enabled: word(keyRequest.enabled),
            },
          }),
    },
  };
}
