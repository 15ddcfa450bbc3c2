import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import type { ActiveResponseConfig } from '../../lib/config/sections/active-response.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';

const PATH = ['etc', 'shared', 'ar.conf'] as const;
const FILE_MODE = 0o640;
const FOLDER_MODE = 0o770;

/** Restarts that the manager asks agents for, whatever responses there are (daemons-and-config.md 5.1). */
const RESTARTS = [
  'restart-ossec0 - restart-ossec.sh - 0',
  'restart-ossec0 - restart-ossec.cmd - 0',
  'restart-wazuh0 - restart-ossec.sh - 0',
  'restart-wazuh0 - restart-ossec.cmd - 0',
  'restart-wazuh0 - restart-wazuh - 0',
  'restart-wazuh0 - restart-wazuh.exe - 0',
];

/** What agents must know of a response. */
export type SharedResponse = {
  readonly command: Pick<ActiveResponseConfig['command'], 'name' | 'executable'>;
  readonly timeout: number;
};

/**
 * Text of ar.conf: `<command name><timeout> - <executable> - <timeout>` for each response, in the order of the
 * configuration (daemons-and-config.md 5.1).
 */
export function arConfText(responses: readonly SharedResponse[]): string {
  const lines = responses.map(({ command: { name, executable }, timeout }) => {
    // A name that is written on two lines must not make a command of its own.
    const line = `${name}${String(timeout)} - ${executable} - ${String(timeout)}`;
    return line.replace(/[\r\n]+/g, ' ');
  });
  return [...RESTARTS, ...lines].map((line) => `${line}\n`).join('');
}

/** Tells agents of the responses through etc/shared/ar.conf, when it says something else. A failure is logged. */
export function writeArConf(home: Home, responses: readonly SharedResponse[], logger: Logger): void {
  const path = home.path(...PATH);
  const text = arConfText(responses);
  try {
    if (isThere(path, text)) return;
    mkdirSync(home.path('etc', 'shared'), { recursive: true, mode: FOLDER_MODE });
    writeFileAtomically(path, text, { mode: FILE_MODE, durable: true });
  } catch (error) {
    logger.error(`Agents are not told of the active responses, '${PATH.join('/')}': ${describeError(error)}`);
  }
}

function isThere(path: string, text: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size !== Buffer.byteLength(text)) return false;
  return (stats.mode & 0o777) === FILE_MODE && readFileSync(path, 'utf8') === text;
}
