import * as z from 'zod';

/** `yes` and `no` are text in YAML 1.2; true and false are booleans already. */
const YES_NO = z.union([z.boolean(), z.enum(['yes', 'no']).transform((word) => word === 'yes')], {
  error: 'must be yes or no',
});
const bool = (initial: boolean) => YES_NO.default(initial);

/** 68 years, as the API takes it: a token's end stays a number that can be counted with. */
const MAX_TOKEN_SECONDS = 2 ** 31 - 1;

const integer = (initial: number, min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.int().min(min).max(max).default(initial);

/** Bare file name below api/configuration/ssl: nothing that leads out of it. */
const fileName = (initial: string) =>
  z
    .string()
    .regex(/^[\w.-]+$/, 'must be a file name of letters, digits, _ - .')
    .refine((name) => name !== '.' && name !== '..', 'must be a file name')
    .default(initial);

const textOrList = z.union([z.string(), z.array(z.string())], { error: 'must be a text or a list of texts' });

/** A section that is left out, or has nothing below it, has its defaults. */
const section = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape);

const allow = section({ allow: bool(true) });
const allowExcept = section({ allow: bool(true), exceptions: z.array(z.string()).default([]) });

/** Every key of api.yaml (rest-api.md 1.3). */
export const API_CONFIG_SCHEMA = section({
  /** One address as a plain text is the form before 4.9. */
  host: z
    .preprocess((host) => (typeof host === 'string' ? [host] : host), z.array(z.string().min(1)).min(1))
    .default(['0.0.0.0', '::']),
  /** 0 lets the system choose. */
  port: integer(55_000, 0, 65_535),
  drop_privileges: bool(true),
  experimental_features: bool(false),
  /** The pages /docs and /openapi.json. */
  docs: section({ enabled: bool(true) }).prefault({}),
  /** The console in the browser, /console. */
  console: section({ enabled: bool(true) }).prefault({}),
  /** Bytes; 0 is no limit. */
  max_upload_size: integer(10_485_760, 0),
  authentication_pool_size: integer(2, 1, 50),
  intervals: section({
    /** Seconds. */
    request_timeout: z.number().min(0).default(10),
  }).prefault({}),
  https: section({
    enabled: bool(true),
    key: fileName('server.key'),
    cert: fileName('server.crt'),
    ca: fileName('ca.crt'),
    use_ca: bool(false),
    ssl_protocol: z.enum(['tls', 'tlsv1', 'tlsv1.1', 'tlsv1.2', 'auto']).default('auto'),
    /** Lower-cased like every text; OpenSSL wants it in upper case. */
    ssl_ciphers: z.string().default(''),
  }).prefault({}),
  logs: section({
    level: z.enum(['disabled', 'info', 'warning', 'error', 'debug', 'debug2']).default('info'),
    format: z.enum(['plain', 'json', 'plain,json', 'json,plain']).default('plain'),
    max_size: section({
      enabled: bool(false),
      /** See `sizeInBytes`. */
      size: z
        .string()
        .regex(/^\d{1,12}[km]$/, 'must be a number with K or M')
        .refine((size) => sizeInBytes(size) >= 1024 ** 2, 'must be at least 1M')
        .default('1m'),
    }).prefault({}),
    path: z.string().optional(),
  }).prefault({}),
  cors: section({
    enabled: bool(false),
    source_route: z.string().default('*'),
    expose_headers: textOrList.default('*'),
    allow_headers: textOrList.default('*'),
    allow_credentials: bool(false),
  }).prefault({}),
  access: section({
    max_login_attempts: integer(50, 1),
    /** Seconds. */
    block_time: integer(300, 1),
    /** 0 is no rate limit at all. */
    max_request_per_minute: integer(300, 0),
  }).prefault({}),
  upload_configuration: section({
    remote_commands: section({
      localfile: allowExcept.prefault({}),
      wodle_command: allowExcept.prefault({}),
    }).prefault({}),
    /** Our own: files whose content root would read out; exceptions are directories. */
    file_contents: allowExcept.prefault({}),
    limits: section({ eps: allow.prefault({}) }).prefault({}),
    agents: section({ allow_higher_versions: allow.prefault({}) }).prefault({}),
    indexer: allow.prefault({}),
    integrations: section({
      virustotal: section({
        public_key: section({ allow: bool(true), minimum_quota: integer(240, 0) }).prefault({}),
      }).prefault({}),
    }).prefault({}),
  }).prefault({}),
  /** Our own: what existing clients need beyond the contract (dashboard.md 4). */
  compatibility: section({
    daemon_names: z.enum(['svc', 'wazuh'], { error: 'must be svc or wazuh' }).default('svc'),
  }).prefault({}),
  // Of earlier versions: read and without effect.
  use_only_authd: YES_NO.optional(),
  cache: section({ enabled: YES_NO.optional(), time: z.number().min(0).optional() }).optional(),
});

/** The configuration of svc-apid with all defaults. */
export type ApiConfig = Readonly<
  Omit<z.output<typeof API_CONFIG_SCHEMA>, 'use_only_authd' | 'cache' | 'logs'> & {
    readonly logs: Omit<z.output<typeof API_CONFIG_SCHEMA>['logs'], 'path'>;
  }
>;

/** api/configuration/security/security.yaml, read at every login and request. */
export const SECURITY_CONFIG_SCHEMA = section({
  /** Seconds a token lives. */
  auth_token_exp_timeout: integer(900, 1, MAX_TOKEN_SECONDS),
  rbac_mode: z.enum(['white', 'black']).default('white'),
});

/** security.yaml with all defaults. */
export type SecurityConfig = Readonly<z.output<typeof SECURITY_CONFIG_SCHEMA>>;

/** Bytes of a size such as `5m` or `2048k`. */
export function sizeInBytes(size: string): number {
  return Number.parseInt(size, 10) * (/m$/i.test(size) ? 1024 ** 2 : 1024);
}
