import { logtestCommand } from './logtest/logtest-command.js';

// Each way of working knows what to do when its reader goes away; here it only must not be an exception.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await logtestCommand(process.argv.slice(2), process.env);
