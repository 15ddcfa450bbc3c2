import { fromByteString } from '../../../lib/engine/byte-string.js';
import type { Diagnostics, SourcePlace } from '../../../lib/engine/event.js';
import type { LoadMessage } from '../../../lib/engine/explain/explain-why.js';
import type { TestsMessage } from './tests-order.js';

/** Messages kept at most; a ruleset with more has lost its author long before. */
const MAX_MESSAGES = 500;
/** Characters of each that are answered. */
const MAX_TEXT = 4000;

/** What is said while files are read and a ruleset is loaded, to be answered. */
export class SpokenMessages implements Diagnostics {
  readonly #messages: TestsMessage[] = [];
  readonly #spoken: LoadMessage[] = [];

  /** In the order in which they came, each once. */
  get messages(): readonly TestsMessage[] {
    return this.#messages;
  }

  /** The same as the engine says it. */
  get spoken(): readonly LoadMessage[] {
    return this.#spoken;
  }

  debug(): void {}

  info(): void {}

  warn(message: string, place?: SourcePlace): void {
    this.#add('warning', message, place);
  }

  error(message: string, place?: SourcePlace): void {
    this.#add('error', message, place);
  }

  #add(severity: TestsMessage['severity'], text: string, place: SourcePlace | undefined): void {
    if (this.#messages.length >= MAX_MESSAGES) return;
    this.#spoken.push({ text, place });
    const pattern = place?.pattern === undefined ? '' : ` ${place.pattern}`;
    this.#messages.push({
      severity,
      text: fromByteString((text + pattern).slice(0, MAX_TEXT)),
      ...(place === undefined ? {} : { file: place.file }),
      ...(place === undefined || place.line === 0 ? {} : { line: place.line }),
      ...(place?.ruleId === undefined ? {} : { rule: place.ruleId }),
      ...(place?.decoder === undefined ? {} : { decoder: fromByteString(place.decoder) }),
    });
  }
}

const silent = (): void => {};
/** What rules complain of while tests run is seen in their results. */
export const SILENT: Diagnostics = { debug: silent, info: silent, warn: silent, error: silent };
