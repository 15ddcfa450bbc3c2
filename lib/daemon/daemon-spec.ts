import type { DaemonName } from '../product/daemon-names.js';
import type { Home } from './home.js';
import type { Logger } from './logger.js';

/** An address a daemon listens on, as written to `var/run/<daemon>.json` (design.md 4 "Home"). */
export type BoundAddress = {
  readonly protocol: 'tcp' | 'udp' | 'https' | 'ipc';
  readonly address: string;
  readonly port?: number;
};

/** What a daemon's `build` gets: the composition root makes everything else from it by hand. */
export type DaemonContext = {
  readonly name: DaemonName;
  readonly home: Home;
  readonly logger: Logger;
  /** Tells the lifecycle of a failure after which the daemon cannot go on: it is logged and the process exits 1. */
  readonly fatal: (error: unknown) => void;
};

/** The running daemon as the lifecycle sees it. */
export type RunningDaemon = {
  /** Bound listeners, known before the first heartbeat. */
  readonly addresses: Readonly<Record<string, BoundAddress>>;
  /**
   * Re-reads configuration in place (SIGHUP, `svc-control reload`). On an error the running state stays.
   * @returns names of configuration sections that changed but need a restart
   * @throws an Error whose message names file, line or field
   */
  reload(): Promise<readonly string[]>;
  /** Drains and stops; must settle within 5 s. */
  stop(): Promise<void>;
};

/** A daemon: `daemons/<short>/main.ts` hands one to `runDaemon`. */
export type DaemonSpec = {
  readonly name: DaemonName;
  /**
   * Checks configuration without side effects (`-t`).
   * @throws an Error whose message names file, line or field
   */
  check(context: Pick<DaemonContext, 'name' | 'home' | 'logger'>): Promise<void>;
  build(context: DaemonContext): Promise<RunningDaemon>;
};
