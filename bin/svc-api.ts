import { once } from 'node:events';
import { apiCommand } from './api/api-command.js';
import { runCommand } from './terminal/run-command.js';

const { stdin, stdout, stderr } = process;
const gone = new AbortController();
// Who reads no more wants no more.
stdout.on('error', () => {
  gone.abort();
});

runCommand(
  () =>
    apiCommand(process.argv.slice(2), {
      write: async (text) => {
        if (!gone.signal.aborted && !stdout.write(text)) {
          await once(stdout, 'drain', { signal: gone.signal }).catch(() => {});
        }
      },
      gone: gone.signal,
      writeError: (text) => stderr.write(text),
      columns: stdout.isTTY ? stdout.columns : undefined,
      errorsOnTerminal: stderr.isTTY,
      input: stdin,
      terminalInput: stdin.isTTY ? stdin : undefined,
      environment: process.env,
    }),
  { exits: true },
);
