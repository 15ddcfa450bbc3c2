import { agentGroupsCommand } from './agent-tools/agent-groups-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  agentGroupsCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
    input: process.stdin,
  }),
);
