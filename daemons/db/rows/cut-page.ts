/** Bytes of a page, about: half of what the bus carries. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** As many items of a page as one answer carries, one at least: who asked asks again for the rest. */
export function cutPage<T extends object>(items: readonly T[]): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    return bytes > MAX_PAGE_BYTES && index > 0;
  });
  return items.slice(0, end === -1 ? items.length : end);
}
