/** Changes are committed in pieces of so many records, and so many bytes of JSON: a message of the bus takes them. */
export const PIECE_RECORDS = 2000;
const PIECE_BYTES = 4 * 1024 * 1024;

/** The same changes in their order, in pieces that one message of the bus takes each. */
export function* changePieces<T extends { readonly value: unknown }>(changes: readonly T[]): Generator<T[]> {
  let piece: T[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = Buffer.byteLength(JSON.stringify(change.value) ?? '');
    if (piece.length >= PIECE_RECORDS || (piece.length > 0 && bytes + size > PIECE_BYTES)) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(change);
    bytes += size;
  }
  if (piece.length > 0) yield piece;
}
