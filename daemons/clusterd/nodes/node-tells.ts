import * as z from 'zod';
import { BusError } from '../../../lib/bus/bus-error.js';
import { ANY_NODE, type ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { ASKABLE } from '../askable-methods.js';
import { MessageAssembler, partsOf } from '../nats/long-messages.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { pack, unpack } from '../nats/packing.js';
import type { Seal } from '../nats/sealing.js';
import type { LocalDaemons } from './local-daemons.js';

/** A daemon that does not take what it is told within this time has not heard it, milliseconds. */
const TELL_MS = 5000;
/** What is under way to one daemon: what comes on top is lost, as on the way. */
const MOST_WAITING = 64;

const tell = z.object({
  node: z.string().max(128),
  daemon: z.string().max(64),
  method: z.string().max(64),
  params: z.unknown().optional(),
});

export type NodeTellsParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly seal: Seal;
  readonly node: string;
  /** Nodes that are none any more: what they tell is not heard. */
  readonly isForgotten: (node: string) => boolean;
  readonly daemons: LocalDaemons;
  readonly logger: Logger;
};

/** What a daemon tells its like on all other nodes: it comes in order, or is lost and counted. */
export class NodeTells {
  readonly #parts: NodeTellsParts;
  readonly #lines = new Map<string, { last: Promise<void>; waiting: number }>();
  readonly counters = { told: 0, toldBytes: 0, heard: 0, heardBytes: 0, lost: 0, unreadable: 0 };

  constructor(parts: NodeTellsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.link.onSession((session) => {
      this.#listen(session).catch((error: unknown) => {
        this.#parts.logger.warn(`What nodes tell is not heard: ${describeError(error)}.`);
      });
    });
  }

  /** @throws BusError `not_askable`, `cluster_unavailable` */
  tell(daemon: string, method: string, params: unknown): void {
    const { link, subjects, seal, node, daemons } = this.#parts;
    daemons.requireAskable(daemon, method);
    const { nc } = link.session();
    const subject = `${subjects.tell(node)}.${daemon}`;
    const bytes = seal.seal(pack({ node, daemon, method, params }), subject);
    try {
      for (const part of partsOf(bytes)) nc.publish(subject, part);
    } catch (error) {
      throw new BusError('cluster_unavailable', describeError(error), { cause: error });
    }
    this.counters.told += 1;
    this.counters.toldBytes += bytes.length;
  }

  async #listen({ nc }: NatsSession): Promise<void> {
    const { subjects, node } = this.#parts;
    const assemblers = new Map<string, MessageAssembler>();
    const own = `${subjects.tell(node)}.`;
    for await (const { subject, data } of nc.subscribe(`${subjects.tell(ANY_NODE)}.>`)) {
      const daemon = subject.slice(subject.lastIndexOf('.') + 1);
      if (subject.startsWith(own) || !Object.hasOwn(ASKABLE, daemon)) continue;
      let assembler = assemblers.get(subject);
      if (assembler === undefined) assemblers.set(subject, (assembler = new MessageAssembler()));
      const whole = assembler.take(data);
      if (whole !== undefined) this.#take(subject, whole);
    }
  }

  #take(subject: string, message: Buffer): void {
    const { seal, subjects, isForgotten, logger } = this.#parts;
    let told: z.output<typeof tell>;
    try {
      told = unpack(seal.open(message, subject), tell);
      if (`${subjects.tell(told.node)}.${told.daemon}` !== subject) {
        throw new Error(`something of '${told.node}' on ${subject}`);
      }
    } catch (error) {
      this.counters.unreadable += 1;
      if (this.counters.unreadable === 1) {
        logger.error(`What a node told cannot be understood: ${describeError(error)}.`);
      }
      return;
    }
    if (isForgotten(told.node)) return;
    this.counters.heard += 1;
    this.counters.heardBytes += message.length;
    this.#handOver(told);
  }

  /** One after the other to each daemon. */
  #handOver({ daemon, method, params }: z.output<typeof tell>): void {
    let line = this.#lines.get(daemon);
    if (line === undefined) this.#lines.set(daemon, (line = { last: Promise.resolve(), waiting: 0 }));
    if (line.waiting >= MOST_WAITING) {
      this.counters.lost += 1;
      return;
    }
    const { last } = line;
    const its = line;
    its.waiting += 1;
    its.last = last
      .then(() => this.#parts.daemons.call(daemon, method, params, TELL_MS))
      .then(
        () => {},
        (error: unknown) => {
          this.counters.lost += 1;
          this.#parts.logger.debug(`${daemon} did not take what another node told it: ${describeError(error)}.`);
        },
      )
      .finally(() => {
        its.waiting -= 1;
      });
  }
}
