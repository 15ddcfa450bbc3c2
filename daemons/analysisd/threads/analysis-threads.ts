import {
  type CorrelationLayout,
  joinLayouts,
  partOfSnapshot,
  shardOf,
  shardOfBytes,
} from '../../../lib/engine/correlate/correlation-snapshot.js';
import { decodeEvents } from '../../../lib/engine/correlate/remembered-events.js';
import { readLocation } from '../../../lib/engine/predecode/read-location.js';
import type { EventHeads } from '../../../lib/journal/event-heads.js';
import type { Logger } from '../../../lib/log/logger.js';
import { Committer, type CommitterParts, type PendingUnit } from './committer.js';
import { OutputStages, STAGES_BYTES } from './output-stages.js';
import { SLOTS_BYTES, ThreadHandle, type WordAside } from './thread-handle.js';
import type { CapturedPart, ThreadConfiguration } from './thread-words.js';

/** What all threads remember of their agents. */
export type GatheredState = {
  readonly correlation: CorrelationLayout;
  /** For `decodeEvents`. */
  readonly events: readonly Uint8Array[];
};

export type AnalysisThreadsParts = Omit<CommitterParts, 'threads' | 'stages'> & {
  /** How many, 2 or more. */
  readonly count: number;
  /** For benches: what each runs. */
  readonly program?: URL | undefined;
  readonly logger: Logger;
  /** A thread has ended: nothing can go on without its part. */
  readonly onFailure: (error: Error) => void;
};

/**
 * The threads of the analysis. Each has some shards of what is remembered of agents and analyses the events of these, all
 * in the order of the journal; the committer brings what they make of them into that order (architecture.md 4 "Threads of the analysis").
 */
export class AnalysisThreads {
  readonly #parts: AnalysisThreadsParts;
  readonly #threads: readonly ThreadHandle[];
  readonly #committer: Committer;
  /** Told when threads fail, of all that wait for them. */
  readonly #waiting = new Set<(error: Error) => void>();
  #wake: () => void = () => {};
  #failure: Error | undefined;
  #configured: () => void = () => {};
  #forgotten: () => void = () => {};
  /** What threads say of themselves for each `gather`, the one that was called first first. */
  readonly #gathering: { readonly parts: CapturedPart[]; readonly done: () => void }[] = [];

  constructor(parts: AnalysisThreadsParts) {
    this.#parts = parts;
    const slots = parts.count * SLOTS_BYTES;
    const memory = new SharedArrayBuffer(slots + STAGES_BYTES);
    this.#threads = Array.from({ length: parts.count }, (_, number) => this.#start(number, memory));
    const stages = new OutputStages(parts.analysis, memory, slots);
    this.#committer = new Committer({ ...parts, threads: this.#threads, stages });
  }

  get count(): number {
    return this.#threads.length;
  }

  /** Events that were dispatched and are not done. */
  get pending(): number {
    return this.#committer.pending;
  }

  /** Bytes of the records they lie in. */
  get pendingBytes(): number {
    return this.#committer.pendingBytes;
  }

  /** Questions about all agents that threads waited for. */
  get questions(): number {
    return this.#committer.questions;
  }

  /**
   * Puts a configuration in force in all threads, which compile its ruleset at the same time, and gives them what the analysis
   * remembers of agents. Nothing may be pending.
   */
  async begin(configuration: ThreadConfiguration): Promise<void> {
    let waiting = this.count;
    await this.#until((resolve) => {
      this.#configured = () => {
        waiting -= 1;
        if (waiting === 0) resolve();
      };
      for (const thread of this.#threads) thread.order({ kind: 'configure', ...configuration });
    });
    const { state } = this.#parts.analysis.engine;
    const correlation = state.correlation.handOver();
    for (const thread of this.#threads) {
      const own = partOfSnapshot(correlation, thread.number, (shard) => shard % this.count, state.correlation.count);
      thread.order({ kind: 'restore', correlation: own });
    }
    this.#committer.watchKeys();
  }

  /** Has all threads say what they remember at this moment; they go on meanwhile. Nothing may be pending when it is called. */
  async gather(): Promise<GatheredState> {
    const parts: CapturedPart[] = [];
    const pieces = [...(this.#parts.analysis.engine.state.correlation.pieces?.taken ?? [])];
    await this.#until((resolve) => {
      this.#gathering.push({ parts, done: resolve });
      for (const thread of this.#threads) thread.order({ kind: 'capture' });
    });
    return {
      correlation: joinLayouts(parts, pieces, (shard) => shard % this.count),
      events: parts.flatMap(({ events }) => events),
    };
  }

  /** Brings what threads remember back into the analysis; nothing may be pending, nor come before the next `begin`. */
  async takeBack(): Promise<void> {
    const { correlation, events } = await this.gather();
    const { state } = this.#parts.analysis.engine;
    const remembered = events.flatMap((part) => decodeEvents(part));
    state.correlation.restore({ ...correlation, events: remembered });
  }

  /** Has the thread of an agent forget its events, and takes back the memory that it gives up. Nothing may be pending. */
  async forgetAgent(id: string): Promise<void> {
    const thread = this.#threads[this.#ownerOf(id)];
    if (thread === undefined) return;
    await this.#until((resolve) => {
      this.#forgotten = resolve;
      thread.order({ kind: 'forget-agent', id });
    });
    this.#committer.heedAside(thread);
  }

  /** The thread that analyses the events of a source. */
  ownerOf(heads: EventHeads, payload: Buffer, source: number): number {
    const { count } = this.#parts.analysis.engine.state.correlation;
    if (count === 1) return 0;
    const idBytes = heads.agentIdBytes(payload, source);
    if (idBytes !== undefined) {
      const at = (heads.agentAt[source] ?? 0) + 1;
      return shardOfBytes(payload, at, at + idBytes, count) % this.count;
    }
    // As `incomingEvent` reads it.
    const id = heads.agentIdOf(payload, source) ?? readLocation(heads.locationOf(payload, source)).agent?.id;
    return this.#ownerOf(id ?? '000');
  }

  /** Has the events of a unit analysed. */
  dispatch(pending: PendingUnit): void {
    const { memory, owners } = pending.unit;
    this.#committer.expect(pending);
    let isNeeded = false;
    for (const { number } of this.#threads) {
      if (!owners.includes(number)) continue;
      isNeeded = true;
      this.#threads[number]?.order({ kind: 'unit', unit: memory });
    }
    if (!isNeeded) this.#advance();
  }

  /** Resolves when more events are done, at once when none are pending. @throws Error when a thread has ended */
  async moved(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.pending === 0) return;
    await this.#until((resolve) => (this.#wake = resolve));
  }

  /** Ends all threads; what is pending is not done. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #ownerOf(agentId: string): number {
    const { count } = this.#parts.analysis.engine.state.correlation;
    return count === 1 ? 0 : shardOf(agentId, count) % this.count;
  }

  #start(number: number, memory: SharedArrayBuffer): ThreadHandle {
    return new ThreadHandle({
      number,
      program: this.#parts.program,
      memory,
      slotsAt: number * SLOTS_BYTES,
      onTurn: () => {
        this.#advance();
      },
      onAside: (word, thread) => {
        this.#hear(word, thread);
      },
      onFailure: (error) => {
        this.#failure ??= error;
        for (const reject of this.#waiting) reject(error);
        this.#waiting.clear();
        this.#parts.onFailure(error);
      },
    });
  }

  #advance(): void {
    if (this.#committer.advance()) this.#wake();
  }

  #hear(word: WordAside, thread: ThreadHandle): void {
    switch (word.kind) {
      case 'configured':
        this.#configured();
        return;
      case 'forgotten':
        this.#forgotten();
        return;
      case 'captured':
        this.#take(word.part, thread.number);
        return;
      case 'log':
        this.#parts.logger[word.level](word.text);
    }
  }

  #take(part: CapturedPart, thread: number): void {
    const first = this.#gathering.find(({ parts }) => parts[thread] === undefined);
    if (first === undefined) return;
    first.parts[thread] = part;
    if (Object.keys(first.parts).length < this.count) return;
    this.#gathering.shift();
    first.done();
  }

  #until(begin: (resolve: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#waiting.add(reject);
      begin(() => {
        this.#waiting.delete(reject);
        resolve();
      });
    });
  }
}
