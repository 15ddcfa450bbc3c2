import type { Home } from '../home/home.js';
import type { Logger } from '../log/logger.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { OwnFlag, OwnFlagValues } from './daemon-flags.js';
import type { DebugLevel } from './daemon-logger.js';

/** An address a daemon listens on, as written to `var/run/<daemon>.json` (architecture.md 4 "Home"). */
export type BoundAddress = {
  readonly protocol: 'tcp' | 'udp' | 'https' | 'ipc';
  readonly address: string;
  readonly port?: number;
};

/** What a daemon's `check` gets. */
export type CheckContext = {
  readonly name: DaemonName;
  readonly home: Home;
  readonly logger: Logger;
  /** Values of the daemon's own flags by their letter. */
  readonly ownFlags: OwnFlagValues;
};

/** A daemon's look at its configuration, without side effects. @throws an Error whose message names file, line or field */
export type DaemonCheck = (context: CheckContext) => void;

/** What a daemon's `build` gets: the composition root makes everything else from it by hand. */
export type DaemonContext = CheckContext & {
  /** Verbosity asked for by `-d` or the home's internal options. */
  readonly debugLevel: DebugLevel;
  /** A logger whose lines carry `<daemon>:<module>` as their tag (daemons-and-config.md 3.7). */
  readonly moduleLogger: (module: string) => Logger;
  /** Tells the lifecycle of a failure after which the daemon cannot go on: it is logged and the process exits 1. */
  readonly fatal: (error: unknown) => void;
  /**
   * A condition the operator must mend while the daemon goes on with its last good state (a ruleset that does not
   * load, say). It is logged as an error now and each minute and shown by `svc-control status`, until undefined is
   * given.
   */
  readonly setProblem: (problem: string | undefined) => void;
  /**
   * As SIGHUP, with the outcome: what the bus method `reload` calls (`commonHandlers` in lib/bus). One reload runs at a
   * time. @throws the error of `RunningDaemon.reload`; the running state stays
   */
  readonly reload: () => Promise<readonly string[]>;
};

/** The running daemon as the lifecycle sees it. */
export type RunningDaemon = {
  /** Bound listeners, known before the first heartbeat. */
  readonly addresses: Readonly<Record<string, BoundAddress>>;
  /**
   * Re-reads configuration in place (SIGHUP, `svc-control reload`). On an error the running state stays. The
   * lifecycle never runs two at a time.
   * @returns names of configuration sections that changed but need a restart
   * @throws an Error whose message names file, line or field
   */
  reload(): Promise<readonly string[]>;
  /**
   * Drains and stops; must settle within 4.5 s, after which the process exits 1 without waiting.
   * @throws an Error, or an AggregateError of several, when parts could not stop in good order
   */
  stop(): Promise<void>;
};

/**
 * Work on what is the daemon's while it does not run: done as its user and under its lock, with input and output of the
 * process. @throws an Error with one clear message: it is written to standard error, and the process exits 1
 */
export type DaemonTask = (home: Home) => Promise<void>;

/** A daemon as `defineDaemon` makes it: `daemons/<short>/main.ts` hands one to `runDaemon`. */
export type DaemonSpec = {
  readonly name: DaemonName;
  /** Flags that no other daemon has. */
  readonly ownFlags?: readonly OwnFlag[];
  /** Checks configuration without side effects (`-t`). */
  readonly check: DaemonCheck;
  /** What its own flags ask for instead of the daemon; undefined when they do not. */
  readonly task?: (own: OwnFlagValues) => DaemonTask | undefined;
  /**
   * Makes and starts the daemon; the process counts as started when it resolves.
   * @throws an Error with one clear message; it is logged as critical and the process exits 1
   */
  build(context: DaemonContext): Promise<RunningDaemon>;
};
