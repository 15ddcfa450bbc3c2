import { scaCommand } from './sca/sca-command.js';
import { runCommand } from './terminal/run-command.js';
import { textStyle } from './terminal/text-style.js';

const controller = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    controller.abort(new Error('called off'));
  });
}

runCommand(() =>
  scaCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
    style: textStyle(process.stdout.isTTY, process.env),
    signal: controller.signal,
  }),
);
