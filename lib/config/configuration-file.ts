import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { Home } from '../home/home.js';
import { FileTooLargeError, readTrustedFile, UntrustedFileError } from '../home/trusted-file.js';
import { ConfigError, type ConfigWarning } from './config-error.js';

/** The main configuration, relative to the home. */
export const MANAGER_CONF = 'etc/manager.conf';
/** Read where there is no manager.conf, so that an existing installation can be taken over (product.md 10). */
export const OSSEC_CONF = 'etc/ossec.conf';

/** Largest configuration read: as much as the API accepts (rest-api.md 1.3); a larger file is a mistake or an attack. */
export const MAX_CONFIGURATION_BYTES = 10_485_760;

/** The text of the main configuration. */
export type ConfigurationFile = {
  /** `etc/manager.conf` or `etc/ossec.conf`. */
  readonly name: string;
  readonly text: string;
  readonly warnings: readonly ConfigWarning[];
};

/**
 * Reads the main configuration of a home.
 * @throws ConfigError (1103) when it cannot be opened, or when it is too large
 */
export function readConfigurationFile(home: Home): ConfigurationFile {
  const hasManagerConf = exists(home.path(MANAGER_CONF));
  const hasOssecConf = exists(home.path(OSSEC_CONF));
  const name = hasOssecConf && !hasManagerConf ? OSSEC_CONF : MANAGER_CONF;
  const warnings: ConfigWarning[] = [];
  if (hasManagerConf && hasOssecConf) {
    const text = `Both '${MANAGER_CONF}' and '${OSSEC_CONF}' exist; '${OSSEC_CONF}' is ignored.`;
    warnings.push({ file: MANAGER_CONF, line: 0, section: '', text });
  }
  const bytes = readSettings(home, name, MAX_CONFIGURATION_BYTES);
  const { text, valid } = decodeConfiguration(bytes);
  if (!valid) {
    const warning = 'The file is not valid UTF-8; it is read as Latin-1.';
    warnings.push({ file: name, line: 0, section: '', text: warning });
  }
  return { name, text, warnings };
}

/**
 * Reads a file of settings that root obeys, see `readTrustedFile`.
 * @param name relative to the home
 * @throws ConfigError (1103), or without a number when it is too large or not root's
 */
export function readSettings(home: Home, name: string, maxBytes: number): Buffer {
  try {
    return readTrustedFile(home, name, maxBytes);
  } catch (error) {
    if (error instanceof FileTooLargeError) throw tooLarge(name, error.size, maxBytes);
    if (error instanceof UntrustedFileError) {
      throw new ConfigError(undefined, `${error.message}.`, { file: name, line: 0 });
    }
    throw cannotOpen(name, error);
  }
}

/**
 * Reads another file that belongs to the configuration.
 * @param name for errors, relative to the home
 * @throws ConfigError (1103)
 */
export function readLimited(path: string, name: string, maxBytes: number): Buffer {
  try {
    // Another user may have put a pipe there: it is not waited for.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(fd);
      if (size > maxBytes) throw tooLarge(name, size, maxBytes);
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof ConfigError) {
      throw error;
    }
    throw cannotOpen(name, error);
  }
}

/** For a file of more bytes than are read. */
export function tooLarge(name: string, size: number, maxBytes: number): ConfigError {
  const text = `Could not read file '${name}': it has ${String(size)} bytes, at most ${String(maxBytes)} are allowed.`;
  return new ConfigError(undefined, text, { file: name, line: 0 });
}

/** (1103) for an error of the file system. */
export function cannotOpen(name: string, error: unknown): ConfigError {
  const { errno, message } = error as NodeJS.ErrnoException;
  const reason = message.replace(/^[A-Z]+: /, '').replace(/, \w+( '.*')?$/, '');
  const text = `Could not open file '${name}' due to [(${String(Math.abs(errno ?? 0))})-(${reason})].`;
  return new ConfigError(1103, text, { file: name, line: 0 });
}

/** UTF-8, or Latin-1 where it is not `valid`. */
export function decodeConfiguration(bytes: Buffer): { readonly text: string; readonly valid: boolean } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), valid: true };
  } catch {
    return { text: bytes.toString('latin1'), valid: false };
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
