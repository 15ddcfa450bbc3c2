import { fileURLToPath } from 'node:url';
import { runControl } from '../../lib/control/control-command.js';
import { productCatalogue } from '../../lib/control/daemon-catalogue.js';

/** `svc-control` over some of the real daemons: `product-control.js NAME[,NAME...] [arguments of svc-control]`. */
const [names = '', ...args] = process.argv.slice(2);
const chosen = names.split(',');
const product = productCatalogue();
process.stderr.on('error', () => {});
const exitCode = await runControl(args, {
  catalogue: {
    program: (daemon) => (chosen.includes(daemon) ? product.program(daemon) : undefined),
    control: { command: process.execPath, args: [fileURLToPath(import.meta.url), names] },
  },
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  terminal: false,
});
process.stdout.write('', () => process.exit(exitCode));
