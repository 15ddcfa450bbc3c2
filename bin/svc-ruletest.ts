import { ruletestCommand } from './ruletest/ruletest-command.js';

// A reader that goes away must not become an exception.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

process.exitCode = await ruletestCommand(process.argv.slice(2), process.env);
