import { manageAgentsCommand } from './agent-tools/manage-agents-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  manageAgentsCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
  }),
);
