import type { CheckContext } from './daemon-spec.js';

/**
 * A daemon's look at its configuration, without side effects. It lies in a module of its own, `check.ts` beside the
 * daemon's `main.ts`, that exports it as `check`: so the checks of all daemons can be made in one process without the
 * daemons themselves.
 *
 * @throws an Error whose message names file, line or field
 */
export type DaemonCheck = (context: CheckContext) => void;
