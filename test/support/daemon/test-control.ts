import { runControl } from '../../../bin/control/control-command.js';
import { runCommand } from '../../../bin/terminal/run-command.js';
import { testCatalogue } from './test-catalogue.js';

/** `svc-control` over the daemon of test-daemon.ts: `test-control.js NAME[,NAME...] [arguments of svc-control]`. */
runCommand(
  () =>
    runControl(process.argv.slice(3), {
      catalogue: testCatalogue((process.argv[2] ?? '').split(',')),
      write: (text) => process.stdout.write(text),
      writeError: (text) => process.stderr.write(text),
      terminal: false,
    }),
  { exits: true },
);
