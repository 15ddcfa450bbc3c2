import { agentUpgradeCommand } from './agent-tools/agent-upgrade-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  agentUpgradeCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
  }),
);
