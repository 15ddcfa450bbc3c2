import type { Outcome } from './history.js';

/** Alerts that a node wrote of the events of a history: their tokens, in the order of writing. */
export type NodeAlerts = ReadonlyMap<string, readonly string[]>;

type SentEvent = { readonly node: string; outcome: Outcome };

/**
 * Events that were sent to the nodes of a cluster, each with a token of its own, and whether the alerts of all nodes are what can have
 * come of them: one alert of an acknowledged event, at most one of an event without a clear answer, none of a refused one.
 */
export class EventHistory {
  readonly #events = new Map<string, SentEvent>();

  /** @returns the token of an event that is about to be sent */
  take(node: string): string {
    const token = `${node}-${this.#events.size + 1}`;
    this.#events.set(token, { node, outcome: 'unknown' });
    return token;
  }

  settle(tokens: readonly string[], outcome: Outcome): void {
    for (const token of tokens) {
      const event = this.#events.get(token);
      if (event !== undefined) event.outcome = outcome;
    }
  }

  has(token: string): boolean {
    return this.#events.has(token);
  }

  counts(): Readonly<Record<Outcome, number>> {
    const counts = { done: 0, refused: 0, unknown: 0 };
    for (const { outcome } of this.#events.values()) counts[outcome] += 1;
    return counts;
  }

  breaches(alerts: NodeAlerts): string[] {
    return [...this.#breaches(alerts)];
  }

  *#breaches(alerts: NodeAlerts): Generator<string> {
    const alerted = new Map<string, number>();
    for (const [node, tokens] of alerts) {
      for (const token of tokens) {
        alerted.set(token, (alerted.get(token) ?? 0) + 1);
        const event = this.#events.get(token);
        if (event === undefined) yield `${node} has an alert of event ${token}, which nobody sent`;
        else if (event.node !== node) yield `${node} has an alert of event ${token}, which was sent to ${event.node}`;
      }
    }
    for (const [token, { outcome }] of this.#events) {
      const count = alerted.get(token) ?? 0;
      if (count > 1) yield `event ${token} has ${count} alerts`;
      if (outcome === 'done' && count === 0) yield `event ${token} was acknowledged, and has no alert`;
      if (outcome === 'refused' && count > 0) yield `event ${token} was refused, and has an alert`;
    }
  }
}
