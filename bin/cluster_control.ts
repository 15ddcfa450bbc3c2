import { clusterControlCommand } from './cluster/cluster-control-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(() =>
  clusterControlCommand(process.argv.slice(2), {
    write: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
  }),
);
