import { runControl } from '../../../bin/control/control-command.js';
import { runCommand } from '../../../bin/terminal/run-command.js';
import { productCatalogue, type Program } from '../../../lib/control/daemon-catalogue.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { testProgram } from './test-program.js';

/**
 * `svc-control` over some of the real daemons: `product-control.js NAME[,NAME...] [arguments of svc-control]`. A name followed
 * by `+SECONDS` is a daemon that starts so much later.
 */
const [names = '', ...args] = process.argv.slice(2);
const chosen = new Map(names.split(',').map((name) => [name.split('+')[0], Number(name.split('+')[1] ?? 0)]));
const product = productCatalogue();

function programOf(daemon: DaemonName): Program | undefined {
  const program = product.program(daemon);
  const seconds = chosen.get(daemon);
  if (program === undefined || seconds === undefined || seconds === 0) return seconds === 0 ? program : undefined;
  const script = `sleep ${seconds}; exec "$0" "$@"`;
  return { command: '/bin/sh', args: ['-c', script, program.command, ...program.args] };
}

runCommand(
  () =>
    runControl(args, {
      catalogue: {
        program: programOf,
        settingsModule: (daemon) => (chosen.has(daemon) ? product.settingsModule?.(daemon) : undefined),
        control: { command: process.execPath, args: [testProgram('product-control.js'), names] },
      },
      write: (text) => process.stdout.write(text),
      writeError: (text) => process.stderr.write(text),
      terminal: false,
    }),
  { exits: true },
);
