import type { MatchContext } from '../../../patterns/matcher.js';
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
/**
 * Bytes of the names and values of an event's fields: twice the longest log. Names repeat those of all objects around
 * them, so that a log of 64 KB could have a hundred times as much in its fields, and in its alert.
 */
const MAX_FIELD_BYTES = 128 * 1024;
/** Steps that a value of the object takes, beside those of the text. */
const VALUE_STEPS = 4;
/** Bytes of text that are read in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 2;

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

  decode(event: EngineEvent, decoder: Decoder, offsets: PluginOffsets, context: MatchContext): void {
    const start = startOf(decoder, offsets);
    if (start === undefined) {
      this.#diagnostics.error('At JSON Decoder: invalid offset value.', decoder.place);
    } else if (start >= 0) {
      this.decodeText(event, event.log, start, decoder.discardNulls, decoder.csvArrays ? 'csv' : 'array');
      context.stepsLeft -= ((event.log.length - start) >> BYTES_A_STEP_SHIFT) + VALUE_STEPS * this.#walker.values;
    }
  }

  /** Sets the event's members and fields from the object that begins in `text` at `from`. */
  decodeText(event: EngineEvent, text: string, from: number, discardNulls: boolean, arrays: ArrayMode): void {
    const walker = this.#walker;
    if (!walker.walk(text, from, discardNulls, arrays)) {
      return;
    }
    const { names, count } = walker;
    let dropped = false;
    let room = MAX_FIELD_BYTES - event.fieldBytes;
    for (let i = 0; i < count; i += 1) {
      const name = names[i] ?? '';
      const field = name.length <= LONGEST_STATIC_KEY ? STATIC_KEYS.get(name) : undefined;
      if (field !== undefined) {
        setStaticField(event, field, walker.value(i));
      } else if (name === 'user' && (event.dstuser === undefined || event.dstuser === '')) {
        event.dstuser = walker.value(i);
      } else if (event.fieldNames.length < this.#orderSize && room > name.length) {
        const text = walker.value(i);
        room -= name.length + text.length;
        if (room >= 0) {
          event.fieldBytes += name.length + text.length;
          event.fieldNames.push(name);
          event.fieldValues.push(text);
        } else {
          dropped = true;
        }
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
