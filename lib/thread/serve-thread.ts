import { parentPort, workerData } from 'node:worker_threads';
import type { CallInput, CallOutput, JobContract, ThreadContract, ThreadOrder, ThreadWord } from './thread-contract.js';

/** Says something to the daemon; resolves when it has taken it. */
export type Tell<C extends ThreadContract> = (news: C['news']) => Promise<void>;

/** What a thread does at each call. */
type Handlers<C extends ThreadContract> = {
  readonly [K in keyof C['calls']]: (input: CallInput<C, K>) => CallOutput<C, K> | Promise<CallOutput<C, K>>;
};

/**
 * The thread's side of `Thread`, called once by its module: answers calls in their order, one after the other. A handler
 * that throws ends the thread, for nobody knows what it leaves behind; the daemon gets its error.
 * @param begin makes the handlers out of what the thread is begun with
 */
export function serveThread<C extends ThreadContract>(begin: (data: C['data'], tell: Tell<C>) => Handlers<C>): void {
  const port = parentPort;
  if (port === null) throw new Error('not in a thread');
  const say = (word: ThreadWord): void => port.postMessage(word);
  const untaken = new Map<number, () => void>();
  let lastNumber = 0;
  const tell: Tell<C> = (news) =>
    new Promise((resolve) => {
      lastNumber += 1;
      untaken.set(lastNumber, resolve);
      say({ news, number: lastNumber });
    });
  const handlers: Readonly<Record<string, (input: never) => unknown>> = begin(workerData as C['data'], tell);
  let last = Promise.resolve();
  port.on('message', (order: ThreadOrder) => {
    if ('taken' in order) {
      untaken.get(order.taken)?.();
      untaken.delete(order.taken);
    } else {
      last = last.then(async () => {
        say({ id: order.id, output: await handlers[order.call]?.(order.input as never) });
      });
    }
  });
}

/** The thread's side of `runInThread`. */
export function serveJob<Input, Output, News = never>(
  run: (input: Input, tell: Tell<JobContract<Input, Output, News>>) => Output | Promise<Output>,
): void {
  serveThread<JobContract<Input, Output, News>>((_, tell) => ({ run: (input) => run(input, tell) }));
}
