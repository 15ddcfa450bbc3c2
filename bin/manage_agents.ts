import { manageAgentsCommand } from './agent-tools/manage-agents-command.js';

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await manageAgentsCommand(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
