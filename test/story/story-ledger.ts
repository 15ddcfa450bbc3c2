import type { DaemonName } from '../../lib/product/daemon-names.js';
import type { FirewallEvent } from './firewall.js';
import type { Stage } from './stage.js';
import { KEYS, MAILED_LEVEL } from './story-configuration.js';

export type Kill = { readonly host: 'manager' | 'agent'; readonly daemon: DaemonName; readonly at: number };

/** One line of the result: how often what should be there is there. */
export type Count = {
  readonly what: string;
  readonly wanted: number;
  /** Of those wanted. */
  readonly there: number;
  readonly missing: readonly string[];
  /** Those that are there more than once, as often as that is too often. */
  readonly doubled: readonly string[];
  /** What of it is allowed (promises.md); '' when there is nothing to allow. */
  readonly allowed: string;
  readonly breaches: readonly string[];
};

/** A kill this much before the time of an alert may have met its order: the alert has its time before it is written. */
const EARLY_MS = 100;
/** So long after its alert an order may be with its carriers: svc-execd tries anew after 5 seconds, agents come back by then. */
const CARRIED_MS = 12_000;
/** How svc-execd says that the time-out of an order was over before its agent was there. */
const LATE = 'they were away for too long';
/** Most that are named of what is wrong. */
const MOST_NAMED = 8;
/** Alerts that are on their way over a connection to a syslog receiver (promises.md). */
const MOST_IN_FLIGHT = 500;

/** What was done to the product, and what has to have come of it. */
export class StoryLedger {
  readonly kills: Kill[] = [];
  readonly #stage: Stage;
  readonly #addresses: readonly string[];
  readonly #friend: string;
  readonly #linesBefore: number;
  readonly #attacks = new Map<string, number>();
  /** Orders that were on their way when their carrier was killed, by address. */
  readonly #lostOrders = new Map<string, number>();

  /** @param addresses that attack in the second part, with the one of the white list */
  constructor(stage: Stage, addresses: readonly string[], friend: string) {
    this.#stage = stage;
    this.#addresses = addresses;
    this.#friend = friend;
    this.#linesBefore = stage.log.lines.length;
  }

  /** An attack that has to have an alert. */
  attacked(address: string): void {
    this.#attacks.set(address, this.attacksOf(address) + 1);
  }

  attacksOf(address: string): number {
    return this.#attacks.get(address) ?? 0;
  }

  /** Who has attacked and is, and was, not dropped. */
  notDropped(): readonly string[] {
    return this.#toDrop().filter((address) => this.#times('dropped', address) === 0);
  }

  /**
   * Whether the order about an address may be lost: the agent protocol acknowledges none, so it is when svc-remoted or the
   * agent's svc-agentd is killed while it has it; or it came too late (promises.md). It is counted then.
   */
  excuseLostOrder(address: string): boolean {
    const decided = this.#stage.alerts.of(KEYS.rule, address).at(-1);
    if (decided === undefined) return false;
    const at = Date.parse(decided.timestamp.replace(/(\d\d)(\d\d)$/, '$1:$2'));
    const carrierKilled = this.kills.some(
      (kill) =>
        (kill.daemon === 'svc-remoted' || kill.daemon === 'svc-agentd') &&
        kill.at >= at - EARLY_MS &&
        kill.at <= at + CARRIED_MS,
    );
    const excused = carrierKilled || this.#stage.manager.read('logs', 'manager.log').includes(LATE);
    if (excused) this.#lostOrders.set(address, (this.#lostOrders.get(address) ?? 0) + 1);
    return excused;
  }

  /** Whether every alert is with every receiver. */
  hasArrived(): boolean {
    return [this.#index(), this.#syslog(), this.#mail()].every(({ missing }) => missing.length === 0);
  }

  counts(): readonly Count[] {
    return [
      this.#failures(),
      this.#alerts(),
      this.#changes('dropped'),
      this.#changes('let in'),
      this.#index(),
      this.#syslog(),
      this.#mail(),
      this.#whiteList(),
    ];
  }

  #toDrop(): readonly string[] {
    return this.#addresses.filter((address) => address !== this.#friend);
  }

  #times(action: FirewallEvent['action'], address: string): number {
    return this.#stage.firewall.events().filter((event) => event.action === action && event.address === address).length;
  }

  #killed(...daemons: readonly DaemonName[]): number {
    return this.kills.filter(({ daemon }) => daemons.includes(daemon)).length;
  }

  /** Lines of the followed file: the agent's way to the manager acknowledges none. */
  #failures(): Count {
    const wanted = this.#stage.log.lines.slice(this.#linesBefore);
    const came = this.#stage.alerts.all().map(({ full_log = '' }) => full_log);
    const channel = this.#killed('svc-remoted', 'svc-agentd');
    const count = compare(
      'failures in the log',
      wanted,
      came.filter((line) => wanted.includes(line)),
    );
    const lossy = channel > 0 && count.missing.length + count.doubled.length > 0;
    return lossy ? { ...count, allowed: 'on their way at a kill of the channel', breaches: [] } : count;
  }

  #alerts(): Count {
    const wanted = this.#addresses.flatMap((address) => numbered(address, this.attacksOf(address)));
    const came = this.#addresses.flatMap((address) =>
      numbered(address, this.#stage.alerts.of(KEYS.rule, address).length),
    );
    const count = compare(`alerts of attacks`, wanted, came);
    const extra = came.filter((one) => !wanted.includes(one));
    const ids = this.#stage.alerts.all().map(({ id }) => id);
    const twice = repeated(ids);
    return {
      ...count,
      doubled: extra,
      breaches: [
        ...count.breaches,
        ...breach('more alerts of an attack than attacks', extra),
        ...breach('ids of more than one alert', twice),
      ],
    };
  }

  /** Each address once; one whose order was lost has attacked again, and was dropped then. */
  #changes(action: FirewallEvent['action']): Count {
    const wanted = this.#toDrop();
    const came = wanted.flatMap((address) => Array.from({ length: this.#times(action, address) }, () => address));
    const lost = [...this.#lostOrders.values()].reduce((sum, times) => sum + times, 0);
    const count = compare(`addresses ${action}`, wanted, came);
    const allowed =
      lost > 0 && action === 'dropped'
        ? `${String(lost)} orders lost with their carrier or too late: attacked again`
        : '';
    return { ...count, allowed };
  }

  #index(): Count {
    const { receivers, alerts } = this.#stage;
    const wanted = alerts.all().map(({ id }) => id);
    const count = compare(
      'alerts in the index',
      wanted,
      receivers.indexed().map(({ alertId }) => alertId),
    );
    return { ...count, breaches: [...count.breaches, ...breach('against the protocol', receivers.violations())] };
  }

  #syslog(): Count {
    const { receivers, alerts } = this.#stage;
    const wanted = alerts.all().map(({ id }) => id);
    const count = compare(
      'alerts by syslog',
      wanted,
      receivers.logged().map(({ alert }) => alert.id),
    );
    const may = receivers.mayComeTwice();
    const large = receivers.syslog.connections.filter(({ messages }) => messages.length > MOST_IN_FLIGHT).length;
    return {
      ...count,
      allowed: count.doubled.length > 0 ? 'on their way at a kill of svc-monitord' : '',
      breaches: [
        ...breach('missing', count.missing),
        ...breach(
          'doubled, and not on their way at a kill',
          count.doubled.filter((id) => !may.has(id)),
        ),
        ...(large > 0 ? [`connections with more than ${String(MOST_IN_FLIGHT)} alerts: ${String(large)}`] : []),
      ],
    };
  }

  #mail(): Count {
    const { receivers, alerts } = this.#stage;
    const mails = receivers.mails();
    const wanted = alerts
      .all()
      .filter(({ rule }) => rule.level >= MAILED_LEVEL)
      .map(processIn);
    const came = mails.map(({ text }) => processIn({ full_log: text }));
    const count = compare('alerts by mail', wanted, came);
    const kills = this.#killed('svc-monitord');
    const renamed = count.doubled.filter(
      (process) =>
        new Set(mails.filter(({ text }) => processIn({ full_log: text }) === process).map(({ id }) => id)).size > 1,
    );
    return {
      ...count,
      allowed: count.doubled.length > 0 ? 'on their way at a kill of svc-monitord, same Message-ID' : '',
      breaches: [
        ...breach('missing', count.missing),
        ...breach('doubled with another Message-ID', renamed),
        ...(count.doubled.length > kills ? [`${String(count.doubled.length)} doubled by ${String(kills)} kills`] : []),
      ],
    };
  }

  #whiteList(): Count {
    const came = this.#stage.firewall.events().filter(({ address }) => address === this.#friend);
    const breaches = came.length === 0 ? [] : [`${this.#friend} is on the white list and was dropped`];
    return {
      what: 'drops of the white list',
      wanted: 0,
      there: came.length,
      missing: [],
      doubled: [],
      allowed: '',
      breaches,
    };
  }
}

/** `sshd[1016]`, of the line of the alert: no other line has it. */
function processIn({ full_log = '' }: { readonly full_log?: string }): string {
  return /sshd\[\d+\]/.exec(full_log)?.[0] ?? '';
}

/** `192.0.2.1 #1`, so that each of several is one. */
function numbered(address: string, times: number): string[] {
  return Array.from({ length: times }, (_, i) => `${address} #${String(i + 1)}`);
}

function repeated(all: readonly string[]): string[] {
  const seen = new Set<string>();
  return all.filter((one) => seen.size === seen.add(one).size);
}

/** What is wanted and not there, and what is there too often, which both are breaches as long as nobody allows them. */
function compare(what: string, wanted: readonly string[], came: readonly string[]): Count {
  const there = new Set(came);
  const missing = wanted.filter((one) => !there.has(one));
  const doubled = repeated(came);
  const breaches = [...breach('missing', missing), ...breach('doubled', doubled)];
  return {
    what,
    wanted: wanted.length,
    there: wanted.length - missing.length,
    missing,
    doubled,
    allowed: '',
    breaches,
  };
}

function breach(what: string, which: readonly string[]): string[] {
  if (which.length === 0) return [];
  const named = which.slice(0, MOST_NAMED).join(', ') + (which.length > MOST_NAMED ? ', ...' : '');
  return [`${what}: ${String(which.length)} (${named})`];
}
