import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';

const deflateAside = promisify(deflateRaw);
const inflateAside = promisify(inflateRaw);

/** Less than that is made small at once, bytes: in a thread it takes several times as long, most of which is asking for it. */
const SMALL_BYTES = 32 * 1024;
/** The same of what was made small: it becomes a thousand times as much at most. */
const SMALL_DEFLATED_BYTES = 4 * 1024;
/** Stops a small message from becoming a large one: as much as the bus takes. */
const MAX_INFLATED_BYTES = 32 * 1024 * 1024;
const LEVEL = 1;
/** For small messages: the memory that is set up for each one takes longer than the message. */
const SMALL = { level: LEVEL, windowBits: 13, memLevel: 5 };

/** Makes a message small, quickly rather than well. */
export async function deflate(plain: Buffer): Promise<Buffer> {
  return plain.length < SMALL_BYTES ? deflateRawSync(plain, SMALL) : await deflateAside(plain, { level: LEVEL });
}

/** @throws Error when the bytes are none of `deflate`, or become more than the bus takes */
export async function inflate(bytes: Buffer): Promise<Buffer> {
  const limit = { maxOutputLength: MAX_INFLATED_BYTES };
  return bytes.length < SMALL_DEFLATED_BYTES ? inflateRawSync(bytes, limit) : await inflateAside(bytes, limit);
}
