/**
 * What a look at a host gives (integrity-and-inventory.md 10.3). `invalid`: nobody can say, and `reason` says why; a third
 * value of its own, which no negation makes a yes or a no.
 */
export type Finding = 'found' | 'not-found' | 'invalid';

/** A finding, with the reason of one that is invalid. */
export type Outcome = { readonly finding: Finding; readonly reason?: string | undefined };

export const FOUND: Outcome = { finding: 'found' };
export const NOT_FOUND: Outcome = { finding: 'not-found' };

/** An outcome that says nothing, and why. */
export function invalid(reason: string): Outcome {
  return { finding: 'invalid', reason };
}

/** `not` in front of a rule, or `!` in front of a minterm. */
export function negate(outcome: Outcome): Outcome {
  if (outcome.finding === 'invalid') return outcome;
  return outcome.finding === 'found' ? NOT_FOUND : FOUND;
}

/** All must be found: one that is not decides, whatever the others are. Looks at no more than it needs. */
export function every<T>(items: Iterable<T>, look: (item: T) => Outcome): Outcome {
  return decide(items, look, NOT_FOUND, FOUND);
}

/** One must be found: the first that is decides, whatever the others are. Looks at no more than it needs. */
export function some<T>(items: Iterable<T>, look: (item: T) => Outcome): Outcome {
  return decide(items, look, FOUND, NOT_FOUND);
}

function decide<T>(items: Iterable<T>, look: (item: T) => Outcome, decisive: Outcome, otherwise: Outcome): Outcome {
  let result = otherwise;
  for (const item of items) {
    const outcome = look(item);
    if (outcome.finding === decisive.finding) return outcome;
    if (result.finding !== 'invalid') result = outcome;
  }
  return result;
}
