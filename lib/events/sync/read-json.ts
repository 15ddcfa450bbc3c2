import { isUtf8 } from 'node:buffer';
import { isObject } from '../../json/is-object.js';

/** Members of an object of a message, by their names. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A message as JSON. Paths need not be UTF-8: its texts are turned to bytes, and bytes to what is sent back, with the
 * methods here.
 */
export type JsonMessage = {
  readonly value: JsonObject;
  /** The bytes that a text of the message stands for. */
  readonly bytes: (text: string) => Buffer;
  /** The text as it is shown. */
  readonly text: (text: string) => string;
};

const AS_UTF8 = { bytes: (text: string) => Buffer.from(text, 'utf8'), text: (text: string) => text };
const AS_BYTES = {
  bytes: (text: string) => Buffer.from(text, 'latin1'),
  text: (text: string) => Buffer.from(text, 'latin1').toString('utf8'),
};

/**
 * A string, with its escapes, or a number that may be larger than a number can hold. One without an end is a string, too: looked for
 * again behind each of its quotation marks, 64 KiB of them would take seconds.
 */
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.?)*"?|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/gs;
/** What a long number must look like outside of a string; a string may hold the same. */
const LONG_NUMBER = /[[:,]\s*-?\d{16}/;

/**
 * Reads a message. Whole numbers of sixteen digits and more are given as texts, since inodes have up to twenty.
 * @returns undefined when it is no JSON object
 */
export function readJson(message: Uint8Array): JsonMessage | undefined {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length);
  const isText = isUtf8(bytes);
  let text = isText ? bytes.toString('utf8') : escapesAsBytes(bytes.toString('latin1'));
  if (LONG_NUMBER.test(text)) {
    text = text.replace(STRING_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  return { value, ...(isText ? AS_UTF8 : AS_BYTES) };
}

/** Escapes of characters become those of their bytes: each character of the text is a byte then. */
function escapesAsBytes(text: string): string {
  let high = '';
  return text.replace(ESCAPE, (escape, code: string | undefined, offset: number) => {
    if (code === undefined) return escape;
    const unit = Number.parseInt(code, 16);
    const isHigh = unit >= 0xd800 && unit < 0xdc00;
    if (isHigh && /^\\u[dD][c-fC-F]/.test(text.slice(offset + escape.length, offset + escape.length + 4))) {
      high = String.fromCharCode(unit);
      return '';
    }
    const character = high + String.fromCharCode(unit);
    high = '';
    if (unit < 0x80) return escape;
    return Buffer.from(character, 'utf8').toString('latin1');
  });
}
