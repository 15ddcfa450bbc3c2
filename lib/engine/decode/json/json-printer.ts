import { jsonNumber, jsonString } from '../../json-text.js';
import {
  JSON_ARRAY,
  JSON_FALSE,
  JSON_NONE,
  JSON_NULL,
  JSON_NUMBER,
  JSON_OBJECT,
  JSON_STRING,
  JSON_TRUE,
  type JsonReader,
  JsonSyntaxError,
} from './json-reader.js';

const BRACE = 0x7d;
const BRACKET = 0x5d;

/**
 * Prints the value at the reader's position again: compact, or as the reference prints for people, with `, ` in arrays
 * and members of objects on lines of their own, tabs before them. The reader is then behind the value.
 *
 * @param most bytes that the text may have: one tab a level makes a hundred times as much of a log that nests deeply
 * @returns undefined when the text would be longer
 * @throws JsonSyntaxError
 */
export function printValue(reader: JsonReader, formatted: boolean, most: number): string | undefined {
  const room = { left: most };
  const text = print(reader, formatted, 0, room);
  return room.left < 0 ? undefined : text;
}

/** Bytes that may still be printed; below 0 values are read on and nothing is printed any more. */
type Room = { left: number };

function print(reader: JsonReader, formatted: boolean, depth: number, room: Room): string {
  const kind = reader.kind();
  switch (kind) {
    case JSON_STRING: {
      const text = reader.readString();
      return room.left < 0 ? '' : taken(jsonString(text), room);
    }
    case JSON_NUMBER: {
      const plain = reader.readPlainNumber();
      if (plain !== undefined) return taken(plain, room);
      const value = reader.readNumber();
      return room.left < 0 ? '' : taken(jsonNumber(value), room);
    }
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
      reader.skipLiteral(kind);
      return taken(kind === JSON_TRUE ? 'true' : kind === JSON_FALSE ? 'false' : 'null', room);
    case JSON_OBJECT:
      return printObject(reader, formatted, depth + 1, room);
    case JSON_ARRAY:
      return printArray(reader, formatted, depth + 1, room);
    case JSON_NONE:
    default:
      throw new JsonSyntaxError('no value');
  }
}

function taken(text: string, room: Room): string {
  room.left -= text.length;
  return text;
}

function printArray(reader: JsonReader, formatted: boolean, depth: number, room: Room): string {
  const comma = formatted ? ', ' : ',';
  let text = '[';
  room.left -= 2;
  if (reader.open(BRACKET)) {
    text += print(reader, formatted, depth, room);
    while (reader.next(BRACKET)) {
      room.left -= comma.length;
      text += comma + print(reader, formatted, depth, room);
    }
  }
  return room.left < 0 ? '' : `${text}]`;
}

function printObject(reader: JsonReader, formatted: boolean, depth: number, room: Room): string {
  const lineStart = formatted ? `\n${'\t'.repeat(depth)}` : '';
  const lineEnd = formatted ? `\n${'\t'.repeat(depth - 1)}` : '';
  const colon = formatted ? ':\t' : ':';
  let text = '{';
  room.left -= 2 + lineEnd.length;
  if (reader.open(BRACE)) {
    let comma = '';
    do {
      const key = jsonString(reader.readKey());
      room.left -= comma.length + lineStart.length + key.length + colon.length;
      const value = print(reader, formatted, depth, room);
      if (room.left >= 0) text += comma + lineStart + key + colon + value;
      comma = ',';
    } while (reader.next(BRACE));
  }
  return room.left < 0 ? '' : `${text + lineEnd}}`;
}
