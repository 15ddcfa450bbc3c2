import { BusError } from './bus-error.js';

/** A call as it travels: msgpack `{id, method, params, deadline?}` (architecture.md 4 "Requests"). */
export type RequestMessage = {
  /** Chosen by the caller, answered with the result. */
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
  /**
   * Milliseconds of the host's monotonic clock after which nobody waits for the answer: a server that was held up does
   * not carry out what its caller has given up.
   */
  readonly deadline?: number;
};

/** An answer as it travels: `{id, result}` or `{id, error: {code, message}}`. */
export type AnswerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly code: string; readonly message: string } };

const MAX_METHOD_LENGTH = 128;

/** Monotonic clock of the host, the same in every process, in milliseconds. */
export function hostClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** The id of something that may be a request or an answer; undefined when there is none to answer to. */
export function messageId(value: unknown): number | undefined {
  const id = member(value, 'id');
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

/** Reads a request that has an id. @throws BusError `bad_request` */
export function readRequest(id: number, value: unknown): RequestMessage {
  const method = member(value, 'method');
  const deadline = member(value, 'deadline');
  if (typeof method !== 'string' || method.length > MAX_METHOD_LENGTH) {
    throw new BusError(
      'bad_request',
      `request needs a member 'method', a text of at most ${MAX_METHOD_LENGTH} characters`,
    );
  }
  if (deadline !== undefined && typeof deadline !== 'number') {
    throw new BusError('bad_request', `member 'deadline' of a request is a number`);
  }
  const params = member(value, 'params');
  return deadline === undefined ? { id, method, params } : { id, method, params, deadline };
}

/** Reads an answer; undefined when it is none. */
export function readAnswer(value: unknown): AnswerMessage | undefined {
  const id = messageId(value);
  if (id === undefined) return undefined;
  const error = member(value, 'error');
  if (error === undefined) return { id, result: member(value, 'result') };
  const code = member(error, 'code');
  const message = member(error, 'message');
  return typeof code === 'string' && typeof message === 'string' ? { id, error: { code, message } } : undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
