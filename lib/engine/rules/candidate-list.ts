import type { Requirements } from '../../patterns/requirement.js';
import { MAX_WAYS } from '../../patterns/sieve.js';
import type { Subject } from '../../patterns/subject.js';
import type { EventFields } from '../event-fields.js';
import { CandidateSieve } from './candidate-sieve.js';
import { askedBy, type Condition, DecodedAsCondition, PatternCondition } from './condition.js';

/** Uses from which on a sieve is worth being made: lists that values of fields lead to often serve an event or two. */
const MIN_USES = 4;

/** What has conditions that are still open, in the order in which they are tried. */
type Conditional = { readonly conditions: readonly Condition[] };

/** Candidates in their order; those that an event cannot match for want of a text in its log, or of what they ask for, are passed over without a trial. */
export class CandidateList<C extends Conditional> {
  readonly candidates: readonly C[];
  #sieve: CandidateSieve | undefined;
  #uses = 0;

  constructor(candidates: readonly C[]) {
    this.candidates = candidates;
  }

  /** Position of the first candidate at or behind `position` that the event may match; -1 where there is none. */
  next(position: number, log: Subject, fields: EventFields): number {
    return this.#sieve === undefined
      ? this.#nextUnsieved(position, log, fields)
      : this.#sieve.next(position, log, fields);
  }

  #nextUnsieved(position: number, log: Subject, fields: EventFields): number {
    if (position === 0) this.#uses += 1;
    if (this.#uses < MIN_USES) return position < this.candidates.length ? position : -1;
    this.#sieve = new CandidateSieve(
      this.candidates.map((candidate) => ({ ofLog: needsOf(candidate), asks: askedBy(candidate.conditions) })),
    );
    return this.#sieve.next(position, log, fields);
  }
}

/** How much memory a list of these takes; the unit is a candidate, of whose size about eight ways of a sieve are. */
export function sizeOf(candidates: readonly Conditional[]): number {
  let ways = 0;
  for (const candidate of candidates) ways += Math.min(MAX_WAYS, needsOf(candidate)?.length ?? 1);
  return candidates.length + Math.ceil(ways / 8);
}

/**
 * What a log has that a candidate matches, by its first pattern: one that fails for want of a text takes no steps. Conditions
 * behind it are not asked, since to pass the candidate over would leave the event the steps that the pattern takes, and
 * what an event may take would depend on how often the list was used.
 */
function needsOf({ conditions }: Conditional): Requirements {
  const first = conditions.find((condition) => !(condition instanceof DecodedAsCondition));
  return first instanceof PatternCondition ? first.ofLog : undefined;
}
