import { load, JSON_SCHEMA } from 'js-yaml';
import { z } from 'zod';
import type { Logger } from '../../lib/daemon/logger.js';
import { WatchedFile } from './watched-file.js';

/** `api/configuration/security/security.yaml` (rest-api.md 1.3). */
export type SecurityConfiguration = { readonly tokenLifetimeSeconds: number; readonly rbacMode: 'white' | 'black' };

const DEFAULTS: SecurityConfiguration = { tokenLifetimeSeconds: 900, rbacMode: 'white' };

const SCHEMA = z.strictObject({
  auth_token_exp_timeout: z.int().min(30).default(DEFAULTS.tokenLifetimeSeconds),
  rbac_mode: z.enum(['white', 'black']).default(DEFAULTS.rbacMode),
});

/** The security settings in force: looked at on every login and request, read again when the file changed. */
export class SecuritySettings {
  readonly #file: WatchedFile;
  readonly #logger: Pick<Logger, 'error'>;
  #current = DEFAULTS;

  constructor(path: string, logger: Pick<Logger, 'error'>) {
    this.#file = new WatchedFile(path);
    this.#logger = logger;
  }

  /** Settings of the file, defaults where it is silent or absent; a file that is not valid leaves the last ones. */
  current(): SecurityConfiguration {
    try {
      const { text, changed } = this.#file.read();
      if (changed) this.#current = text === undefined ? DEFAULTS : parseSecuritySettings(text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.error(`4021 - Error reading security configuration: ${this.#file.path}: ${reason}`);
    }
    return this.#current;
  }
}

/** @throws Error that names the field */
export function parseSecuritySettings(text: string): SecurityConfiguration {
  const parsed = SCHEMA.safeParse(load(text, { schema: JSON_SCHEMA }) ?? {});
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error).replace(/\s+/g, ' '));
  return { tokenLifetimeSeconds: parsed.data.auth_token_exp_timeout, rbacMode: parsed.data.rbac_mode };
}
