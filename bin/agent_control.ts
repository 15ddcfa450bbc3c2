import { agentControlCommand } from './agent-tools/agent-control-command.js';

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await agentControlCommand(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
