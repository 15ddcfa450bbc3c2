import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Limiter } from '../../../lib/async/limiter.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { deflate, inflate } from '../nats/deflating.js';
import { MessageAssembler, partsOf } from '../nats/long-messages.js';
import type { NatsLink, NatsSession } from '../nats/nats-link.js';
import { pack, unpack } from '../nats/packing.js';
import type { Seal } from '../nats/sealing.js';
import type { LocalDaemons } from './local-daemons.js';

/** Requests of other nodes that are carried out at once, and that wait beside them. */
const AT_ONCE = 64;
const MOST_WAITING = 2048;
/** An answer may take so much longer than the deadline that the other node has. */
const SPARE_MS = 500;
const request = z.object({
  id: z.string().max(64),
  /** Who asks. */
  node: z.string().max(128),
  daemon: z.string().max(64),
  method: z.string().max(64),
  params: z.unknown().optional(),
  deadlineMs: z.number().int().min(1),
});
const answer = z.object({
  id: z.string().max(64),
  result: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type NodeAsksParts = {
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly seal: Seal;
  readonly node: string;
  readonly isPresent: (node: string) => boolean;
  readonly isKnown: (node: string) => boolean;
  /** Nodes that are none any more: nothing is done for them. */
  readonly isForgotten: (node: string) => boolean;
  readonly daemons: LocalDaemons;
  readonly logger: Logger;
};

export type Question = {
  readonly node: string;
  readonly daemon: string;
  readonly method: string;
  readonly params: unknown;
  readonly deadlineMs: number;
};

type Asked = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void };

/** Requests from node to node: calls of daemons, with a deadline, in sealed messages of any length. */
export class NodeAsks {
  readonly #parts: NodeAsksParts;
  readonly #asked = new Map<string, Asked>();
  readonly #limiter = new Limiter({ atOnce: AT_ONCE, mostWaiting: MOST_WAITING });
  readonly counters = { asked: 0, answered: 0, failed: 0, late: 0, unreadable: 0 };

  constructor(parts: NodeAsksParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.link.onSession((session) => {
      for (const listening of [this.#answer(session), this.#takeAnswers(session)]) {
        listening.catch((error: unknown) => {
          this.#unreadable(error);
        });
      }
    });
  }

  /** @throws BusError as `nodes.ask` of the contract says */
  async ask(question: Question): Promise<unknown> {
    const { node, isPresent, isKnown, daemons, link, subjects } = this.#parts;
    const { node: to, deadlineMs, ...call } = question;
    daemons.requireAskable(call.daemon, call.method);
    if (to === node) return daemons.call(call.daemon, call.method, call.params, deadlineMs);
    if (!isPresent(to)) {
      if (!isKnown(to)) throw new BusError('unknown_node', `The cluster has no node '${to}'`);
      throw new BusError('node_away', `Node '${to}' of the cluster is not heard`);
    }
    const session = link.session();
    const id = randomBytes(12).toString('base64url');
    this.counters.asked += 1;
    const coming = this.#expect(id, question);
    try {
      await this.#send(session, subjects.ask(to), `ask ${to}`, { id, node, deadlineMs, ...call });
    } catch (error) {
      this.#asked.get(id)?.reject(new BusError('cluster_unavailable', describeError(error), { cause: error }));
    }
    return await coming;
  }

  #expect(id: string, { node, daemon, method, deadlineMs }: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id);
        this.counters.late += 1;
        reject(
          new BusError('node_timeout', `Node '${node}' did not answer '${daemon} ${method}' within ${deadlineMs} ms`),
        );
      }, deadlineMs + SPARE_MS);
      const settled =
        <A>(then: (argument: A) => void) =>
        (argument: A): void => {
          clearTimeout(timer);
          this.#asked.delete(id);
          then(argument);
        };
      this.#asked.set(id, { resolve: settled(resolve), reject: settled(reject) });
    });
  }

  async #answer({ nc }: NatsSession): Promise<void> {
    const { subjects, node } = this.#parts;
    const assembler = new MessageAssembler();
    for await (const { data } of nc.subscribe(subjects.ask(node))) {
      const whole = assembler.take(data);
      if (whole === undefined) continue;
      // A connection that is closed meanwhile takes no answer.
      this.#carryOut(whole, nc).catch((error: unknown) => {
        this.#unreadable(error);
      });
    }
  }

  async #carryOut(message: Buffer, nc: NatsSession['nc']): Promise<void> {
    const { node, subjects, isForgotten, daemons } = this.#parts;
    let asked: z.output<typeof request>;
    try {
      asked = unpack(await this.#open(message, `ask ${node}`), request);
    } catch (error) {
      this.#unreadable(error);
      return;
    }
    const { id, daemon, method, params, deadlineMs } = asked;
    const until = performance.now() + deadlineMs;
    let reply: { readonly result?: unknown; readonly error?: { readonly code: string; readonly message: string } };
    try {
      if (isForgotten(asked.node)) throw new BusError('cluster_unavailable', `'${node}' knows no node '${asked.node}'`);
      const result = await this.#limiter.run(() => {
        const left = until - performance.now();
        // Who asked has given it up: what is not begun by now is not begun any more.
        if (left < 1) throw new BusError('busy', `'${node}' had no room for it in time`);
        return daemons.call(daemon, method, params, Math.floor(left));
      });
      reply = { result };
    } catch (error) {
      const code = error instanceof BusError ? error.code : 'internal';
      reply = { error: { code, message: describeError(error) } };
    }
    this.counters.answered += 1;
    const subject = `${subjects.inbox(asked.node)}.answer`;
    const bytes = await this.#sealed({ id, ...reply }, `answer ${asked.node}`);
    for (const part of partsOf(bytes)) nc.publish(subject, part);
  }

  async #takeAnswers({ nc }: NatsSession): Promise<void> {
    const { subjects, node } = this.#parts;
    const assembler = new MessageAssembler();
    for await (const { data } of nc.subscribe(`${subjects.inbox(node)}.answer`)) {
      const whole = assembler.take(data);
      if (whole !== undefined) await this.#takeAnswer(whole);
    }
  }

  async #takeAnswer(message: Buffer): Promise<void> {
    try {
      const { id, result, error } = unpack(await this.#open(message, `answer ${this.#parts.node}`), answer);
      const asked = this.#asked.get(id);
      if (asked === undefined) return;
      if (error === undefined) {
        asked.resolve(result);
      } else {
        this.counters.failed += 1;
        asked.reject(new BusError(error.code, error.message));
      }
    } catch (error) {
      this.#unreadable(error);
    }
  }

  async #send({ nc }: NatsSession, subject: string, place: string, value: unknown): Promise<void> {
    for (const part of partsOf(await this.#sealed(value, place))) nc.publish(subject, part);
  }

  async #sealed(value: unknown, place: string): Promise<Buffer> {
    return this.#parts.seal.seal(await deflate(pack(value)), place);
  }

  async #open(message: Buffer, place: string): Promise<Buffer> {
    return await inflate(this.#parts.seal.open(message, place));
  }

  #unreadable(error: unknown): void {
    this.counters.unreadable += 1;
    if (this.counters.unreadable === 1) {
      this.#parts.logger.error(`A request within the cluster cannot be understood: ${describeError(error)}.`);
    }
  }
}
