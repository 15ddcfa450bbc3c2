import { agentControlCommand } from './agent-tools/agent-control-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  agentControlCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
  }),
);
