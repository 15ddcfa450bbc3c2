/** One event of a test. Texts are Unicode strings. */
export type TestEvent = {
  readonly log: string;
  readonly location: string;
  /** Queue id of the envelope, one character (decoding.md 3.1). */
  readonly queue: string;
  /** Seconds after the event before it. */
  readonly after: number;
};

/** What the last event of a test must come to; what is absent is not looked at. */
export type Expectation = {
  /** undefined = not looked at, null = no rule. */
  readonly rule?: number | null;
  readonly level?: number | null;
  /** null = no decoder. */
  readonly decoder?: string | null;
  readonly parent?: string | null;
  /** Whether an alert is written. */
  readonly alert?: boolean;
  readonly description?: string;
  /** Groups the rule must have, among others. */
  readonly groups?: readonly string[];
  /** Rules that must match on the way to the final one. */
  readonly through?: readonly number[];
  /** Name to value; null = the event must not have the field. */
  readonly fields?: ReadonlyMap<string, string | null>;
};

/** What the last event of a test must not come to. */
export type Exclusion = {
  /** None of these is the final rule. */
  readonly rules: readonly number[];
  /** None of these matches on the way. */
  readonly through: readonly number[];
  /** Not this rule, level and decoder all together (the form of `.ini` files). */
  readonly triple?: Expectation;
};

/** A log, or a sequence of logs, and what the last of them must come to. */
export type RuleTest = {
  readonly name: string;
  readonly file: string;
  /** First line 1; 0 = not known. */
  readonly line: number;
  /** Receive time of the first event, epoch seconds. */
  readonly at: number;
  readonly events: readonly TestEvent[];
  readonly expect: Expectation;
  readonly expectNot: Exclusion;
  /** Why it is not run, if it is not. */
  readonly skip?: string;
};

/** When tests that name no time begin: Thursday, 2024-03-07 09:15:00 UTC. */
export const DEFAULT_TEST_TIME = 1_709_802_900;

/** Characters that an error repeats of a file: names in it may be as long as the file. */
const MAX_ERROR_TEXT = 1000;

/** A test file that cannot be read. `message` names file and, where known, line. */
export class RuleTestError extends Error {
  override readonly name = 'RuleTestError';
  readonly file: string;
  readonly line: number;
  /** What is wrong, without the place. */
  readonly text: string;

  constructor(file: string, line: number, text: string) {
    const said = text.length > MAX_ERROR_TEXT ? `${text.slice(0, MAX_ERROR_TEXT)}...` : text;
    super(`${file}${line > 0 ? `:${String(line)}` : ''}: ${said}`);
    this.file = file;
    this.line = line;
    this.text = said;
  }
}
