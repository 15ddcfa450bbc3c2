import type { Home } from '../home/home.js';
import type { DaemonName } from '../product/daemon-names.js';

/** Names of the files a daemon keeps in `var/run` (daemons-and-config.md 3.3). */
export class RunFiles {
  readonly directory: string;
  readonly #home: Home;
  /** Whose files they are. */
  readonly daemon: DaemonName;

  constructor(home: Home, daemon: DaemonName) {
    this.#home = home;
    this.daemon = daemon;
    this.directory = home.path('var', 'run');
  }

  /** Held by the one running process of the daemon. */
  lock(): string {
    return this.#file('.lock');
  }

  /** Identity, addresses and problem of the running process; there from the moment it is ready until it ends. */
  record(): string {
    return this.#file('.json');
  }

  /** Time of the last heartbeat. */
  heartbeat(): string {
    return this.#file('.heartbeat');
  }

  /** Why the last run ended, when it was not asked to. */
  exit(): string {
    return this.#file('.exit');
  }

  /** Where the supervisor lets a detached daemon's standard error go: last words of a crash. */
  standardError(): string {
    return this.#file('.stderr');
  }

  /** Pid file of the reference: `<daemon>-<pid>.pid`. */
  pid(pid: number): string {
    return this.#file(`-${pid}.pid`);
  }

  /** Marker of a start that is going on. */
  startMarker(): string {
    return this.#file('.start');
  }

  /** Marker of a start that failed. */
  failedMarker(): string {
    return this.#file('.failed');
  }

  #file(suffix: string): string {
    return this.#home.path('var', 'run', this.daemon + suffix);
  }
}

/** Marker of a restart of the suite that is going on. */
export function restartMarker(home: Home): string {
  return home.path('var', 'run', '.restart');
}
