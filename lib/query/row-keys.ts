/** What a row is sorted by: texts in lower case; undefined is a value that it has not. */
export type SortKey = string | number | undefined;

/** Keys of a row as they travel: null is a value that it has not. */
export type RowKey = readonly (string | number | null)[];

/** The order of two values: missing ones last, numbers before texts. */
export function compareKeys(left: SortKey, right: SortKey): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1;
  return left < right ? -1 : 1;
}

/**
 * The order of rows of several agents that were sorted apart: by what they are sorted by, then by the number of the agent, which comes
 * last in each key. Of one agent they are in order already: equal keys are 0.
 */
export function compareRowKeys(descending: boolean): (one: RowKey, other: RowKey) => number {
  const sign = descending ? -1 : 1;
  return (one, other) => {
    const last = one.length - 1;
    for (let index = 0; index <= last; index += 1) {
      const order = compareKeys(one[index] ?? undefined, other[index] ?? undefined);
      if (order !== 0) return index === last ? order : sign * order;
    }
    return 0;
  };
}
