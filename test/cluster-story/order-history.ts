import type { AgentRecord, Receipt } from './agent-record.js';
import type { NodeAlerts } from './event-history.js';
import type { Outcome } from './history.js';

type Order = { readonly agent: string; readonly begun: number; ended: number; outcome: Outcome };
/** `wrong` in any case; the others where no connection broke. */
type Finding = { readonly kind: 'wrong' | 'lost' | 'again'; readonly text: string; readonly excused: boolean };

/** What orders may be and are: lost while a connection broke, given again after an agent moved. */
export type OrderVerdict = { readonly breaches: readonly string[]; readonly lost: number; readonly again: number };

/**
 * Active responses for agents: orders that clients asked for, and those that nodes decided about their alerts. Agents acknowledge
 * none, so an order that was on its way over a connection that broke may be lost (docs/promises.md); one that was decided comes a second
 * time at most when the agent has moved. Times are those of whoever asked and of the agents, on one clock.
 */
export class OrderHistory {
  readonly #orders = new Map<string, Order>();
  readonly #now: () => number;

  /** @param now milliseconds, rising */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns the token of the order, and what is to be called with what became of it */
  ask(agent: string): { readonly token: string; readonly settle: (outcome: Outcome) => void } {
    const token = `order-${this.#orders.size + 1}`;
    const order: Order = { agent, begun: this.#now(), ended: Infinity, outcome: 'unknown' };
    this.#orders.set(token, order);
    return {
      token,
      settle: (outcome) => {
        Object.assign(order, { outcome, ended: this.#now() });
      },
    };
  }

  counts(): Readonly<Record<Outcome, number>> {
    const counts = { done: 0, refused: 0, unknown: 0 };
    for (const { outcome } of this.#orders.values()) counts[outcome] += 1;
    return counts;
  }

  /** Orders that clients asked for. */
  asked(agents: readonly AgentRecord[]): OrderVerdict {
    return verdict(agents.flatMap((agent) => [...this.#asked(agent)]));
  }

  /**
   * Orders that nodes decided, one for each agent about each alert.
   * @param alerts in the order of writing
   * @param ends of svc-execd by node: each may have the order at hand come again to agents that have not moved
   */
  decided(agents: readonly AgentRecord[], alerts: NodeAlerts, ends: ReadonlyMap<string, number>): OrderVerdict {
    const ofNode = ([node, tokens]: readonly [string, readonly string[]]): Finding[] => {
      const findings = agents.flatMap((agent) => [...decidedBreaches(agent, tokens)]);
      const isStayed = ({ kind, excused }: Finding): boolean => kind === 'again' && !excused;
      if (findings.filter(isStayed).length > (ends.get(node) ?? 0) * agents.length) return findings;
      return findings.map((finding) => (isStayed(finding) ? { ...finding, excused: true } : finding));
    };
    return verdict([...alerts].flatMap(ofNode));
  }

  *#asked(agent: AgentRecord): Generator<Finding> {
    const receipts = byToken(agent.receipts);
    for (const [token, order] of this.#orders) {
      const count = receipts.get(token)?.length ?? 0;
      if (order.agent !== agent.id) {
        if (count > 0) yield wrong(`agent ${agent.id} got ${token}, which is for ${order.agent}`);
        continue;
      }
      if (count > 1) yield wrong(`agent ${agent.id} got ${token} ${count} times`);
      if (order.outcome === 'refused' && count > 0) yield wrong(`${token} was refused, and agent ${agent.id} got it`);
      if (order.outcome === 'done' && count === 0) {
        const excused = !agent.stood(order.begun, order.ended);
        yield { kind: 'lost', text: `${token} was acknowledged, and agent ${agent.id} did not get it`, excused };
      }
    }
  }
}

/** A node sends an agent one after the other: one that is not there was sent between its neighbours. */
function* decidedBreaches(agent: AgentRecord, tokens: readonly string[]): Generator<Finding> {
  const receipts = byToken(agent.receipts);
  let after = agent.connection;
  const next = tokens
    .toReversed()
    .map((token) => {
      const found = after;
      after = receipts.get(token)?.[0]?.connection ?? after;
      return found;
    })
    .reverse();
  let before = 0;
  for (const [at, token] of tokens.entries()) {
    const got = receipts.get(token) ?? [];
    const [first] = got;
    if (first === undefined) {
      const excused = before !== next[at];
      yield { kind: 'lost', text: `agent ${agent.id} did not get the order about event ${token}`, excused };
      continue;
    }
    before = first.connection;
    if (got.length === 1) continue;
    const excused = new Set(got.map(({ connection }) => connection)).size === got.length;
    yield { kind: 'again', text: `agent ${agent.id} got the order about event ${token} ${got.length} times`, excused };
  }
}

function byToken(receipts: readonly Receipt[]): ReadonlyMap<string, readonly Receipt[]> {
  const found = new Map<string, Receipt[]>();
  for (const receipt of receipts) {
    const same = found.get(receipt.token);
    if (same === undefined) found.set(receipt.token, [receipt]);
    else same.push(receipt);
  }
  return found;
}

function wrong(text: string): Finding {
  return { kind: 'wrong', text, excused: false };
}

function verdict(findings: readonly Finding[]): OrderVerdict {
  const count = (wanted: Finding['kind']): number =>
    findings.filter(({ kind, excused }) => excused && kind === wanted).length;
  return {
    breaches: findings.filter(({ excused }) => !excused).map(({ text }) => text),
    lost: count('lost'),
    again: count('again'),
  };
}
