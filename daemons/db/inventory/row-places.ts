import type { RowKey, SortKey } from '../../../lib/query/row-keys.js';
import type { RowPage } from '../rows/list-rows.js';
import type { InventoryCandidate } from './inventory-fields.js';

/** A page, and what tells where its rows stand among those of other nodes. */
export type PlacedPage = RowPage & { readonly keys?: RowKey[]; readonly counts?: number[] };

const NO_ITEM: Record<string, unknown> = {};

/** Notes the keys of the rows that become items of a page, where they are asked for. */
export class RowPlaces {
  readonly #wanted: 'beside' | 'alone' | undefined;
  readonly #sortKeys: readonly ((candidate: InventoryCandidate) => SortKey)[];
  readonly #keys: RowKey[] = [];

  constructor(
    wanted: 'beside' | 'alone' | undefined,
    sortKeys: readonly ((candidate: InventoryCandidate) => SortKey)[],
  ) {
    this.#wanted = wanted;
    this.#sortKeys = sortKeys;
  }

  /** Makes items as `item` does, and notes their keys. */
  recording(
    item: (candidate: InventoryCandidate) => Record<string, unknown>,
  ): (candidate: InventoryCandidate) => Record<string, unknown> {
    if (this.#wanted === undefined) return item;
    return (candidate) => {
      const key: (string | number | null)[] = this.#sortKeys.map((read) => read(candidate) ?? null);
      key.push(Number(candidate.agent));
      this.#keys.push(key);
      return this.#wanted === 'alone' ? NO_ITEM : item(candidate);
    };
  }

  /** The page with the keys that were noted. */
  of(page: RowPage): PlacedPage {
    if (this.#wanted === undefined) return page;
    return { ...page, ...(this.#wanted === 'alone' ? { items: [] } : {}), keys: this.#keys };
  }
}

/** Keys of a list that is in the order of its agents: one an agent, with how many rows it has. */
export function rowsByAgent(counted: readonly (readonly [agent: string, rows: number])[]): PlacedPage {
  const counts = counted.map(([, rows]) => rows);
  return {
    items: [],
    total: counts.reduce((sum, rows) => sum + rows, 0),
    keys: counted.map(([agent]) => [Number(agent)]),
    counts,
  };
}
