import { readFileSync, type Stats } from 'node:fs';
import { isErrno } from '../files/is-errno.js';
import { NotRegularFileError, withRegularFileSync } from '../files/regular-file.js';
import { ConfigError } from './config-error.js';
import { cannotOpen, decodeConfiguration, MAX_CONFIGURATION_BYTES, tooLarge } from './configuration-file.js';

/** Largest agent.conf of a group, bytes: it is parsed whole before it is distributed, and agents parse it too. */
export const MAX_AGENT_CONF_BYTES = 4 * 1024 * 1024;

/**
 * Text of an agent.conf. The folder belongs to the service user while the reader may be root, so nothing but a regular
 * file is read: no pipe holds the reader up, and no link leads it to a file of somebody else.
 *
 * @param name in the messages
 * @param options `follow` for a path that the user gave, which may be a link; `isOfGroup` for a file that is to be
 * distributed: an agent gets those of several groups as one, and reads a larger one
 * @returns undefined when there is no such file
 * @throws ConfigError when it cannot be read
 */
export function readAgentConfFile(
  path: string,
  name: string,
  { follow, isOfGroup = false }: { readonly follow: boolean; readonly isOfGroup?: boolean },
): string | undefined {
  const read = (fd: number, { size }: Stats): string => {
    if (isOfGroup && size > MAX_AGENT_CONF_BYTES) throw notDistributed(name, size);
    if (size > MAX_CONFIGURATION_BYTES) throw tooLarge(name, size, MAX_CONFIGURATION_BYTES);
    return decodeConfiguration(readFileSync(fd)).text;
  };
  try {
    return withRegularFileSync(path, read, { follow });
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (error instanceof NotRegularFileError && !error.isLink) {
      throw new ConfigError(undefined, `'${name}' is not a regular file.`, { file: name, line: 0 });
    }
    throw error instanceof ConfigError ? error : cannotOpen(name, error);
  }
}

function notDistributed(name: string, size: number): ConfigError {
  const limit = String(MAX_AGENT_CONF_BYTES);
  const text = `'${name}' has ${String(size)} bytes, ${limit} are allowed: it is not distributed to agents.`;
  return new ConfigError(undefined, text, { file: name, line: 0 });
}
