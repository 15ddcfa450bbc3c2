import { reportCommand } from './report/report-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(
  () =>
    reportCommand(process.argv.slice(2), {
      input: process.stdin,
      write: (text) => process.stdout.write(text),
      writeError: (text) => process.stderr.write(text),
    }),
  { exits: true },
);
