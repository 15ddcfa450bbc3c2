import { join, resolve } from 'node:path';
import type { DaemonName } from '../product/daemon-names.js';

/** The one directory that holds everything mutable of an installation (architecture.md 4 "Home"). */
export class Home {
  readonly root: string;

  /** @param root directory; made absolute. It need not exist yet. */
  constructor(root: string) {
    this.root = resolve(root);
  }

  /** Path below the home. Segments come from the program, never from outside. */
  path(...segments: string[]): string {
    return join(this.root, ...segments);
  }

  /** Request socket of a daemon (architecture.md 4 "Requests"). */
  socket(daemon: DaemonName): string {
    return this.path('var', 'run', `${daemon}.sock`);
  }

  /** Socket of the event stream; bound by the sink of the home's role (architecture.md 4 "Events"). */
  eventsSocket(): string {
    return this.path('var', 'run', 'events.sock');
  }
}
