import { Packr } from 'msgpackr';
import type { z } from 'zod';

const packr = new Packr({ useRecords: false });

/** Plain data as bytes. A copy: the encoder's own buffer is used again. */
export function pack(value: unknown): Buffer {
  return Buffer.from(packr.pack(value));
}

/** @throws Error when the bytes are none of ours, or hold something else than the schema says */
export function unpack<V>(bytes: Uint8Array, schema: z.ZodType<V>): V {
  return schema.parse(packr.unpack(bytes));
}
