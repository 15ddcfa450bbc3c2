import type { Alert } from './alert/alert.js';
import type { EngineEvent } from './event.js';
import type { CompiledRule } from './rules/ruleset.js';

/**
 * What became of an event.
 * - `processed`: it went through the rules; archives take it.
 * - `discarded`: an incomplete firewall event, an alert of another manager without a rule, or a message of an agent's module
 *   that holds nothing for the rules; nothing takes it.
 * - `dropped`: it could not be decoded at all, or the engine failed on it; it is counted.
 */
export type Disposition = 'processed' | 'discarded' | 'dropped';

/** Result of processing one event. Texts are made from it on demand, by `Engine`. */
export type EventOutcome = {
  readonly disposition: Disposition;
  readonly event: EngineEvent;
  /** The final rule, level 0 included. */
  readonly rule: CompiledRule | undefined;
  /** The rule as an alert or archive shows it; without a rule, only what the archive needs. */
  readonly alert: Alert;
  /**
   * Whether an alert is to be written. Live: level above 0 and the rule's log flag. Test: level above 0, at least the
   * log level, and not in its ignore time.
   */
  readonly isAlert: boolean;
  /** Whether active responses bound to the rule are to run; independent of the log flag. */
  readonly responds: boolean;
  /** Whether a copy goes to the firewall log. */
  readonly firewall: boolean;
  /** The statistics alert that this event set off. */
  readonly statistics: Alert | undefined;
};
