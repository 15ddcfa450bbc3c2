import { sendCommand } from './send/send-command.js';

process.stderr.on('error', () => {});

const exitCode = await sendCommand(process.argv.slice(2), {
  input: process.stdin,
  writeError: (text) => process.stderr.write(text),
});
process.exit(exitCode);
