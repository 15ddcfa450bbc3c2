/** Agents whose events are counted; those that were counted first make room. Ids come from the key file, which has fewer. */
const MOST_AGENTS = 200_000;

/** What came of the events of one agent since the start of svc-analysisd. */
export class AgentTally {
  received = 0;
  processed = 0;
  dropped = 0;
  alerts = 0;
  archives = 0;
  firewall = 0;
}

const MEMBERS = [
  'received',
  'processed',
  'dropped',
  'alerts',
  'archives',
  'firewall',
] as const satisfies readonly (keyof AgentTally)[];

/** Counts of agents since they were told last: for each id those of `MEMBERS`. */
export type AgentCountersDelta = { readonly ids: readonly string[]; readonly counts: Int32Array };

const NOTHING: Readonly<AgentTally> = new AgentTally();

/** Events by agent (daemons-and-config.md 11.3, "Per agent"). */
export class AgentCounters {
  readonly #tallies = new Map<string, AgentTally>();

  constructor(private readonly most = MOST_AGENTS) {}

  /** The tally of an agent, made when first needed. */
  of(id: string): AgentTally {
    const known = this.#tallies.get(id);
    if (known !== undefined) return known;
    const made = new AgentTally();
    if (this.#tallies.size >= this.most) {
      for (const oldest of this.#tallies.keys()) {
        this.#tallies.delete(oldest);
        break;
      }
    }
    this.#tallies.set(id, made);
    return made;
  }

  /** What was counted since the last time, and begins anew. */
  takeDelta(): AgentCountersDelta {
    const ids = [...this.#tallies.keys()];
    const counts = new Int32Array(ids.length * MEMBERS.length);
    let at = 0;
    for (const tally of this.#tallies.values()) {
      for (const member of MEMBERS) {
        counts[at] = tally[member];
        at += 1;
      }
    }
    this.#tallies.clear();
    return { ids, counts };
  }

  /** Adds what a thread counted. */
  add({ ids, counts }: AgentCountersDelta): void {
    let at = 0;
    for (const id of ids) {
      const tally = this.of(id);
      for (const member of MEMBERS) {
        tally[member] += counts[at] ?? 0;
        at += 1;
      }
    }
  }

  /** In the shape of the counters of all. */
  metrics(id: string): Record<string, unknown> {
    const { received, processed, dropped, alerts, archives, firewall } = this.#tallies.get(id) ?? NOTHING;
    return { events: { received, processed, dropped, written_breakdown: { alerts, archives, firewall } } };
  }
}
