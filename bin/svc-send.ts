import { sendCommand } from './send/send-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(
  () =>
    sendCommand(process.argv.slice(2), {
      input: process.stdin,
      writeError: (text) => process.stderr.write(text),
    }),
  { exits: true },
);
