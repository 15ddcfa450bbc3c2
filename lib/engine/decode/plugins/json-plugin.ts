import type { Diagnostics, EngineEvent, StaticField } from '../../event.js';
import { type Decoder, OFFSET_AFTER_PARENT, OFFSET_AFTER_PREMATCH, OFFSET_NONE } from '../decoder-set.js';
import { type ArrayMode, FieldWalker } from '../json/field-walker.js';
import { setStaticField } from '../static-field.js';
import type { Plugin, PluginOffsets } from './plugin.js';

/** Top-level keys that are static members; compared exactly. `user` has a rule of its own. */
const STATIC_KEYS: ReadonlyMap<string, StaticField> = new Map([
  ['srcip', 'srcip'],
  ['dstip', 'dstip'],
  ['srcport', 'srcport'],
  ['dstport', 'dstport'],
  ['protocol', 'protocol'],
  ['action', 'action'],
  ['srcuser', 'srcuser'],
  ['dstuser', 'dstuser'],
  ['id', 'id'],
  ['status', 'status'],
  ['url', 'url'],
  ['data', 'data'],
  ['extra_data', 'extra_data'],
  ['systemname', 'system_name'],
]);
const LONGEST_STATIC_KEY = 10;

/** `JSON_Decoder`: members of a JSON object become fields (decoding.md 4.8). */
export class JsonPlugin implements Plugin {
  readonly #orderSize: number;
  readonly #diagnostics: Diagnostics;
  readonly #walker = new FieldWalker();

  /** @param orderSize most dynamic fields of an event */
  constructor(orderSize: number, diagnostics: Diagnostics) {
    this.#orderSize = orderSize;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent, decoder: Decoder, offsets: PluginOffsets): void {
    const start = startOf(decoder, offsets);
    if (start === undefined) {
      this.#diagnostics.error('At JSON Decoder: invalid offset value.', decoder.place);
    } else if (start >= 0) {
      this.decodeText(event, event.log, start, decoder.discardNulls, decoder.csvArrays ? 'csv' : 'array');
    }
  }

  /** Sets the event's members and fields from the object that begins in `text` at `from`. */
  decodeText(event: EngineEvent, text: string, from: number, discardNulls: boolean, arrays: ArrayMode): void {
    const walker = this.#walker;
    if (!walker.walk(text, from, discardNulls, arrays)) {
      return;
    }
    const { names, values, count } = walker;
    let dropped = false;
    for (let i = 0; i < count; i += 1) {
      const name = names[i] ?? '';
      const value = values[i] ?? '';
      const field = name.length <= LONGEST_STATIC_KEY ? STATIC_KEYS.get(name) : undefined;
      if (field !== undefined) {
        setStaticField(event, field, value);
      } else if (name === 'user' && (event.dstuser === undefined || event.dstuser === '')) {
        event.dstuser = value;
      } else if (event.fieldNames.length < this.#orderSize) {
        event.fieldNames.push(name);
        event.fieldValues.push(value);
      } else {
        dropped = true;
      }
    }
    // Said once an event and not once a field: a log of thousands of members would fill the manager's own log.
    if (dropped) {
      this.#diagnostics.error('Too many fields for JSON decoder.');
    }
  }
}

/** Undefined for the offset that has no meaning here. */
function startOf(decoder: Decoder, offsets: PluginOffsets): number | undefined {
  switch (decoder.pluginOffset) {
    case OFFSET_NONE:
      return 0;
    case OFFSET_AFTER_PARENT:
      return offsets.afterParent;
    case OFFSET_AFTER_PREMATCH:
      return offsets.afterPrematch;
    default:
      return undefined;
  }
}
