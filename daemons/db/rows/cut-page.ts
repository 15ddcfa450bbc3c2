/** Bytes of a page, about: half of what the bus carries. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** As many items of a page as one answer carries, one at least: who asked asks again for the rest. */
export function cutPage<T extends object>(items: readonly T[]): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += weightOf(item);
    return bytes > MAX_PAGE_BYTES && index > 0;
  });
  return items.slice(0, end === -1 ? items.length : end);
}

/** What a number, or the name of a member, takes at most. */
const SMALL = 32;

/** Bytes of a value, about: what text takes depends on its characters, two for each keep an answer below what the bus carries. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return SMALL + 2 * value.length;
  if (typeof value !== 'object' || value === null) return SMALL;
  let weight = SMALL;
  for (const member of Object.values(value)) weight += SMALL + weightOf(member);
  return weight;
}
