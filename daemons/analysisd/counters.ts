import { AgentCounters, type AgentCountersDelta } from './agent-counters.js';
import { COMPONENTS, type CountedComponent } from './component.js';

type Breakdown = Record<CountedComponent, number>;

function emptyBreakdown(): Breakdown {
  return Object.fromEntries(COMPONENTS.map((name) => [name, 0])) as Breakdown;
}

/** What a thread counts. */
const SUMMED = [
  'eventsProcessed',
  'eventsDropped',
  'alertsWritten',
  'archivesWritten',
  'firewallWritten',
  'responsesDecided',
  'alertsFailed',
  'eventsFailed',
] as const satisfies readonly (keyof Counters)[];

/** Counts of a thread since it told them last, in the order of their names. */
export type CountersDelta = {
  readonly sums: readonly number[];
  readonly decoded: readonly number[];
  readonly dropped: readonly number[];
  readonly agents: AgentCountersDelta;
};

/** What svc-analysisd counts since its start (rules-and-alerts.md 11.3, 11.4). */
export class Counters {
  readonly startedAt: number;
  bytesReceived = 0;
  eventsReceived = 0;
  eventsProcessed = 0;
  eventsDropped = 0;
  /** Events of the journal that were analysed before: sent again, or part of a request that was repeated. */
  duplicates = 0;
  alertsWritten = 0;
  archivesWritten = 0;
  firewallWritten = 0;
  /** Active responses decided on; svc-execd runs them. */
  responsesDecided = 0;
  /** Events whose alert or archive record could not be made; the log says why. */
  alertsFailed = 0;
  /** Events that the engine failed on in a thread. */
  eventsFailed = 0;
  ftsWritten = 0;
  statsWritten = 0;
  /** Events whose matching ran out of steps; the rules concerned are named in the log. */
  budgetExceeded = 0;
  readonly decoded: Breakdown = emptyBreakdown();
  readonly dropped: Breakdown = emptyBreakdown();
  readonly agents = new AgentCounters();

  /** @param startedAt epoch milliseconds */
  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** What was counted since the last time, and begins anew: for a thread, whose counts are added to those of the daemon. */
  takeDelta(): CountersDelta {
    const delta = {
      sums: SUMMED.map((name) => this[name]),
      decoded: COMPONENTS.map((name) => this.decoded[name]),
      dropped: COMPONENTS.map((name) => this.dropped[name]),
      agents: this.agents.takeDelta(),
    };
    for (const summed of SUMMED) this[summed] = 0;
    for (const name of COMPONENTS) this.decoded[name] = this.dropped[name] = 0;
    return delta;
  }

  /** Adds what a thread counted. */
  add({ sums, decoded, dropped, agents }: CountersDelta): void {
    SUMMED.forEach((name, index) => (this[name] += sums[index] ?? 0));
    COMPONENTS.forEach((name, index) => {
      this.decoded[name] += decoded[index] ?? 0;
      this.dropped[name] += dropped[index] ?? 0;
    });
    this.agents.add(agents);
  }

  /** Events decoded, whatever the component. */
  totalDecoded(): number {
    let total = 0;
    for (const name of COMPONENTS) total += this.decoded[name];
    return total;
  }
}

/** The breakdown tree of `getstats`: integrations, modules and log sources in their own objects. */
export function breakdownTree(counts: Readonly<Breakdown>): Record<string, unknown> {
  const pick = (...names: CountedComponent[]) => Object.fromEntries(names.map((name) => [name, counts[name]]));
  return {
    ...pick('agent', 'agentless', 'dbsync'),
    integrations_breakdown: pick('virustotal'),
    modules_breakdown: {
      ...pick('aws', 'azure', 'ciscat', 'command', 'docker', 'gcp', 'github'),
      logcollector_breakdown: pick('eventchannel', 'eventlog', 'macos', 'others'),
      ...pick('ms-graph', 'office365', 'oscap', 'osquery', 'rootcheck', 'sca', 'syscheck', 'syscollector'),
      ...pick('upgrade', 'vulnerability'),
    },
    ...pick('monitor', 'remote', 'syslog'),
  };
}
