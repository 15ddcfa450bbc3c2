import { randomBytes } from 'node:crypto';
import { readFileSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import type { AuthConfig } from '../../lib/config/sections/remote.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import { isErrno } from '../../lib/files/is-errno.js';
import { withRegularFileSync } from '../../lib/files/regular-file.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { tlsVersions } from '../../lib/tls/tls-versions.js';
import { type AuthdOverrides, overridesOf } from './authd-flags.js';
import type { EnrollmentRates } from './enrollment-limits.js';

const SECTIONS = ['auth', 'cluster'] as const;
/** First line of the password file that is looked at (agents-and-groups.md 2.2). */
const MAX_PASSWORD_BYTES = 4095;
/** Bytes of randomness in a password made here: 32 hex digits. */
const PASSWORD_BYTES = 16;

/** What helps when a file of this daemon cannot be read, by the system's code. */
const READ_HINTS: Readonly<Record<string, string>> = {
  // A home of an older version has none yet.
  ENOENT: ": 'svc-control init' makes the default one",
  EACCES: ': svc-authd runs as the service user, whose group must be able to read it (chgrp, chmod 640)',
};

/** A password or certificate that cannot be used; the message names the file. */
class AuthdSettingsError extends Error {
  override readonly name = 'AuthdSettingsError';
}

/** Configuration of svc-authd, as one thing that is replaced whole by a reload. */
export type AuthdSettings = {
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  readonly options: InternalOptions<'authd'>;
  readonly auth: AuthConfig;
  readonly password: EnrollmentPassword;
  /** Certificate, key, protocol versions and ciphers; undefined when the port is closed. */
  readonly tls: SecureContextOptions | undefined;
};

/** The password of a request, one character a byte, and where it came from. */
export type EnrollmentPassword =
  | { readonly kind: 'none' }
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'random'; readonly text: string };

/** How svc-authd reads its configuration. */
export const SETTINGS: DaemonSettings<AuthdSettings> = {
  load: ({ home, ownFlags }, current) => {
    const random = current?.password.kind === 'random' ? current.password.text : undefined;
    return loadAuthdSettings(home, overridesOf(ownFlags), random);
  },
  logWarnings,
  restartNeeded: (next, { started }) => [
    ...(bound(started) === bound(next) ? [] : ['auth']),
    ...(nodeOf(started) === nodeOf(next) ? [] : ['cluster']),
  ],
};

/** The name of this node, where it is one of a cluster. */
export function nodeOf({ config: { cluster } }: Pick<AuthdSettings, 'config'>): string | undefined {
  return cluster?.disabled === false ? cluster.node_name : undefined;
}

/** What the open port depends on. */
function bound({ auth }: AuthdSettings): string {
  const { port, ipv6, local_ip, remote_enrollment, ssl_agent_ca, ssl_verify_host } = auth;
  return [port, ipv6, local_ip, remote_enrollment, ssl_agent_ca === undefined, ssl_verify_host].join();
}

/**
 * Loads the section `auth`, the password and the certificates.
 * @param random password of this process, when one was made already
 * @throws ConfigError with file and line; AuthdSettingsError for the password and the certificates
 */
function loadAuthdSettings(home: Home, overrides: AuthdOverrides = {}, random?: string): AuthdSettings {
  const config = loadManagerConfig(home, SECTIONS);
  if (config.auth === undefined) {
    throw new AuthdSettingsError(`Section 'auth' is missing in '${config.file}': enrolment is off.`);
  }
  const auth = withOverrides(config.auth, overrides);
  return {
    config,
    options: loadInternalOptions(home, ['authd']),
    auth,
    password: auth.use_password ? readPassword(home, random) : { kind: 'none' },
    tls: auth.remote_enrollment ? tlsOptions(home, auth) : undefined,
  };
}

/** What one address may do. */
export function ratesOf({ options }: AuthdSettings): EnrollmentRates {
  return {
    perMinute: options.get('authd.enrollments_per_minute'),
    perDay: options.get('authd.enrollments_per_day'),
  };
}

/** Logs what of the configuration has no effect. */
function logWarnings({ config, options, auth }: AuthdSettings, logger: Logger): void {
  for (const warning of [...ownWarnings(config.warnings, 'svc-authd'), ...options.warnings]) {
    logger.warn(describeWarning(warning));
  }
  if (auth.ssl_verify_host && auth.ssl_agent_ca === undefined) {
    logger.warn("Element 'ssl_verify_host' has no effect without 'ssl_agent_ca'.");
  }
}

function withOverrides(auth: AuthConfig, overrides: AuthdOverrides): AuthConfig {
  return {
    ...auth,
    port: overrides.port ?? auth.port,
    use_password: overrides.usePassword ?? auth.use_password,
    use_source_ip: overrides.useSourceIp ?? auth.use_source_ip,
    ssl_auto_negotiate: overrides.autoNegotiate ?? auth.ssl_auto_negotiate,
    force: { ...auth.force, enabled: overrides.force ?? auth.force.enabled },
  };
}

/** The first line of etc/authd.pass, or a random password where there is no such file (agents-and-groups.md 2.2). */
function readPassword(home: Home, random: string | undefined): EnrollmentPassword {
  const path = home.path('etc', 'authd.pass');
  let bytes: Buffer;
  try {
    bytes = readStart(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      return { kind: 'random', text: random ?? randomBytes(PASSWORD_BYTES).toString('hex') };
    }
    const hint = READ_HINTS[(error as NodeJS.ErrnoException).code ?? ''] ?? '';
    throw new AuthdSettingsError(`Unable to read 'etc/authd.pass': ${describeError(error)}${hint}`, { cause: error });
  }
  const line = bytes.toString('latin1');
  const end = line.indexOf('\n');
  const text = end < 0 ? line : line.slice(0, end);
  // One character and its newline leaves the reference without any check: such a password is none.
  if (text.length + 1 <= 2) throw new AuthdSettingsError('Empty password provided.');
  return { kind: 'file', text };
}

function readStart(path: string): Buffer {
  const read = (file: number) => {
    const buffer = Buffer.alloc(MAX_PASSWORD_BYTES);
    return buffer.subarray(0, readSync(file, buffer, 0, MAX_PASSWORD_BYTES, 0));
  };
  return withRegularFileSync(path, read, { follow: true });
}

/** @throws AuthdSettingsError naming the file that cannot be used */
function tlsOptions(home: Home, auth: AuthConfig): SecureContextOptions {
  const read = (element: string, file: string) => {
    try {
      return readFileSync(isAbsolute(file) ? file : home.path(file));
    } catch (error) {
      const hint = READ_HINTS[(error as NodeJS.ErrnoException).code ?? ''] ?? '';
      throw new AuthdSettingsError(`Unable to read '${file}' (${element}): ${describeError(error)}${hint}`, {
        cause: error,
      });
    }
  };
  const options: SecureContextOptions = {
    cert: read('ssl_manager_cert', auth.ssl_manager_cert),
    key: read('ssl_manager_key', auth.ssl_manager_key),
    ...tlsVersions(auth.ciphers, auth.ssl_auto_negotiate),
    honorCipherOrder: true,
    ...(auth.ssl_agent_ca === undefined ? {} : { ca: read('ssl_agent_ca', auth.ssl_agent_ca) }),
  };
  try {
    createSecureContext(options);
  } catch (error) {
    throw new AuthdSettingsError(
      `Unable to use '${auth.ssl_manager_cert}', '${auth.ssl_manager_key}' and the ciphers of 'auth': ${describeError(error)}`,
      { cause: error },
    );
  }
  return options;
}
