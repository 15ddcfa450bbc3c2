import { productCatalogue } from '../lib/control/daemon-catalogue.js';
import { runControl } from './control/control-command.js';

// A reader that went away (`svc-control status | head -1`) is no error.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const exitCode = await runControl(process.argv.slice(2), {
  catalogue: productCatalogue(),
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  terminal: process.stdout.isTTY,
});
// Sockets or timers that are left must not keep a finished command alive, and what was written goes out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
