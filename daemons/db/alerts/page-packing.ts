import { brotliDecompressSync, type BrotliOptions, constants } from 'node:zlib';

/** Higher ones pack a hundredth better, and slower. */
const QUALITY = 5;
/** A page lies in one window. */
const WINDOW_BITS = 18;
/** No page unpacks to more: the longest alert that is read has 12 MB. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Most pages are unpacked in one go; they keep as much. */
const CHUNK_BYTES = 144 * 1024;

/** How pages and columns are packed. @param bytes about so many */
export function packing(bytes: number): BrotliOptions {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
    },
  };
}

/** @throws Error when it is not what was packed */
export function unpack(packed: Buffer): Buffer {
  return brotliDecompressSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES, chunkSize: CHUNK_BYTES });
}
