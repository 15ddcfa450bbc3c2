import { printValue } from './json-printer.js';
import {
  JSON_ARRAY,
  JSON_FALSE,
  JSON_NULL,
  JSON_NUMBER,
  JSON_OBJECT,
  JSON_STRING,
  JSON_TRUE,
  JsonReader,
  JsonSyntaxError,
} from './json-reader.js';
import { type MemberName, MemberNames } from './member-names.js';
import { fieldNumberText } from './number-text.js';

/** What becomes of arrays: a field with their JSON text, one with their scalars between commas, or nothing. */
export type ArrayMode = 'array' | 'csv' | 'discard';

const BRACE = 0x7d;
const BRACKET = 0x5d;
/** A list of scalars as long as this gives no field (decoding.md 4.8). */
const MAX_CSV = 65536;
/** An array whose printed text is longer gives no field either: it could be a hundred times as long as the log. */
const MAX_ARRAY = 128 * 1024;

/**
 * Flattens a JSON object into names and values (decoding.md 4.8). One object serves all events: after `walk` said true,
 * the first `count` entries of `names` and what `value` gives for them are the fields, in document order.
 */
export class FieldWalker {
  readonly names: string[] = [''];
  /** Numbers are made texts when somebody asks: a log has thousands, and some take microseconds. */
  readonly #values: (string | number)[] = [''];
  count = 0;
  readonly #reader = new JsonReader();
  readonly #known = new MemberNames();
  /** The member that was read last. */
  #last = this.#known.begin();
  #discardNulls = false;
  #arrays: ArrayMode = 'array';

  /** Reads the object that begins at `from`; false when there is no JSON. Other values than objects give no fields. */
  walk(text: string, from: number, discardNulls: boolean, arrays: ArrayMode): boolean {
    this.count = 0;
    this.#discardNulls = discardNulls;
    this.#arrays = arrays;
    try {
      this.#reader.start(text, from);
      if (this.#reader.kind() === JSON_OBJECT) {
        this.#last = this.#known.begin();
        this.#walkObject(this.#last);
      }
      return true;
    } catch (error) {
      if (error instanceof JsonSyntaxError) {
        this.count = 0;
        return false;
      }
      throw error;
    }
  }

  /** Values that were read, those in arrays and objects among them. */
  get values(): number {
    return this.#reader.values;
  }

  /** Value of the field at an index below `count`. */
  value(index: number): string {
    const value = this.#values[index] ?? '';
    return typeof value === 'number' ? fieldNumberText(value) : value;
  }

  #walkObject(object: MemberName): void {
    const reader = this.#reader;
    if (!reader.open(BRACE)) {
      return;
    }
    do {
      const member = this.#readName(object);
      const { name } = member;
      const kind = reader.kind();
      switch (kind) {
        case JSON_STRING:
          this.#add(name, reader.readString());
          break;
        case JSON_NUMBER:
          this.#add(name, reader.readNumber());
          break;
        case JSON_OBJECT:
          this.#walkObject(member);
          break;
        case JSON_ARRAY:
          this.#addArray(name);
          break;
        case JSON_TRUE:
          reader.skipLiteral(kind);
          this.#add(name, 'true');
          break;
        case JSON_FALSE:
          reader.skipLiteral(kind);
          this.#add(name, 'false');
          break;
        case JSON_NULL:
          reader.skipLiteral(kind);
          if (!this.#discardNulls) {
            this.#add(name, 'null');
          }
          break;
        default:
          throw new JsonSyntaxError('no value');
      }
    } while (reader.next(BRACE));
  }

  /** Logs of one source have the same members in the same order: most names are those that came there the last time. */
  #readName(object: MemberName): MemberName {
    const { next } = this.#last;
    if (next?.written !== undefined && next.parent === object && this.#reader.skipKey(next.written)) {
      this.#last = next;
      return next;
    }
    const member = this.#known.of(object, this.#reader.readKey());
    // One that nobody looks for would be kept for nothing, and with it all behind it, whose names may be a whole log.
    if (member.written !== undefined) this.#last.next = member;
    this.#last = member;
    return member;
  }

  #add(name: string, value: string | number): void {
    this.names[this.count] = name;
    this.#values[this.count] = value;
    this.count += 1;
  }

  #addArray(name: string): void {
    if (this.#arrays === 'array') {
      const printed = printValue(this.#reader, true, MAX_ARRAY);
      if (printed !== undefined) {
        this.#add(name, printed);
      }
      return;
    }
    const text = this.#readScalars();
    if (this.#arrays === 'csv' && text !== '' && text.length < MAX_CSV) {
      this.#add(name, text);
    }
  }

  /** Scalars of an array, a comma behind each that is not its last element. */
  #readScalars(): string {
    const reader = this.#reader;
    let text = '';
    if (!reader.open(BRACKET)) {
      return text;
    }
    for (;;) {
      const scalar = this.#readScalar(text.length < MAX_CSV);
      const more = reader.next(BRACKET);
      if (scalar !== undefined) {
        text += more ? `${scalar},` : scalar;
      }
      if (!more) {
        return text;
      }
    }
  }

  /** @param counts false: the list is too long already, and numbers need no text any more */
  #readScalar(counts: boolean): string | undefined {
    const reader = this.#reader;
    const kind = reader.kind();
    switch (kind) {
      case JSON_STRING:
        return reader.readString();
      case JSON_NUMBER: {
        const value = reader.readNumber();
        return counts ? fieldNumberText(value) : undefined;
      }
      case JSON_OBJECT:
      case JSON_ARRAY:
        printValue(reader, false, 0);
        return undefined;
      default:
        return printValue(reader, false, MAX_CSV);
    }
  }
}
