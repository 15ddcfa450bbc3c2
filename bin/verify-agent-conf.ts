import { verifyAgentConfCommand } from './agent-tools/verify-agent-conf-command.js';

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await verifyAgentConfCommand(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
