import { agentUpgradeCommand } from './agent-tools/agent-upgrade-command.js';

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await agentUpgradeCommand(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
