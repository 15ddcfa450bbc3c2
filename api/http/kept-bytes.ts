import { isObject } from '../../lib/json/is-object.js';
import { jsonLine } from './json-text.js';

/**
 * What items that never change look like in an answer, each written once, when it is asked for the first time. What was made
 * for one answer, such as an item with selected fields, is forgotten with it.
 */
export class KeptBytes {
  readonly #bytes = new WeakMap<object, Buffer>();

  /** The item as `jsonLine` writes it. */
  of(item: unknown): Buffer {
    if (!isObject(item)) return jsonLine(item);
    let bytes = this.#bytes.get(item);
    if (bytes === undefined) this.#bytes.set(item, (bytes = jsonLine(item)));
    return bytes;
  }
}
