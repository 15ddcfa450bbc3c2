import type { Looker } from '../../../lib/sca/evaluate.js';
import { invalid, type Outcome } from '../../../lib/sca/finding.js';
import type { LookOrder } from '../../../lib/sca/look.js';
import { Thread } from '../../../lib/thread/thread.js';

/** What the thread that looks can be asked. */
export type LookThreadContract = { readonly calls: { readonly look: (order: LookOrder) => Outcome } };

/** Milliseconds a rule may take: a file system that does not answer must not hold a scan. */
const MOST_LOOK_MS = 60_000;
/** Threads that are left behind in a system call that does not return; with so many of them no other one is begun. */
const MOST_STUCK = 3;
/** Megabytes the thread may hold: a policy's regex may not fill the memory of the host. */
const THREAD_MEGABYTES = { old: 192, young: 8 };

export type LookThreadsParts = {
  /** Of the thread. */
  readonly module: URL;
  readonly mostMs?: number;
};

/** Looks at this host in a thread: files, directories and regexes of a policy hold up nobody else. */
export class LookThreads implements Looker {
  readonly #parts: LookThreadsParts;
  #thread: Thread<LookThreadContract> | undefined;
  #stuck = 0;

  constructor(parts: LookThreadsParts) {
    this.#parts = parts;
  }

  async look(order: LookOrder, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    if (this.#stuck >= MOST_STUCK) return invalid('Too many looks at this host do not come to an end');
    const { module, mostMs = MOST_LOOK_MS } = this.#parts;
    this.#thread ??= new Thread<LookThreadContract>(module, {
      title: 'the thread that looks for policies',
      data: undefined,
      memory: THREAD_MEGABYTES,
      onFailure: () => {
        this.#thread = undefined;
      },
    });
    const thread = this.#thread;
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
      return await thread.call('look', order);
    } catch (error) {
      signal.throwIfAborted();
      if (!late) throw error;
      return invalid(`It took more than ${String(mostMs / 1000)} s`);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
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
