/**
 * What a thread is begun with and does, as a type that both sides name: `Thread` (thread.ts) or `runInThread` in the daemon,
 * `serveThread` or `serveJob` in the module of the thread. All of it crosses by structured clone.
 */
export type ThreadContract = {
  /** What it is begun with. */
  readonly data?: unknown;
  /** What it can be asked, by name: a function from the question to the plain answer, however the thread comes to it. */
  readonly calls: Readonly<Record<string, (input: never) => unknown>>;
  /** What it says without being asked. */
  readonly news?: unknown;
};

/** Contract of a thread that does one piece of work and is gone. */
export type JobContract<Input, Output, News = never> = {
  readonly calls: { readonly run: (input: Input) => Output };
  readonly news: News;
};

/** What a call takes. */
export type CallInput<C extends ThreadContract, K extends keyof C['calls']> = Parameters<C['calls'][K]>[0];

/** What it answers. */
export type CallOutput<C extends ThreadContract, K extends keyof C['calls']> = ReturnType<C['calls'][K]>;

/** To the thread: a call, or that a piece of news was taken. Ids count from 1. */
export type ThreadOrder =
  | { readonly id: number; readonly call: string; readonly input: unknown }
  | { readonly taken: number };

/** From the thread: the answer to a call, or news. */
export type ThreadWord =
  | { readonly id: number; readonly output: unknown }
  | { readonly news: unknown; readonly number: number };
