/** Letters that may differ before a name is a different one: a third of it, two at most. */
const MAX_DISTANCE = 2;
/** Longer words are no names with a slip in them. */
const MAX_LENGTH = 200;

/** The name that was probably meant, undefined where none is near. */
function closestName(typed: string, names: Iterable<string>): string | undefined {
  if (typed.length > MAX_LENGTH) return undefined;
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const allowed = Math.min(MAX_DISTANCE, Math.ceil(name.length / 3));
    if (Math.abs(name.length - typed.length) > allowed) continue;
    const distance = distanceBetween(typed.toLowerCase(), name.toLowerCase());
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** ` (did you mean 'x'?)`, or nothing. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const name = closestName(typed, names);
  return name === undefined ? '' : ` (did you mean '${name}'?)`;
}

/** Letters to add, take away or change, two that changed places being one change (optimal string alignment). */
function distanceBetween(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, (before[column - 2] ?? 0) + 1);
      current.push(least);
    }
    before = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
