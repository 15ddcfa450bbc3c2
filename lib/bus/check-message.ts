import { MAX_DEPTH, MAX_VALUES } from './bus-limits.js';

/** Why a message is refused before it is decoded. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

/**
 * Checks that bytes are exactly one msgpack value, see `endOfValue`.
 * @throws MessageError with the offset
 */
export function checkMessage(bytes: Uint8Array): void {
  const end = endOfValue(bytes, 0);
  if (end !== bytes.length) throw new MessageError(`message goes on after its value, at byte ${end}`);
}

/**
 * Checks that a msgpack value begins at a byte that is safe to decode: complete, no deeper than `MAX_DEPTH`, no more
 * values than `MAX_VALUES`, no extension types (the decoder would run them: records, pointers, errors, expressions),
 * and every announced length backed by bytes (the decoder allocates what a header announces).
 * @returns where it ends
 * @throws MessageError with the offset
 */
// oxlint-disable-next-line max-lines-per-function -- passed by every byte of the bus: tables of headers take a quarter longer
export function endOfValue(bytes: Uint8Array, from: number): number {
  const size = bytes.length;
  /** Values still expected at every open level; `pending` is their sum. */
  const open: number[] = [1];
  let pending = 1;
  let values = 0;
  let position = from;
  while (pending > 0) {
    const depth = open.length - 1;
    const expected = open[depth] ?? 0;
    if (expected === 0) {
      open.pop();
      continue;
    }
    open[depth] = expected - 1;
    pending -= 1;
    if (position >= size) throw new MessageError(`message ends at byte ${size}, inside a value`);
    if (++values > MAX_VALUES) throw new MessageError(`message has more than ${MAX_VALUES} values`);
    const start = position;
    const head = bytes[position++] ?? 0;
    let children = 0;
    if (head < 0x80 || head >= 0xe0) continue;
    if (head < 0x90) {
      children = (head & 0x0f) * 2;
    } else if (head < 0xa0) {
      children = head & 0x0f;
    } else if (head < 0xc0) {
      position += head & 0x1f;
    } else {
      switch (head) {
        case 0xc0: // nil
        case 0xc2: // false
        case 0xc3: // true
          break;
        case 0xcc: // uint8
        case 0xd0: // int8
          position += 1;
          break;
        case 0xcd: // uint16
        case 0xd1: // int16
          position += 2;
          break;
        case 0xca: // float32
        case 0xce: // uint32
        case 0xd2: // int32
          position += 4;
          break;
        case 0xcb: // float64
        case 0xcf: // uint64
        case 0xd3: // int64
          position += 8;
          break;
        case 0xc4: // bin8
        case 0xd9: // str8
          position += 1 + readLength(bytes, position, 1);
          break;
        case 0xc5: // bin16
        case 0xda: // str16
          position += 2 + readLength(bytes, position, 2);
          break;
        case 0xc6: // bin32
        case 0xdb: // str32
          position += 4 + readLength(bytes, position, 4);
          break;
        case 0xdc: // array16
          children = readLength(bytes, position, 2);
          position += 2;
          break;
        case 0xdd: // array32
          children = readLength(bytes, position, 4);
          position += 4;
          break;
        case 0xde: // map16
          children = 2 * readLength(bytes, position, 2);
          position += 2;
          break;
        case 0xdf: // map32
          children = 2 * readLength(bytes, position, 4);
          position += 4;
          break;
        default:
          throw new MessageError(`message has an unsupported type 0x${head.toString(16)} at byte ${start}`);
      }
    }
    if (position > size) throw new MessageError(`value at byte ${start} is longer than the message`);
    if (children > 0) {
      pending += children;
      // Each value takes a byte at least, so a header that announces more than is left cannot be true.
      if (pending > size - position) {
        throw new MessageError(`value at byte ${start} announces more than the message holds`);
      }
      if (open.length > MAX_DEPTH) {
        throw new MessageError(`message is nested deeper than ${MAX_DEPTH} at byte ${start}`);
      }
      open.push(children);
    }
  }
  return position;
}

function readLength(bytes: Uint8Array, position: number, width: 1 | 2 | 4): number {
  let length = 0;
  for (let index = position; index < position + width; index += 1) length = length * 256 + (bytes[index] ?? 0);
  return length;
}
