import { createHash } from 'node:crypto';
import type { WholeResult } from './envelope.js';
import { jsonBytes } from './send-result.js';

/** Bytes of all answers that are kept: some 70 pages of 500 rules. Stops queries that never come again from filling the memory. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Answers that are kept, however small. */
const MAX_ANSWERS = 1000;
/** Bytes of one answer: a larger one would take the place of too many others. */
const MAX_ANSWER_BYTES = MAX_BYTES / 4;
/** Characters of a key: of a longer query nobody expects that it comes again. */
const MAX_KEY_LENGTH = 4096;

type PreparedAnswer = WholeResult & { readonly kind: 'raw' };

/**
 * Answers that were written once and are given again as bytes, with an ETag, for as long as what they were made of is the
 * same object: whoever sees other things has other objects, so no answer reaches somebody who may not see what is in it.
 */
export class PreparedAnswers {
  readonly #answers = new Map<string, PreparedAnswer>();
  readonly #sources = new WeakMap<object, number>();
  #sourceCount = 0;
  #bytes = 0;

  /** Answers that are kept now. */
  get size(): number {
    return this.#answers.size;
  }

  /**
   * The answer that was made of this source by this request, or the one that `make` makes. What `make` throws, and what is
   * not a JSON answer with status 200, is not kept.
   * @param source what the answer is made of; another object when anything of it differs
   * @param request operation and checked parameters: all else that the answer depends on
   */
  of(
    source: object,
    { operation, parameters }: { readonly operation: { readonly id: string }; readonly parameters: object },
    make: () => WholeResult,
  ): WholeResult {
    const key = `${this.#numberOf(source)} ${operation.id} ${JSON.stringify(parameters)}`;
    const known = this.#answers.get(key);
    if (known !== undefined) {
      // The one that was not asked for the longest time goes first.
      this.#answers.delete(key);
      this.#answers.set(key, known);
      return known;
    }
    const result = make();
    if (result.kind !== 'json' || result.status !== 200) return result;
    const pretty = (parameters as { readonly pretty?: unknown }).pretty === true;
    const body = jsonBytes(result, pretty);
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
    const prepared: PreparedAnswer = { kind: 'raw', status: 200, contentType: 'application/json', body, etag };
    if (body.length <= MAX_ANSWER_BYTES && key.length <= MAX_KEY_LENGTH) this.#keep(key, prepared);
    return prepared;
  }

  #numberOf(source: object): number {
    let number = this.#sources.get(source);
    if (number === undefined) this.#sources.set(source, (number = this.#sourceCount += 1));
    return number;
  }

  #keep(key: string, prepared: PreparedAnswer): void {
    this.#answers.set(key, prepared);
    this.#bytes += prepared.body.length;
    for (const [oldest, { body }] of this.#answers) {
      if (this.#bytes <= MAX_BYTES && this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
      this.#bytes -= body.length;
    }
  }
}
