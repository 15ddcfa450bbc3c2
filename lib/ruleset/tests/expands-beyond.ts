/** What a value may come to, everything in it counted as often as it is referred to. */
export type ExpansionLimits = {
  /** Objects, arrays and what they hold. */
  readonly values: number;
  /** Characters of texts and of names of members. */
  readonly characters: number;
};

/**
 * Whether a value read from YAML is larger than it may be once its aliases are followed: a file of a few lines may stand
 * for billions of values. Takes no longer than the limits are large, for loops, too.
 */
export function expandsBeyond(root: unknown, limits: ExpansionLimits): boolean {
  let values = 0;
  let characters = 0;
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (values + waiting.length > limits.values || characters > limits.characters) return true;
    if (typeof value !== 'object' || value === null) continue;
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value)) {
      if (!isList) characters += key.length;
      waiting.push(member);
    }
  }
  return false;
}
