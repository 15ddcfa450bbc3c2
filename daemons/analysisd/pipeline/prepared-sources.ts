import { readEventAgent, readEventSource } from '../../../lib/journal/event-heads.js';
import { type PreparedSource, prepareSource } from './incoming-event.js';
import type { RecordedEvents } from './journal-record.js';

/** Sources that are kept, and the bytes of one at most: a few for each agent that is connected. */
const MOST_SOURCES = 16_384;
const MOST_BYTES = 1024;

/** Where events come from, by its bytes in the journal: agents are the same in every record. */
export class PreparedSources {
  readonly #most: number;
  /** By the bytes of the agent, and then of queue and location. */
  readonly #known = new Map<string, Map<string, PreparedSource>>();
  #count = 0;

  /** @param most sources that are kept; others are read each time */
  constructor(most = MOST_SOURCES) {
    this.#most = most;
  }

  /** A source of a record, by its index there. */
  of({ content, payload }: Pick<RecordedEvents, 'content' | 'payload'>, index: number): PreparedSource {
    const sourceAt = content.sourceAt[index] ?? 0;
    const sourceEnd = content.sourceEnd[index] ?? 0;
    const agentAt = content.agentAt[index] ?? 0;
    const agentEnd = content.agentEnd[index] ?? 0;
    if (sourceEnd - sourceAt + agentEnd - agentAt > MOST_BYTES) return read(payload, sourceAt, agentAt);
    const agentKey = payload.toString('latin1', agentAt, agentEnd);
    const key = payload.toString('latin1', sourceAt, sourceEnd);
    const known = this.#known.get(agentKey)?.get(key);
    if (known !== undefined) return known;
    const prepared = read(payload, sourceAt, agentAt);
    this.#keep(agentKey, key, prepared);
    return prepared;
  }

  #keep(agentKey: string, key: string, prepared: PreparedSource): void {
    if (this.#count >= this.#most) {
      this.#known.clear();
      this.#count = 0;
    }
    let ofAgent = this.#known.get(agentKey);
    if (ofAgent === undefined) this.#known.set(agentKey, (ofAgent = new Map()));
    ofAgent.set(key, prepared);
    this.#count += 1;
  }
}

function read(payload: Buffer, sourceAt: number, agentAt: number): PreparedSource {
  const agent = agentAt === 0 ? undefined : readEventAgent(payload, agentAt);
  return prepareSource(readEventSource(payload, sourceAt, agent));
}
