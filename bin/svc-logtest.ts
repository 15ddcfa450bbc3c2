import { logtestCommand } from './logtest/logtest-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() => logtestCommand(process.argv.slice(2), process.env));
