import { fileURLToPath } from 'node:url';
import { runControl } from '../../lib/control/control-command.js';
import type { DaemonCatalogue } from '../../lib/control/daemon-catalogue.js';

/** `svc-control` over the daemon of test-daemon.ts: `SVC_TEST_DAEMONS` lists the names that exist. */
const names = (process.env['SVC_TEST_DAEMONS'] ?? '').split(',');
const program = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const catalogue: DaemonCatalogue = {
  program: (daemon) =>
    names.includes(daemon) ? { command: process.execPath, args: [program('test-daemon.js'), daemon] } : undefined,
  control: { command: process.execPath, args: [program('test-control.js')] },
};
process.stderr.on('error', () => {});
const exitCode = await runControl(process.argv.slice(2), {
  catalogue,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  terminal: false,
});
process.stdout.write('', () => process.exit(exitCode));
