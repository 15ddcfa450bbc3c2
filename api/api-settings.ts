/** Settings of api.yaml as svc-apid uses them (rest-api.md 1.3). */
export type ApiSettings = {
  readonly hosts: readonly string[];
  readonly port: number;
  /** Bytes; 0 = no limit. */
  readonly maxUploadSize: number;
  /** Password checks at once. */
  readonly authenticationPoolSize: number;
  /** Milliseconds; 0 = no limit. */
  readonly requestTimeoutMs: number;
  readonly docs: boolean;
  /** Whether the console is served at /console. */
  readonly console: boolean;
  readonly experimentalFeatures: boolean;
  /** Which prefix the names of daemons have in answers. */
  readonly daemonNames: 'svc' | 'wazuh';
  readonly https: HttpsSettings | undefined;
  readonly logs: LogSettings;
  readonly cors: CorsSettings | undefined;
  readonly access: AccessSettings;
};

/** Absolute paths. `ca` only when client certificates are required. */
export type HttpsSettings = {
  readonly key: string;
  readonly certificate: string;
  readonly ca: string | undefined;
  readonly ciphers: string | undefined;
};

export type ApiLogLevel = 'disabled' | 'error' | 'warning' | 'info' | 'debug' | 'debug2';

export type LogSettings = {
  readonly level: ApiLogLevel;
  readonly plain: boolean;
  readonly json: boolean;
  /** Bytes at which a file is rotated; undefined = at midnight. */
  readonly maxSize: number | undefined;
};

export type CorsSettings = {
  readonly sourceRoute: string;
  readonly exposeHeaders: string;
  readonly allowHeaders: string;
  readonly allowCredentials: boolean;
};

export type AccessSettings = {
  readonly maxLoginAttempts: number;
  readonly blockSeconds: number;
  /** 0 = no rate limit at all, also not for /events. */
  readonly maxRequestsPerMinute: number;
};

/** Keys of api.yaml that are looked at only once, by what they become. */
const LOOKED_AT_ONCE = {
  hosts: 'host',
  port: 'port',
  https: 'https',
  authenticationPoolSize: 'authentication_pool_size',
  logs: 'logs',
} as const satisfies Partial<Record<keyof ApiSettings, string>>;

type LookedAtOnce = keyof typeof LOOKED_AT_ONCE;

/** Keys of api.yaml that are others now, and need a restart. */
export function restartNeeded(started: ApiSettings, next: ApiSettings): readonly string[] {
  return (Object.keys(LOOKED_AT_ONCE) as LookedAtOnce[])
    .filter((key) => JSON.stringify(started[key]) !== JSON.stringify(next[key]))
    .map((key) => LOOKED_AT_ONCE[key]);
}

/** Settings of a reload, without what needs a restart. */
export function withoutRestart(started: ApiSettings, next: ApiSettings): ApiSettings {
  const { hosts, port, https, authenticationPoolSize, logs } = started;
  return { ...next, hosts, port, https, authenticationPoolSize, logs };
}
