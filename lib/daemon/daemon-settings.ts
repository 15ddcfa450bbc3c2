import type { Logger } from '../log/logger.js';
import type { CheckContext } from './daemon-spec.js';

/** A section of the configuration in force, as it is shown; made when it is asked for. */
export type ShownSection = () => Record<string, unknown> | Promise<Record<string, unknown>>;

/**
 * How a daemon reads its configuration. It lies in a module of its own, `<short>-settings.ts` beside the daemon's `main.ts`,
 * that exports it as `SETTINGS`: so the configurations of all daemons can be checked in one process without the daemons
 * themselves.
 */
export type DaemonSettings<S> = {
  /**
   * Reads everything, without side effects.
   * @param current what is in force, at a reload
   * @throws an Error whose message names file, line or field
   */
  load(context: CheckContext, current?: S): S;
  /** Logs what of the configuration has no effect. */
  logWarnings(settings: S, logger: Logger): void;
  /** `-t`, where it is more than loading and warnings. @throws an Error whose message names file, line or field */
  check?(context: CheckContext): void;
  /** Sections that others may ask for, in the shapes of daemons-and-config.md 1.7; without it there are none. */
  sections?(current: () => S): ReadonlyMap<string, ShownSection>;
  /** What a running daemon takes over of new settings; without it, all. The rest waits for a restart. */
  takeOver?(next: S, current: S): S;
  /** Names of sections of which something has changed that needs a restart. */
  restartNeeded?(next: S, than: EarlierSettings<S>): readonly string[];
};

/** What new settings are compared with: those of the start, and those in force before the reload. */
export type EarlierSettings<S> = { readonly started: S; readonly before: S };

/** The settings that a running daemon goes by. A reload replaces them whole. */
export type SettingsInForce<S> = {
  readonly current: S;
  /** Those it was started with. */
  readonly started: S;
};

/** What `-t` does: it loads the settings and logs their warnings. */
export function checkSettings<S>(settings: DaemonSettings<S>, context: CheckContext): void {
  if (settings.check === undefined) settings.logWarnings(settings.load(context), context.logger);
  else settings.check(context);
}
