import type { CallParams, CallResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { PresenceBatch, PresenceMark } from '../../../lib/bus/contracts/db-presence.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger } from '../../../lib/log/logger.js';
import type { MergeRows } from './merge-rows.js';

type PageParams = CallParams<typeof dbContract, 'agents.presence_page'>;
type Page = CallResult<typeof dbContract, 'agents.presence_page'>;

export type PeersParts = {
  readonly merge: MergeRows;
  /** This node. */
  readonly node: string;
  /** Asks svc-db of another node. @throws BusError */
  readonly ask: (node: string, params: PageParams) => Promise<unknown>;
  /** Holds an answer against the contract: it comes from another host. @throws Error */
  readonly read: (answer: unknown) => Page;
  readonly monotonic: () => number;
  readonly log: LimitedLogger;
};

/** What is known of another node's batches. */
type Peer = {
  readonly name: string;
  /** All up to here is known; undefined: nothing yet. */
  mark: PresenceMark | undefined;
  /** Whether something was missed. */
  behind: boolean;
  /** Whether it may know what is not known here of nodes that are away, or older rows of this node. */
  knowsMore: boolean;
  /** Batches that came behind a gap, of one incarnation. */
  ahead: { readonly incarnation: string; readonly numbers: Set<number> };
  failures: number;
  retryAt: number;
};

/** Pauses after a question that failed, milliseconds: the last is repeated. */
const RETRY_MS = [500, 1000, 3000, 10_000];
/** Batches behind a gap that are remembered; more are asked for again. */
const MAX_AHEAD = 10_000;
/** Pages of one answer: 100,000 rows take some hundred; stops a node that never comes to an end. */
const MAX_PAGES = 20_000;

/**
 * What other nodes have told, and what of it was missed: their batches are numbered. What is missed is asked for, of a node
 * that is away of one that is there.
 */
export class Peers {
  readonly counters = { batches: 0, gaps: 0, pages: 0, failures: 0 };
  readonly #parts: PeersParts;
  readonly #peers = new Map<string, Peer>();

  constructor(parts: PeersParts) {
    this.#parts = parts;
  }

  /** By node, all up to which is known. */
  get marks(): { node: string; incarnation: string; number: number }[] {
    return [...this.#peers.values()].flatMap(({ name, mark }) => (mark === undefined ? [] : [{ node: name, ...mark }]));
  }

  /** Whether all is known that these nodes know. */
  knowsAll(present: ReadonlySet<string>): boolean {
    return [...present].every((name) => {
      const peer = this.#peers.get(name);
      return peer !== undefined && !peer.behind && !peer.knowsMore;
    });
  }

  /** Something may have been missed: everybody is asked. */
  missed(): void {
    for (const peer of this.#peers.values()) peer.behind = true;
    this.lost();
  }

  /** Rows were left out: all are asked for again, after a while. */
  forget(afterMs: number): void {
    this.missed();
    for (const peer of this.#peers.values()) {
      peer.mark = undefined;
      peer.retryAt = this.#parts.monotonic() + afterMs;
    }
  }

  /** A node is not heard any more: others may know more of it than was heard here. */
  lost(): void {
    for (const peer of this.#peers.values()) peer.knowsMore = true;
  }

  /** A batch that was taken over. */
  took({ node, incarnation, number, rows }: PresenceBatch): void {
    this.counters.batches += 1;
    const peer = this.#peer(node);
    if (peer.mark?.incarnation !== incarnation || peer.behind) {
      if (peer.mark?.incarnation !== incarnation) peer.behind = true;
      this.#noteAhead(peer, incarnation, rows.length > 0 ? number : undefined);
      return;
    }
    const before = rows.length > 0 ? number - 1 : number;
    if (before === peer.mark.number) {
      peer.mark = { incarnation, number };
    } else if (number > peer.mark.number) {
      this.counters.gaps += 1;
      peer.behind = true;
      this.#noteAhead(peer, incarnation, rows.length > 0 ? number : undefined);
    }
  }

  /** A batch could not be taken over. */
  refused(node: string): void {
    this.#peer(node).behind = true;
  }

  /** Asks for what was missed. @param present other nodes that are heard */
  async catchUp(present: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    for (const name of present) {
      const peer = this.#peer(name);
      if (!peer.behind || this.#parts.monotonic() < peer.retryAt || signal.aborted) continue;
      await this.#guarded(peer, () => this.#askOwn(peer, signal));
    }
    const all = [...present].map((name) => this.#peer(name));
    if (all.some(({ behind }) => behind)) return;
    // Each of them: one that has lost its own store knows nothing of the others, either.
    for (const peer of all) {
      if (!peer.knowsMore || this.#parts.monotonic() < peer.retryAt || signal.aborted) continue;
      // What is missed meanwhile is asked for the next time.
      peer.knowsMore = false;
      if (!(await this.#guarded(peer, () => this.#askKnown(peer, present, signal)))) peer.knowsMore = true;
    }
  }

  async #askOwn(peer: Peer, signal: AbortSignal): Promise<void> {
    const since = peer.mark;
    const first = await this.#pages(peer, { what: 'own', from: 1, ...(since === undefined ? {} : { since }) }, signal);
    const { incarnation, numbers } = peer.ahead;
    let { number } = first;
    if (incarnation === first.incarnation) while (numbers.has(number + 1)) number += 1;
    peer.mark = { incarnation: first.incarnation, number };
    const further = incarnation === first.incarnation && [...numbers].some((ahead) => ahead > number);
    peer.behind = further;
    if (!further) numbers.clear();
  }

  async #askKnown(source: Peer, present: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    await this.#pages(source, { what: 'known', from: 1, except: [...present], marks: this.marks }, signal);
  }

  /** Takes over all pages. @returns the first */
  async #pages(peer: Peer, params: PageParams, signal: AbortSignal): Promise<Page> {
    const { ask, read, merge } = this.#parts;
    let first: Page | undefined;
    let { from } = params;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = read(await ask(peer.name, { ...params, from }));
      signal.throwIfAborted();
      this.counters.pages += 1;
      first ??= page;
      if (page.incarnation !== first.incarnation) throw new Error('svc-db has been started anew there meanwhile');
      await merge.apply(page.rows, { node: peer.name, number: first.number });
      if (page.next === null) return first;
      if (page.next <= from) throw new Error('its pages do not come to an end');
      from = page.next;
    }
    throw new Error('it has too many pages');
  }

  async #guarded(peer: Peer, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      peer.failures = 0;
      return true;
    } catch (error) {
      const pause = RETRY_MS[Math.min(peer.failures, RETRY_MS.length - 1)] ?? 0;
      peer.failures += 1;
      peer.retryAt = this.#parts.monotonic() + pause;
      this.counters.failures += 1;
      this.#parts.log.warn(`What node '${peer.name}' knows of agents is asked for again: ${describeError(error)}`);
      return false;
    }
  }

  #noteAhead(peer: Peer, incarnation: string, number: number | undefined): void {
    if (peer.ahead.incarnation !== incarnation) peer.ahead = { incarnation, numbers: new Set() };
    if (number !== undefined && peer.ahead.numbers.size < MAX_AHEAD) peer.ahead.numbers.add(number);
  }

  #peer(name: string): Peer {
    let peer = this.#peers.get(name);
    if (peer === undefined) {
      const ahead = { incarnation: '', numbers: new Set<number>() };
      peer = { name, mark: undefined, behind: true, knowsMore: true, ahead, failures: 0, retryAt: 0 };
      this.#peers.set(name, peer);
    }
    return peer;
  }
}
