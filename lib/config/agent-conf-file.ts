import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';
import { cannotOpen, decodeConfiguration, MAX_CONFIGURATION_BYTES, tooLarge } from './configuration-file.js';

/** Largest agent.conf of a group, bytes: it is parsed whole before it is distributed, and agents parse it too. */
export const MAX_AGENT_CONF_BYTES = 4 * 1024 * 1024;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

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
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw cannotOpen(name, error);
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) {
      throw new ConfigError(undefined, `'${name}' is not a regular file.`, { file: name, line: 0 });
    }
    if (isOfGroup && stats.size > MAX_AGENT_CONF_BYTES) throw notDistributed(name, stats.size);
    if (stats.size > MAX_CONFIGURATION_BYTES) throw tooLarge(name, stats.size, MAX_CONFIGURATION_BYTES);
    return decodeConfiguration(readFileSync(fd)).text;
  } catch (error) {
    throw error instanceof ConfigError ? error : cannotOpen(name, error);
  } finally {
    closeSync(fd);
  }
}

function notDistributed(name: string, size: number): ConfigError {
  const limit = String(MAX_AGENT_CONF_BYTES);
  const text = `'${name}' has ${String(size)} bytes, ${limit} are allowed: it is not distributed to agents.`;
  return new ConfigError(undefined, text, { file: name, line: 0 });
}
