import type { NoEffect } from '../config/effects/find-no-effect.js';
import type { CheckMessage } from '../daemon/run-check.js';
import type { DaemonName } from '../product/daemon-names.js';

/** A daemon, and the module with its `SETTINGS` (lib/daemon/daemon-settings.ts). */
export type CheckedDaemon = { readonly daemon: DaemonName; readonly module: string };

/** What is to be looked at. */
export type ValidationOrder = {
  /** Root of the home. */
  readonly home: string;
  readonly daemons: readonly CheckedDaemon[];
  /**
   * Sections of the main configuration that count: those the daemons speak of, or all, also those of daemons that are
   * not looked at.
   */
  readonly sections: 'own' | 'all';
  /** Whether internal options that no daemon reads and the groups' agent.conf are looked at, too. */
  readonly everything: boolean;
};

/** Who says what: a daemon, or nobody in particular for files that no daemon reads. */
export type ValidationMessage = CheckMessage & { readonly daemon: DaemonName | undefined };

/** What a validation found. Every text is there once, whichever daemons it concerns. */
export type Validation = {
  /** By daemon in the order asked for; none when the configuration is right. */
  readonly errors: readonly ValidationMessage[];
  readonly warnings: readonly ValidationMessage[];
  readonly noEffect: readonly NoEffect[];
  /** What was looked at, one text each. */
  readonly looked: readonly string[];
};
