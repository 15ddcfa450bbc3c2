import { isDeepStrictEqual } from 'node:util';
import { SECURITY_CONFIG_SCHEMA, type SecurityConfig } from '../../lib/config/api-config.js';
import { loadSecurityConfig, SECURITY_YAML } from '../../lib/config/load-api-config.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { WatchedFile } from './watched-file.js';

/** `api/configuration/security/security.yaml` (rest-api.md 1.3). */
export type SecurityConfiguration = { readonly tokenLifetimeSeconds: number; readonly rbacMode: 'white' | 'black' };

/** New settings; what is undefined gets its default. */
export type SecurityChange = { readonly [K in keyof SecurityConfiguration]?: SecurityConfiguration[K] | undefined };

const MODE = 0o640;

/** The file could not be written; the settings stay. */
export class SettingsNotWrittenError extends Error {
  override readonly name = 'SettingsNotWrittenError';
}

/** What counts where nothing is said. */
export const DEFAULT_SECURITY_SETTINGS: SecurityConfiguration = inForce(SECURITY_CONFIG_SCHEMA.parse({}));

/** The security settings in force: looked at on every login and request, read again when the file changed. */
export class SecuritySettings {
  readonly #home: Home;
  readonly #file: WatchedFile;
  readonly #logger: Pick<Logger, 'error'>;
  #current: SecurityConfiguration;
  #changed: () => void = () => {};
  #held: SecurityConfiguration | undefined;

  /** @throws ApiConfigError when the file is not valid at the start */
  constructor(home: Home, logger: Pick<Logger, 'error'>) {
    this.#home = home;
    this.#file = new WatchedFile(home.path(SECURITY_YAML));
    this.#logger = logger;
    this.#file.read();
    this.#current = this.#load();
  }

  /** Settings of the file, defaults where it is silent or absent; a file that is not valid leaves the last ones. */
  current(): SecurityConfiguration {
    if (this.#held !== undefined) return this.#held;
    try {
      if (this.#file.read().changed) this.#current = this.#load();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error(`4021 - Error reading security configuration: ${reason}`);
    }
    return this.#current;
  }

  /**
   * Writes the file anew: what is left out has its default again (rest-api.md 8.2).
   * @throws SettingsNotWrittenError with the file system's words
   */
  replace({ tokenLifetimeSeconds, rbacMode }: SecurityChange): void {
    const lines = [
      ...(tokenLifetimeSeconds === undefined ? [] : [`auth_token_exp_timeout: ${tokenLifetimeSeconds}`]),
      ...(rbacMode === undefined ? [] : [`rbac_mode: ${rbacMode}`]),
    ];
    try {
      writeFileAtomically(this.#file.path, lines.map((line) => `${line}\n`).join(''), { mode: MODE, durable: true });
    } catch (error) {
      throw new SettingsNotWrittenError(describeError(error), { cause: error });
    }
    this.#file.written();
    this.#changed();
  }

  /**
   * Has settings that do not come from the file, and go on whatever becomes of it; it is made to say the same.
   * @throws SettingsNotWrittenError; they are in force
   */
  hold(settings: SecurityConfiguration): void {
    this.#held = settings;
    if (!this.#says(settings)) this.replace(settings);
  }

  /** @param changed called after each {@link replace} */
  watch(changed: () => void): void {
    this.#changed = changed;
  }

  /** Whether the file does. */
  #says(settings: SecurityConfiguration): boolean {
    try {
      return isDeepStrictEqual(this.#load(), settings);
    } catch {
      return false;
    }
  }

  #load(): SecurityConfiguration {
    return inForce(loadSecurityConfig(this.#home));
  }
}

function inForce({ auth_token_exp_timeout, rbac_mode }: SecurityConfig): SecurityConfiguration {
  return { tokenLifetimeSeconds: auth_token_exp_timeout, rbacMode: rbac_mode };
}
