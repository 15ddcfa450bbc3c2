import { agentAuthCommand } from './agent-tools/agent-auth-command.js';

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await agentAuthCommand(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
