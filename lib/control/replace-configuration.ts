import { lstatSync, renameSync, rmSync } from 'node:fs';
import { ConfigError } from '../config/config-error.js';
import {
  MANAGER_CONF,
  MAX_CONFIGURATION_BYTES,
  OSSEC_CONF,
  readConfigurationFile,
} from '../config/configuration-file.js';
import { ApiConfigError, loadApiConfig } from '../config/load-api-config.js';
import { parseManagerConfig } from '../config/load-manager-config.js';
import { readConfigurationXml } from '../config/read-configuration-xml.js';
import { refuseUpload } from '../config/upload-guard.js';
import { isErrno } from '../files/is-errno.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';
import type { Home } from '../home/home.js';
import { readTrustedFile } from '../home/trusted-file.js';
import { describeError } from '../log/describe-error.js';
import type { Logger } from '../log/logger.js';

/** Why a configuration was not taken; `code` is that of the API (daemons-and-config.md 1.5). */
export class ConfigurationRefusedError extends Error {
  override readonly name = 'ConfigurationRefusedError';
  readonly code: number;

  /** @param detail what is wrong, one line; empty when the code says it all */
  constructor(code: number, detail = '') {
    super(detail);
    this.code = code;
  }
}

/** What the one who replaces the configuration needs. */
export type ReplaceParts = {
  readonly home: Home;
  /** Group of a file that is made, where this process is root for a service user. */
  readonly gid: number | undefined;
  /** Checks what stands in the home with all daemons. @returns what is wrong, one text each */
  readonly check: () => Promise<readonly string[]>;
  readonly logger: Logger;
};

/** Of the configuration while another one is tried: what is left of it at a start is put back. */
const KEPT = '.before-upload';
const NEW_FILE_MODE = 0o640;

/**
 * Puts another main configuration in the place of the one in force, for `PUT /manager/configuration`. The order comes from
 * the service user, so nothing of it is taken on trust: it is read, held against root's own api.yaml, written, checked by
 * all daemons, and taken back when one of them refuses it.
 * @throws ConfigurationRefusedError; the old configuration is then in force
 */
export async function replaceConfiguration(parts: ReplaceParts, text: string): Promise<void> {
  try {
    await replace(parts, text);
  } catch (error) {
    if (error instanceof ConfigurationRefusedError) {
      const { code, message } = error;
      parts.logger.warn(`A main configuration sent over the API was not taken: ${String(code)} ${message}`);
    }
    throw error;
  }
}

async function replace(parts: ReplaceParts, text: string): Promise<void> {
  const { home, logger } = parts;
  const current = currentConfiguration(home);
  checkText(home, text, current);
  await tryConfiguration(parts, current, text);
  logger.info(`'${current.name}' was replaced over the API; it takes effect at a restart.`);
}

/**
 * Changes the main configuration for its owner, who typed a command: all daemons check the outcome, and it is taken back when one
 * of them refuses it.
 * @param edit gives another text; both are byte strings, so that what is not changed stays as it is byte for byte
 * @returns the file, relative to the home
 * @throws ConfigurationRefusedError; the old configuration is then in force. What `edit` throws
 */
export async function changeConfiguration(
  parts: Omit<ReplaceParts, 'logger'>,
  edit: (text: string, file: string) => string,
): Promise<string> {
  const current = currentConfiguration(parts.home);
  const text = edit(current.bytes?.toString('latin1') ?? '', current.name);
  await tryConfiguration(parts, current, Buffer.from(text, 'latin1'));
  return current.name;
}

/** Puts a configuration in place and has it checked. */
async function tryConfiguration(
  parts: Omit<ReplaceParts, 'logger'>,
  current: Current,
  content: string | Buffer,
): Promise<void> {
  const { home } = parts;
  const path = home.path(current.name);
  const kept = path + KEPT;
  const attributes = fileAttributes(path, parts.gid);
  if (current.bytes !== undefined) {
    attempt(1019, () => writeFileAtomically(kept, current.bytes ?? '', { ...attributes, durable: true }));
  }
  const restore = () => {
    if (current.bytes === undefined) rmSync(path, { force: true });
    else renameSync(kept, path);
  };
  try {
    attempt(1126, () => writeFileAtomically(path, content, { ...attributes, durable: true }));
    const problems = await parts.check();
    if (problems.length > 0) throw new ConfigurationRefusedError(1908, problems.join(', '));
  } catch (error) {
    restore();
    throw error;
  }
  rmSync(kept, { force: true });
}

/** Puts back what a supervisor that was killed in the middle had taken away for a try. */
export function recoverConfiguration(home: Home, logger: Logger): void {
  for (const name of [MANAGER_CONF, OSSEC_CONF]) {
    try {
      // Only what root has written: the directory is open to the service user.
      readTrustedFile(home, name + KEPT, MAX_CONFIGURATION_BYTES);
      renameSync(home.path(name + KEPT), home.path(name));
      logger.warn(`An update of '${name}' over the API was broken off; the configuration before it is in force again.`);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) continue;
      logger.warn(`'${name}${KEPT}' is not put back: ${describeError(error)}`);
    }
  }
}

type Current = { readonly name: string; readonly bytes: Buffer | undefined; readonly text: string | undefined };

/** What is in force; one that root may not read is not replaced either. */
function currentConfiguration(home: Home): Current {
  const exists = [MANAGER_CONF, OSSEC_CONF].some(
    (name) => lstatSync(home.path(name), { throwIfNoEntry: false }) !== undefined,
  );
  if (!exists) return { name: MANAGER_CONF, bytes: undefined, text: undefined };
  try {
    const { name, text } = readConfigurationFile(home);
    return { name, bytes: readTrustedFile(home, name, MAX_CONFIGURATION_BYTES), text };
  } catch (error) {
    throw new ConfigurationRefusedError(1126, describeError(error));
  }
}

/** @throws ConfigurationRefusedError */
function checkText(home: Home, text: string, { name, text: current }: Current): void {
  if (text.trim() === '') throw new ConfigurationRefusedError(1125, 'it is empty');
  if (Buffer.byteLength(text) > MAX_CONFIGURATION_BYTES) {
    throw new ConfigurationRefusedError(1125, `it has more than ${String(MAX_CONFIGURATION_BYTES)} bytes`);
  }
  configError(1113, () => readConfigurationXml(text, name));
  configError(1908, () => parseManagerConfig(text, name));
  const limits = uploadLimits(home);
  const refusal = refuseUpload(text, isReadable(current, name) ? current : undefined, name, limits);
  if (refusal !== undefined) throw new ConfigurationRefusedError(refusal.code, refusal.text);
}

function uploadLimits(home: Home): ReturnType<typeof loadApiConfig>['config']['upload_configuration'] {
  try {
    return loadApiConfig(home).config.upload_configuration;
  } catch (error) {
    if (!(error instanceof ApiConfigError)) throw error;
    throw new ConfigurationRefusedError(1126, error.message);
  }
}

function isReadable(text: string | undefined, name: string): boolean {
  try {
    if (text !== undefined) parseManagerConfig(text, name);
    return true;
  } catch {
    return false;
  }
}

function configError(code: number, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { error: first, critical } = error.logLines();
    throw new ConfigurationRefusedError(code, `${first}, ${critical}`);
  }
}

function attempt(code: number, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new ConfigurationRefusedError(code, describeError(error));
  }
}

/** Mode and owner stay what they are. */
function fileAttributes(
  path: string,
  gid: number | undefined,
): { readonly mode: number; readonly owner?: { readonly uid: number; readonly gid: number } } {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const mode = stats === undefined ? NEW_FILE_MODE : stats.mode & 0o777;
  if (process.geteuid?.() !== 0) return { mode };
  return { mode, owner: stats ?? { uid: 0, gid: gid ?? 0 } };
}
