import { isObject } from '../../../lib/json/is-object.js';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Makes the transformation of the format `json`: the line must be one object; it is printed without blanks, and the
 * labels of the block are added as members. Numbers and texts stay byte for byte what they are in the file.
 *
 * @param refused is told of lines that are no object
 */
export function jsonLine(
  labels: readonly { readonly key: string; readonly value: string }[],
  refused: (line: Buffer) => void,
): (bytes: Buffer) => Buffer | undefined {
  const members = labels.map(({ key, value }) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',');
  return (bytes) => {
    if (!isJsonObject(bytes)) {
      refused(bytes);
      return undefined;
    }
    const compact = withoutBlanks(bytes);
    if (members === '') {
      return compact;
    }
    const body = compact.subarray(0, -1);
    return Buffer.concat([body, Buffer.from(`${body.length > 1 ? ',' : ''}${members}}`)]);
  };
}

function isJsonObject(bytes: Buffer): boolean {
  try {
    return isObject(JSON.parse(bytes.toString('utf8')));
  } catch {
    return false;
  }
}

/** Leaves out blanks between the tokens of a text that is known to be JSON. */
function withoutBlanks(bytes: Buffer): Buffer {
  const result = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (!inText && (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))) {
      continue;
    }
    result[length++] = byte;
    if (byte === QUOTE) {
      inText = !inText;
    } else if (inText && byte === BACKSLASH) {
      result[length++] = bytes[++at] ?? 0;
    }
  }
  return result.subarray(0, length);
}
