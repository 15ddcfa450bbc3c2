/** A page of a list, and how many items there are on all pages. */
export type CollectedItems = { readonly items: Record<string, unknown>[]; readonly total: number };

/** The part of a list that a request asks for. */
export type PageBounds = { readonly offset?: number; readonly limit?: number };

/**
 * A page of any length, put together from those of svc-db, which may cut them shorter than they were asked for.
 * @param largest items svc-db gives at once
 */
export async function collectPages(
  { offset = 0, limit = 500 }: PageBounds,
  largest: number,
  read: (bounds: Required<PageBounds>) => Promise<CollectedItems>,
): Promise<CollectedItems> {
  const items: Record<string, unknown>[] = [];
  for (;;) {
    const from = offset + items.length;
    const page = await read({ offset: from, limit: Math.min(limit - items.length, largest) });
    for (const item of page.items) items.push(item);
    const isComplete = items.length >= limit || offset + items.length >= page.total;
    if (isComplete || page.items.length === 0) return { items, total: page.total };
  }
}
