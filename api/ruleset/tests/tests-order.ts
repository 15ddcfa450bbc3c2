import type { RuleTestProblem, RuleTestResult } from '../../../lib/ruleset/tests/run-rule-test.js';

/** Which tests are run: none, those of `etc/tests`, or those of the shipped ruleset as well. */
export type WantedTests = 'none' | 'own' | 'all';

/** A file as it would be; null is one that would be gone. */
export type ChangedFile = { readonly path: string; readonly content: string | null };

/** What a thread is asked to do. */
export type TestsOrder = {
  /** Root of the home. */
  readonly home: string;
  readonly files: readonly ChangedFile[];
  readonly tests: WantedTests;
};

/** Something that was said of a file of the ruleset or of tests, with the place where it is known; lines count from 1. */
export type TestsMessage = {
  readonly severity: 'error' | 'warning';
  readonly text: string;
  readonly file?: string;
  readonly line?: number;
  readonly rule?: number;
  readonly decoder?: string;
};

/** A test as its answer shows it. */
export type ShownTest = {
  readonly name: string;
  readonly file: string;
  /** From 1; 0 is not known. */
  readonly line: number;
  readonly status: RuleTestResult['status'];
  readonly problems: readonly RuleTestProblem[];
  readonly explanation: readonly string[];
};

/** What came of it. */
export type TestsReport = {
  /** Whether the engine would take the ruleset. */
  readonly loads: boolean;
  readonly messages: readonly TestsMessage[];
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Those that failed first; a thousand and 4 MiB at most. */
  readonly results: readonly ShownTest[];
  /** How many more there are. */
  readonly left_out: number;
};
