import { verifyAgentConfCommand } from './agent-tools/verify-agent-conf-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  verifyAgentConfCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
  }),
);
