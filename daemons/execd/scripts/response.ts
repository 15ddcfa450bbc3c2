import type { Tools } from './tools.js';

/** What a response of ours works with. */
export type ResponseHost = {
  readonly tools: Tools;
  /** The home, where it may keep what it has to remember. */
  readonly home: string;
  /** The directory that is `/etc`. */
  readonly etc: string;
  /** Has the supervisor of the home restart everything. @throws Error */
  readonly restart: () => Promise<void>;
};

/** Says what went wrong; undefined when nothing did. */
export type Outcome = string | undefined;

/** A response of ours. Both can be done twice: the second time nothing changes. */
export interface Response {
  /** What of the alert it is about; `nothing` for one that needs no alert. */
  readonly subject: 'address' | 'user' | 'nothing';
  add(subject: string, host: ResponseHost): Outcome | Promise<Outcome>;
  /** Without it there is nothing to undo. */
  remove?(subject: string, host: ResponseHost): Outcome | Promise<Outcome>;
}
