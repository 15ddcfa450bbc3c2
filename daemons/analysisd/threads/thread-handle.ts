import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { describeError } from '../../../lib/log/describe-error.js';
import { ThreadEndedError } from '../../../lib/thread/thread.js';
import { type OwnResults, ResultMemory, SLOT_BYTES } from './result-memory.js';
import { ResultReader } from './results.js';
import {
  ANSWERED,
  CONTROL_WORDS,
  FIRST_SLOT,
  KEYS_FULL,
  type ResultChunk,
  SLOTS,
  type ThreadOrder,
  type ThreadStart,
  type ThreadWord,
} from './thread-words.js';

/** What a thread says between its events. */
export type WordInTurn = Extract<ThreadWord, { readonly kind: 'results' | 'question' | 'notice' }>;
/** What it says at any time. */
export type WordAside = Exclude<ThreadWord, WordInTurn>;

/** What a thread runs unless told otherwise. */
const PROGRAM = new URL('./analysis-thread.js', import.meta.url);

export type ThreadHandleParts = {
  readonly number: number;
  /** For benches: what it runs. */
  readonly program?: URL | undefined;
  /** Memory that all threads share, and where the slots of this one begin in it: `SLOTS_BYTES` of them. */
  readonly memory: SharedArrayBuffer;
  readonly slotsAt: number;
  /** Told that the thread has said something in its turn. */
  readonly onTurn: () => void;
  readonly onAside: (word: WordAside, thread: ThreadHandle) => void;
  /** The thread broke or ended; its events will never be done. */
  readonly onFailure: (error: Error) => void;
};

/** Bytes of memory for results that each thread has. */
export const SLOTS_BYTES = SLOTS * SLOT_BYTES;
const NONE: OwnResults = { numbers: new Int32Array(0), texts: new Uint8Array(0) };

/**
 * Room for what events leave behind before it is collected. More of it costs memory in each thread, and CPU: 8 MB, which is a third
 * of it, stay in a cache of the processor; with 32 MB an event took a tenth more.
 */
const YOUNG_MEGABYTES = 24;

/** A thread of the analysis as the daemon sees it. */
export class ThreadHandle {
  readonly number: number;
  /** Results that were taken last. */
  readonly results = new ResultReader();
  readonly #worker: Worker;
  readonly #answers: MessagePort;
  readonly #control = new Int32Array(new SharedArrayBuffer(CONTROL_WORDS * Int32Array.BYTES_PER_ELEMENT));
  readonly #memory: SharedArrayBuffer;
  readonly #slotsAt: number;
  /** The slot of the results at hand. */
  #slot: number | undefined;
  #words: WordInTurn[] = [];
  #next = 0;
  #isClosed = false;

  constructor({ number, program = PROGRAM, memory, slotsAt, onTurn, onAside, onFailure }: ThreadHandleParts) {
    this.number = number;
    const { port1, port2 } = new MessageChannel();
    this.#answers = port1;
    this.#memory = memory;
    this.#slotsAt = slotsAt;
    const workerData: ThreadStart = { number, control: this.#control, answers: port2, memory, slotsAt };
    this.#worker = new Worker(program, {
      workerData,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    this.#worker.on('message', (word: ThreadWord) => {
      if (word.kind === 'results' || word.kind === 'question' || word.kind === 'notice') {
        this.#words.push(word);
        onTurn();
      } else {
        onAside(word, this);
      }
    });
    const title = `Thread ${String(number + 1)} of the analysis`;
    const fail = (error: Error): void => {
      if (!this.#isClosed) onFailure(error);
      this.#isClosed = true;
    };
    this.#worker.on('error', (error) => {
      fail(new Error(`${title} ended: ${describeError(error)}`, { cause: error }));
    });
    this.#worker.on('exit', (code) => {
      fail(new ThreadEndedError(title, code));
    });
  }

  order(order: ThreadOrder): void {
    this.#worker.postMessage(order);
  }

  /** What it said next in its turn; undefined when it has not said it yet. */
  nextWord(): WordInTurn | undefined {
    const word = this.#words[this.#next];
    if (word === undefined) return undefined;
    this.#next += 1;
    if (this.#next === this.#words.length) {
      this.#words = [];
      this.#next = 0;
    }
    return word;
  }

  /** Goes on with these results; the ones before were read. */
  begin({ events, slot, filled, own }: ResultChunk): void {
    if (this.#slot !== undefined) Atomics.store(this.#control, FIRST_SLOT + this.#slot, 0);
    this.#slot = slot;
    const at = this.#slotsAt + (slot ?? 0) * SLOT_BYTES;
    const memory =
      own === undefined && slot !== undefined
        ? new ResultMemory({ number: slot, memory: this.#memory, at }, filled)
        : ResultMemory.of(own ?? NONE);
    this.results.begin(events, memory);
  }

  /** Answers its question and wakes it. */
  answer(answer: unknown): void {
    this.#answers.postMessage(answer);
    Atomics.add(this.#control, ANSWERED, 1);
    Atomics.notify(this.#control, ANSWERED);
  }

  /** From now on it asks for every key that its events bring. */
  distrustKeys(): void {
    Atomics.store(this.#control, KEYS_FULL, 1);
  }

  /** Ends it, whatever it is at. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#answers.close();
    await this.#worker.terminate();
  }
}
