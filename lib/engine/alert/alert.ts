import type { EngineEvent } from '../event.js';
import type { CompiledRule } from '../rules/ruleset.js';

/** Everything that the JSON and text forms of one alert are made of; it does not change after the event was processed. */
export type Alert = {
  readonly event: EngineEvent;
  /** The final rule; absent for archived events that no rule took, and in logtest. */
  readonly rule: CompiledRule | undefined;
  /** Expanded description; absent for the statistics alert. */
  readonly description: string | undefined;
  /** Absent when the rule did not pass the fired counter. */
  readonly firedTimes: number | undefined;
  /** Full logs of earlier events, newest first. */
  readonly previousEvents: readonly (string | undefined)[];
  /** Old content found by `check_diff`. */
  readonly previousLog: string | undefined;
  /** The event's full log; the statistics alert has a text of its own. */
  readonly fullLog: string;
};

/** Where alerts come from: the same for all of them. Names are byte strings. */
export type AlertOrigin = {
  /** Full host name of the manager. */
  readonly managerName: string;
  /** Shown unless the cluster is disabled or hidden; `node` only when configured. */
  readonly cluster: { readonly name: string; readonly node: string | undefined } | undefined;
  /** `analysisd.show_hidden_labels`. */
  readonly showHiddenLabels: boolean;
};

/** Whether the event came through an agent: its location is `(name) ip->path`. */
export function hasAgentLocation(event: EngineEvent): boolean {
  return event.location.charCodeAt(0) === 0x28;
}

/** Earlier events that an alert shows: none unless there are two and the second has a text (7.1). */
export function previousOutput(alert: Alert): readonly string[] {
  const { previousEvents } = alert;
  if (previousEvents[0] === undefined || previousEvents[1] === undefined || previousEvents[1] === '') return [];
  const shown: string[] = [];
  for (const log of previousEvents) {
    if (log === undefined) break;
    shown.push(log);
  }
  return shown;
}
