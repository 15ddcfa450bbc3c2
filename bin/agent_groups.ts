import { agentGroupsCommand } from './agent-tools/agent-groups-command.js';

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await agentGroupsCommand(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  input: process.stdin,
});
