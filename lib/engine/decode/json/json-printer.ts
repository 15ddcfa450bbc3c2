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
 * and members of objects on lines of their own, tabs before them.
 *
 * @param depth number of containers around the value
 * @throws JsonSyntaxError
 */
export function printValue(reader: JsonReader, formatted: boolean, depth = 0): string {
  const kind = reader.kind();
  switch (kind) {
    case JSON_STRING:
      return jsonString(reader.readString());
    case JSON_NUMBER:
      return jsonNumber(reader.readNumber());
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
      reader.skipLiteral(kind);
      return kind === JSON_TRUE ? 'true' : kind === JSON_FALSE ? 'false' : 'null';
    case JSON_OBJECT:
      return printObject(reader, formatted, depth + 1);
    case JSON_ARRAY:
      return printArray(reader, formatted, depth + 1);
    case JSON_NONE:
    default:
      throw new JsonSyntaxError('no value');
  }
}

function printArray(reader: JsonReader, formatted: boolean, depth: number): string {
  let text = '[';
  if (reader.open(BRACKET)) {
    text += printValue(reader, formatted, depth);
    while (reader.next(BRACKET)) {
      text += (formatted ? ', ' : ',') + printValue(reader, formatted, depth);
    }
  }
  return `${text}]`;
}

function printObject(reader: JsonReader, formatted: boolean, depth: number): string {
  const lineStart = formatted ? `\n${'\t'.repeat(depth)}` : '';
  const lineEnd = formatted ? `\n${'\t'.repeat(depth - 1)}` : '';
  const colon = formatted ? ':\t' : ':';
  let text = '{';
  if (reader.open(BRACE)) {
    text += lineStart + jsonString(reader.readKey()) + colon + printValue(reader, formatted, depth);
    while (reader.next(BRACE)) {
      text += `,${lineStart}${jsonString(reader.readKey())}${colon}${printValue(reader, formatted, depth)}`;
    }
  }
  return `${text + lineEnd}}`;
}
