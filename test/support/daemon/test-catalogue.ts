import type { DaemonCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { testProgram } from './test-program.js';

/** A product whose daemons are all the one of test-daemon.ts. @param names those that exist */
export function testCatalogue(names: readonly string[]): DaemonCatalogue {
  return {
    program: (daemon) =>
      names.includes(daemon) ? { command: process.execPath, args: [testProgram('test-daemon.js'), daemon] } : undefined,
    control: { command: process.execPath, args: [testProgram('test-control.js'), names.join(',')] },
  };
}
