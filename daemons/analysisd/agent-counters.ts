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

  /** In the shape of the counters of all. */
  metrics(id: string): Record<string, unknown> {
    const { received, processed, dropped, alerts, archives, firewall } = this.#tallies.get(id) ?? NOTHING;
    return { events: { received, processed, dropped, written_breakdown: { alerts, archives, firewall } } };
  }
}
