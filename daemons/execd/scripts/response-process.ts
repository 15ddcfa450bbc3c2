import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { respond } from './respond.js';
import { appendResponseLog } from './response-log.js';
import { Tools } from './tools.js';

/** More is no message (lib/bus/contracts/execd.ts). */
const MAX_INPUT_BYTES = 4 * 65_536;

/**
 * The program behind our responses. Their files in active-response/bin call it with their own path, and with directories for
 * the tools of the system where they are to be others (`--tools DIR`): who can write such a file is root already.
 */
async function main([called = '', flag, directory]: readonly string[]): Promise<number> {
  const root = resolve(dirname(called), '..', '..');
  const tools = new Tools(flag === '--tools' && directory !== undefined ? [directory] : undefined);
  const restart = async (): Promise<void> => {
    // Half of the time of a start, which the others need not.
    const { callSupervisor } = await import('../../../lib/control/control-client.js');
    await callSupervisor(new Home(root), { command: 'restart' });
  };
  return respond({
    called,
    host: { tools, home: root, etc: '/etc', restart },
    readLine: lineReader(),
    write: (text) => process.stdout.write(text),
    log: (text) => {
      appendResponseLog(root, called, text);
    },
  });
}

/** Lines of the input; what is longer than a message ends it. */
function lineReader(): () => Promise<string | undefined> {
  let bytes = 0;
  process.stdin.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) process.stdin.destroy();
  });
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await lines.next();
    return done === true ? undefined : value;
  };
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(`${describeError(error)}\n`);
    process.exit(1);
  },
);
