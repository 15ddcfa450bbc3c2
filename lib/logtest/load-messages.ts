import type { Diagnostics, SourcePlace } from '../engine/event.js';
import type { LoadMessage } from '../engine/explain/explain-why.js';

/** Messages kept of one load; a ruleset with more has lost its author long before. */
const MAX_MESSAGES = 10_000;

/** Hands on what a load reports, and keeps its warnings and errors: they say why rules are missing. */
export class LoadMessages implements Diagnostics {
  readonly #all: LoadMessage[] = [];
  readonly #next: Diagnostics;

  constructor(next: Diagnostics) {
    this.#next = next;
  }

  /** In the order in which they came. */
  get all(): readonly LoadMessage[] {
    return this.#all;
  }

  debug(message: string, place?: SourcePlace): void {
    this.#next.debug(message, place);
  }

  info(message: string, place?: SourcePlace): void {
    this.#next.info(message, place);
  }

  warn(message: string, place?: SourcePlace): void {
    this.#keep(message, place);
    this.#next.warn(message, place);
  }

  error(message: string, place?: SourcePlace): void {
    this.#keep(message, place);
    this.#next.error(message, place);
  }

  #keep(text: string, place: SourcePlace | undefined): void {
    if (this.#all.length < MAX_MESSAGES) this.#all.push({ text, place });
  }
}
