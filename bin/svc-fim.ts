import { once } from 'node:events';
import { fimCommand } from './fim/fim-command.js';
import { runCommand } from './terminal/run-command.js';

const controller = new AbortController();
const callOff = (): void => {
  controller.abort(new Error('called off'));
};
process.on('SIGINT', callOff);
process.on('SIGTERM', callOff);
// Who reads no more wants no more.
process.stdout.on('error', callOff);

const { stdout, stderr } = process;
runCommand(() =>
  fimCommand(process.argv.slice(2), {
    write: async (text) => {
      if (!stdout.write(text)) await once(stdout, 'drain', { signal: controller.signal });
    },
    writeError: (text) => stderr.write(text),
    terminal: stderr.isTTY ? { write: (text) => stderr.write(text), columns: stderr.columns } : undefined,
    signal: controller.signal,
  }),
);
