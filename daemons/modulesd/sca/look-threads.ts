import { describeError } from '../../../lib/log/describe-error.js';
import type { Looker } from '../../../lib/sca/evaluate.js';
import { invalid, type Outcome } from '../../../lib/sca/finding.js';
import type { LookOrder } from '../../../lib/sca/look.js';
import type { LoadedPolicy } from '../../../lib/sca/policy-file.js';
import { Thread } from '../../../lib/thread/thread.js';
import type { CallInput, CallOutput } from '../../../lib/thread/thread-contract.js';

/** A policy to be read. */
export type PolicyOrder = {
  readonly path: string;
  readonly real: string;
  /** Its directory. */
  readonly home: string;
  readonly remoteCommands: boolean;
};

/** What the thread that looks can be asked: both take what a policy says, and as long as that takes. */
export type LookThreadContract = {
  readonly calls: {
    readonly look: (order: LookOrder) => Outcome;
    readonly load: (order: PolicyOrder) => LoadedPolicy | string;
  };
};

/** Milliseconds a rule or the reading of a policy may take: a file system that does not answer must not hold a scan. */
const MOST_LOOK_MS = 60_000;
/** Threads that are left behind in a system call that does not return; with so many of them no other one is begun. */
const MOST_STUCK = 3;
/** Megabytes the thread may hold: a policy's regex may not fill the memory of the host. */
const THREAD_MEGABYTES = { old: 192, young: 8 };

const LATE = 'it took too long';

type Calls = LookThreadContract['calls'];

export type LookThreadsParts = {
  /** Of the thread. */
  readonly module: URL;
  readonly mostMs?: number;
};

/** Reads policies and looks at this host in a thread: files, directories and regexes of a policy hold up nobody else. */
export class LookThreads implements Looker {
  readonly #parts: LookThreadsParts;
  #thread: Thread<LookThreadContract> | undefined;
  #stuck = 0;

  constructor(parts: LookThreadsParts) {
    this.#parts = parts;
  }

  async look(order: LookOrder, signal: AbortSignal): Promise<Outcome> {
    const outcome = await this.#call('look', order, signal);
    return typeof outcome === 'string' ? invalid(outcome) : outcome;
  }

  /** Reads a policy. @returns what is wrong as a text @throws the reason of the signal */
  async load(order: PolicyOrder, signal: AbortSignal): Promise<LoadedPolicy | string> {
    try {
      const loaded = await this.#call('load', order, signal);
      return loaded === LATE ? `${order.path}: ${LATE}` : loaded;
    } catch (error) {
      signal.throwIfAborted();
      return `${order.path}: it cannot be read: ${describeError(error)}`;
    }
  }

  /** @returns why there is no answer as a text */
  async #call<K extends keyof Calls & string>(
    call: K,
    order: CallInput<LookThreadContract, K>,
    signal: AbortSignal,
  ): Promise<CallOutput<LookThreadContract, K> | string> {
    signal.throwIfAborted();
    if (this.#stuck >= MOST_STUCK) return 'Too many looks at this host do not come to an end';
    const { module, mostMs = MOST_LOOK_MS } = this.#parts;
    const thread = (this.#thread ??= this.#begin(module));
    let late = false;
    const end = (): void => {
      void this.#end(thread);
    };
    const timer = setTimeout(() => {
      late = true;
      end();
    }, mostMs);
    signal.addEventListener('abort', end, { once: true });
    try {
      return await thread.call(call, order);
    } catch (error) {
      signal.throwIfAborted();
      if (!late) throw error;
      return LATE;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  #begin(module: URL): Thread<LookThreadContract> {
    const thread: Thread<LookThreadContract> = new Thread<LookThreadContract>(module, {
      title: 'the thread that looks for policies',
      data: undefined,
      memory: THREAD_MEGABYTES,
      onFailure: () => {
        if (this.#thread === thread) this.#thread = undefined;
      },
    });
    return thread;
  }

  /** Between scans there is none. */
  rest(): void {
    if (this.#thread !== undefined) void this.#end(this.#thread);
  }

  /** One in a system call that does not return is left behind. */
  async #end(thread: Thread<LookThreadContract>): Promise<void> {
    if (this.#thread === thread) this.#thread = undefined;
    this.#stuck += 1;
    await thread.close();
    this.#stuck -= 1;
  }
}
