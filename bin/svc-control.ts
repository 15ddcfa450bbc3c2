import { productCatalogue } from '../lib/control/daemon-catalogue.js';
import { runControl } from './control/control-command.js';
import { runCommand } from './terminal/run-command.js';

runCommand(
  () =>
    runControl(process.argv.slice(2), {
      catalogue: productCatalogue(),
      write: (text) => process.stdout.write(text),
      writeError: (text) => process.stderr.write(text),
      terminal: process.stdout.isTTY,
    }),
  { exits: true },
);
