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

/** A value of lenient JSON; objects are maps, so that no member's name means anything to JavaScript. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

const BRACE = 0x7d;
const BRACKET = 0x5d;

/**
 * Parses lenient JSON (decoding.md 4.8) from a byte string; what follows the first value is ignored, and of members with
 * equal names the first counts, as for the reference's look-ups.
 *
 * @returns undefined when it is no JSON
 */
export function parseJson(text: string, from = 0): JsonValue | undefined {
  const reader = new JsonReader();
  try {
    reader.start(text, from);
    return readValue(reader);
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      return undefined;
    }
    throw error;
  }
}

/** As `parseJson`, for texts that must be an object. */
export function parseJsonObject(text: string, from = 0): JsonObject | undefined {
  const value = parseJson(text, from);
  return value instanceof Map ? value : undefined;
}

function readValue(reader: JsonReader): JsonValue {
  const kind = reader.kind();
  switch (kind) {
    case JSON_STRING:
      return reader.readString();
    case JSON_NUMBER:
      return reader.readNumber();
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
      reader.skipLiteral(kind);
      return kind === JSON_NULL ? null : kind === JSON_TRUE;
    case JSON_ARRAY:
      return readArray(reader);
    case JSON_OBJECT:
      return readObject(reader);
    default:
      throw new JsonSyntaxError('no value');
  }
}

function readArray(reader: JsonReader): JsonValue[] {
  const values: JsonValue[] = [];
  if (reader.open(BRACKET)) {
    do {
      values.push(readValue(reader));
    } while (reader.next(BRACKET));
  }
  return values;
}

function readObject(reader: JsonReader): JsonObject {
  const members = new Map<string, JsonValue>();
  if (reader.open(BRACE)) {
    do {
      const key = reader.readKey();
      const value = readValue(reader);
      if (!members.has(key)) {
        members.set(key, value);
      }
    } while (reader.next(BRACE));
  }
  return members;
}
