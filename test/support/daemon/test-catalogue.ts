import { fileURLToPath } from 'node:url';
import type { DaemonCatalogue } from '../../../lib/control/daemon-catalogue.js';

const program = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** A product whose daemons are all the one of test-daemon.ts. @param names those that exist */
export function testCatalogue(names: readonly string[]): DaemonCatalogue {
  return {
    program: (daemon) =>
      names.includes(daemon) ? { command: process.execPath, args: [program('test-daemon.js'), daemon] } : undefined,
    control: { command: process.execPath, args: [program('test-control.js'), names.join(',')] },
  };
}
