import { logtestCommand } from '../lib/logtest/logtest-command.js';

process.exitCode = await logtestCommand(process.argv, process.env);
