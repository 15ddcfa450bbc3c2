/** Ends a text of changes that was cut (integrity-and-inventory.md 3.10). */
export const MORE_CHANGES = 'More changes...';

/**
 * Cuts a text of changes after its last line that fits with `MORE_CHANGES` behind it; one that fits stays as it is.
 * @param room bytes there are
 * @param cost bytes a piece of the text takes, by default its length; of a whole it is that of its lines together
 */
export function cutDiff(text: string, room: number, cost: (text: string) => number = ({ length }) => length): string {
  if (cost(text) <= room) return text;
  let left = room - cost(MORE_CHANGES);
  if (left < 0) return '';
  let end = 0;
  while (end < text.length) {
    const next = text.indexOf('\n', end) + 1;
    if (next === 0) break;
    left -= cost(text.slice(end, next));
    if (left < 0) break;
    end = next;
  }
  return text.slice(0, end) + MORE_CHANGES;
}
