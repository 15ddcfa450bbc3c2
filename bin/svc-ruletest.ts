import { ruletestCommand } from './ruletest/ruletest-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() => ruletestCommand(process.argv.slice(2), process.env));
