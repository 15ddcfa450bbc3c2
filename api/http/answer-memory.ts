import { createHash } from 'node:crypto';
import type { WholeResult } from './envelope.js';

/** How long an answer is remembered, milliseconds (architecture.md 4 "Events"). */
const REMEMBER_MS = 10 * 60_000;
/** Answers remembered at most; the rate limit of /events keeps the number far below it. */
const MAX_REMEMBERED = 10_000;
/**
 * Bytes of remembered answers: one repeats the events that are too large, and requests of nothing but such would fill the
 * memory with gigabytes. What is forgotten early is analysed once all the same: svc-analysisd knows the keys, too.
 */
const MAX_BYTES = 16 * 1024 * 1024;

type RememberedAnswer = {
  readonly fingerprint: string;
  readonly answer: Promise<WholeResult>;
  readonly at: number;
  /** 0 until the answer is there. */
  bytes: number;
};

/** Thrown when a key comes again with another body: answering the first one would lose events. */
export class IdempotencyConflictError extends Error {
  override readonly name = 'IdempotencyConflictError';
}

/** Answers of requests with an `Idempotency-Key`, so that a repeated request is answered and not carried out again. */
export class AnswerMemory {
  readonly #answers = new Map<string, RememberedAnswer>();
  readonly #now: () => number;
  #bytes = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The remembered answer, the one of the same request under way, or that of `work`. A failure is not remembered.
   * @param key unique to user and client key
   * @param body what the request asks for
   * @throws IdempotencyConflictError
   */
  answer(key: string, body: unknown, work: () => Promise<WholeResult>): Promise<WholeResult> {
    this.#forgetOld();
    const fingerprint = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
    const known = this.#answers.get(key);
    if (known !== undefined) {
      if (known.fingerprint !== fingerprint) {
        throw new IdempotencyConflictError('The Idempotency-Key was used for another request');
      }
      return known.answer;
    }
    const answer = work();
    const entry: RememberedAnswer = { fingerprint, answer, at: this.#now(), bytes: 0 };
    this.#answers.set(key, entry);
    answer.then(
      (result) => {
        if (this.#answers.get(key) !== entry) return;
        entry.bytes = sizeOf(result);
        this.#bytes += entry.bytes;
        this.#forgetOld();
      },
      () => {
        if (this.#answers.get(key) === entry) this.#answers.delete(key);
      },
    );
    return answer;
  }

  /** Entries are in the order of their times. */
  #forgetOld(): void {
    const limit = this.#now() - REMEMBER_MS;
    for (const [key, { at, bytes }] of this.#answers) {
      if (at > limit && this.#answers.size < MAX_REMEMBERED && this.#bytes <= MAX_BYTES) break;
      this.#answers.delete(key);
      this.#bytes -= bytes;
    }
  }
}

/** Characters of an answer, about its bytes. */
function sizeOf({ kind, body }: WholeResult): number {
  return kind === 'raw' ? body.length : JSON.stringify(body).length;
}
