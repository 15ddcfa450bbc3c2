import type { MatchState } from './match-state.js';
import { OsRegexMachine } from './os-regex-machine.js';
import { BacktrackMachine } from './pcre2/machine.js';
import type { Requirements } from './requirement.js';
import { SHORT, Subject } from './subject.js';

/** Pattern languages of rules and decoders (decoding.md 1). */
export type PatternLanguage = 'osmatch' | 'osregex' | 'pcre2';

/** Subjects remembered: message, program name and a field or two take turns while rules are tried. */
const SUBJECTS = 4;
/** Bytes of a subject that are taken over, indexed, folded and counted in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 3;

/**
 * Scratch state shared by all matches of one event: results of the last successful `exec` and the step budget.
 * One object lives as long as its engine, so that a match allocates nothing.
 */
export class MatchContext implements MatchState {
  /**
   * Steps left for the event at hand, of some 15 ns each. A guarded matcher that would go below 0 answers "no match" and sets
   * `exhausted`; a linear one goes below 0, and its answer does not count.
   */
  stepsLeft = Number.MAX_SAFE_INTEGER;
  /** Set by the matcher that ran out of steps; whoever owns the event reads and clears it. */
  exhausted = false;
  /**
   * Offset of "the last byte matched", from which a decoder makes `adv(end)` (decoding.md 1.3.6): it goes on one byte
   * behind, or at `end` itself where that is the length of the subject. PCRE2 gives the exact end minus one. May be -1.
   */
  end = -1;
  /** Number of valid entries of `captures`. */
  captureCount = 0;
  /** Captured texts of the last successful `exec`, as byte strings. */
  readonly captures: string[] = [];

  /** Alternatives of OS_Regex that were run and have a regular form. */
  regularRuns = 0;
  /** Scratch of the OS_Regex matchers. */
  readonly osRegex = new OsRegexMachine();
  /** Scratch of the PCRE2 matchers. */
  readonly backtracking = new BacktrackMachine();

  readonly #subjects: readonly Subject[] = Array.from({ length: SUBJECTS }, () => new Subject());
  /** The subject that is matched most while an event is at hand; it is not among the others, and stays. */
  readonly #pinned: Subject = new Subject();
  #current: Subject = this.#pinned;
  #oldest = 0;

  /** As `subject`, for the text that stays the event's, and free: the object keeps it until another text is pinned. */
  pin(text: string): Subject {
    const pinned = this.#pinned;
    if (pinned.text !== text) pinned.load(text);
    return pinned;
  }

  /** What the matchers know about a subject; computed once, however many patterns are tried on it in a row. */
  subject(text: string): Subject {
    const current = this.#current;
    return current.text === text ? current : this.#switch(text);
  }

  /**
   * Forgets the subjects but the pinned one. What an event's matches take must not depend on what was matched before it, and taking over a
   * long subject takes steps.
   */
  forget(): void {
    this.#current = this.#pinned;
    this.#oldest = 0;
    for (const subject of this.#subjects) subject.forget();
  }

  /** Ends a match for lack of steps; always false, the matcher's answer. */
  giveUp(): false {
    this.stepsLeft = 0;
    this.exhausted = true;
    return false;
  }

  #switch(text: string): Subject {
    if (this.#pinned.text === text) return (this.#current = this.#pinned);
    for (const subject of this.#subjects) {
      if (subject.text === text) {
        this.#current = subject;
        return subject;
      }
    }
    const subject = this.#subjects[this.#oldest] ?? new Subject();
    this.#oldest = (this.#oldest + 1) % SUBJECTS;
    subject.load(text);
    if (text.length >= SHORT) this.stepsLeft -= text.length >> BYTES_A_STEP_SHIFT;
    this.#current = subject;
    return subject;
  }
}

/**
 * A compiled pattern. Subjects are byte strings (one char code 0..255 a byte, no NUL). The caller cuts the subject:
 * position 0 is where `^` matches and nothing before it can be seen.
 */
export interface Matcher {
  readonly language: PatternLanguage;
  readonly source: string;
  /**
   * How matching cost is bounded. Both take steps off the context's: `linear` as many as the length of the subject tells,
   * some milliseconds at most; `guarded` stops where there are no more.
   */
  readonly cost: 'linear' | 'guarded';
  /** What subjects have that match; see `Sieve`. */
  readonly requirements: Requirements;
  /** Whether the subject matches (negation with a leading `!` of OS_Match included). No captures. */
  test(subject: string, context: MatchContext): boolean;
  /**
   * As `test`, and on success sets `end`, `captures` and `captureCount` of the context.
   * @param from offset from which on the subject counts: the result is that for `subject.slice(from)`
   * @param alternative number of the only alternative that is tried, see `Requirement`; -1 or none: all
   * @param found offset at which the first of that alternative's texts stands first in the subject; -1 or none: not known
   */
  exec(subject: string, context: MatchContext, from?: number, alternative?: number, found?: number): boolean;
}
