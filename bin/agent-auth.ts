import { agentAuthCommand } from './agent-tools/agent-auth-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  agentAuthCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
  }),
);
