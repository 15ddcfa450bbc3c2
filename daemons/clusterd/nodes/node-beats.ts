import * as z from 'zod';
import { ANY_NODE, type ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { pack, unpack } from '../nats/packing.js';
import type { Seal } from '../nats/sealing.js';

/** Between two beats, milliseconds. */
const BEAT_MS = 1000;
/** A node that was not heard for so long, by this host's monotonic clock, is away. */
const PRESENT_MS = 6000;
/** Bytes of what one daemon says: beats go to all nodes each second. */
const MAX_FACTS_BYTES = 16 * 1024;
/** For so long after a node was overtaken the others leave it time, milliseconds. */
const CONTENDED_MS = 3000;
/** Nodes that are remembered: stops a login that makes up names from filling memory. */
const MAX_NODES = 256;

const beat = z.object({
  node: z.string().min(1).max(128),
  /** Of the home, whatever its name. */
  instance: z.string().max(64),
  /** Of the process. */
  incarnation: z.string().max(64),
  version: z.string().max(64),
  ip: z.string().max(64),
  revision: z.number().int(),
  /** How often others were quicker to change something. */
  overtaken: z.number().int().default(0),
  facts: z.record(z.string(), z.record(z.string(), z.unknown())),
});
export type Beat = z.output<typeof beat>;

export type HeardNode = {
  readonly beat: Beat;
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Epoch milliseconds. */
  readonly wall: number;
};

export type NodeBeatsParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly seal: Seal;
  readonly logger: Logger;
  /** Nodes that are none any more: they are not heard. */
  readonly isForgotten: (node: string) => boolean;
  /** Whether this node says nothing. */
  readonly silent: () => boolean;
  /** What this node says, but for its facts. */
  readonly self: () => Omit<Beat, 'facts' | 'ip'>;
};

/** Who is there: each node says so each second, without JetStream, so that a lost quorum takes away nobody's presence. */
export class NodeBeats {
  readonly #parts: NodeBeatsParts;
  readonly #heard = new Map<string, HeardNode>();
  readonly #facts = new Map<string, Readonly<Record<string, unknown>>>();
  #timer: NodeJS.Timeout | undefined;
  #ip = '';
  /** Homes that say they have this node's name, with when they were heard. */
  readonly #rivals = new Map<string, number>();
  unreadable = 0;
  /** Own beats that have come back over the connection that there is. */
  #ownHeard = 0;
  #contendedAt = -Infinity;

  constructor(parts: NodeBeatsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.link.onMended(() => {
      this.#ownHeard = 0;
    });
    this.#parts.link.onSession((session) => {
      this.#ownHeard = 0;
      this.#listen(session).catch((error: unknown) => {
        this.#parts.logger.warn(`Nodes are not heard: ${describeError(error)}.`);
      });
    });
    this.#timer = setInterval(() => {
      this.#send();
    }, BEAT_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @throws Error when the facts are too many */
  describe(daemon: string, facts: Readonly<Record<string, unknown>>): void {
    const { length } = pack(facts);
    if (length > MAX_FACTS_BYTES) {
      throw new Error(`what ${daemon} says has ${length} bytes, ${MAX_FACTS_BYTES} is the limit`);
    }
    this.#facts.set(daemon, facts);
  }

  get ownFacts(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    return Object.fromEntries(this.#facts);
  }

  /** Address from which this node reaches its server. */
  get ip(): string {
    return this.#ip;
  }

  /** Other nodes that were heard since the start. */
  get others(): ReadonlyMap<string, HeardNode> {
    return this.#heard;
  }

  /** Highest revision that others have. */
  get revision(): number {
    return Math.max(0, ...[...this.#heard.values()].map(({ beat: { revision } }) => revision));
  }

  /** Whether other nodes were overtaken lately by somebody who changes something. */
  get contended(): boolean {
    return performance.now() - this.#contendedAt < CONTENDED_MS;
  }

  isPresent(node: string): boolean {
    const heard = this.#heard.get(node);
    return heard !== undefined && performance.now() - heard.at < PRESENT_MS && !this.#parts.isForgotten(node);
  }

  /** That another home has this node's name and is heard; undefined when none is. */
  get rivalry(): string | undefined {
    const now = performance.now();
    if (![...this.#rivals.values()].some((at) => now - at < PRESENT_MS)) return undefined;
    return `another manager calls itself '${this.#parts.self().node}', too: each needs a <node_name> of its own`;
  }

  /**
   * Whether a home that has this node's name would have been heard by now, were it there. Own beats are counted, not time: those of
   * others come the same way, also to a process that stood still.
   */
  get hasListened(): boolean {
    return this.#ownHeard > PRESENT_MS / BEAT_MS;
  }

  #send(): void {
    const { link, subjects, seal, self, silent } = this.#parts;
    if (!link.connected || silent()) return;
    const subject = subjects.beat(self().node);
    try {
      const { nc } = link.session();
      this.#ip = nc.info?.client_ip ?? '';
      nc.publish(subject, seal.seal(pack({ ...self(), ip: this.#ip, facts: this.ownFacts }), subject));
    } catch {
      // The connection was lost this moment: the next beat tells.
    }
  }

  async #listen({ nc }: NatsSession): Promise<void> {
    this.#send();
    for await (const { subject, data } of nc.subscribe(this.#parts.subjects.beat(ANY_NODE))) this.#take(subject, data);
  }

  #take(subject: string, data: Uint8Array): void {
    const { seal, subjects, self, isForgotten, logger } = this.#parts;
    let taken: Beat;
    try {
      taken = unpack(seal.open(data, subject), beat);
      if (subjects.beat(taken.node) !== subject) throw new Error(`a beat of '${taken.node}' on ${subject}`);
    } catch (error) {
      this.unreadable += 1;
      if (this.unreadable === 1) logger.error(`A node of the cluster cannot be understood: ${describeError(error)}.`);
      return;
    }
    const own = self();
    if (taken.node === own.node) {
      // A copy of this home has its instance, too.
      if (taken.incarnation === own.incarnation) this.#ownHeard += 1;
      else this.#rivals.set(taken.incarnation, performance.now());
      return;
    }
    if (isForgotten(taken.node)) {
      this.#heard.delete(taken.node);
      return;
    }
    if (!this.#heard.has(taken.node)) {
      if (this.#heard.size >= MAX_NODES) return;
      logger.info(`Node '${taken.node}' of the cluster is there (${taken.ip}).`);
    }
    const before = this.#heard.get(taken.node)?.beat;
    if (before?.incarnation === taken.incarnation && taken.overtaken > before.overtaken) {
      this.#contendedAt = performance.now();
    }
    this.#heard.set(taken.node, { beat: taken, at: performance.now(), wall: Date.now() });
  }
}
