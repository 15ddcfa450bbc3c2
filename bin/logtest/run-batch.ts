import { fromByteString } from '../../lib/engine/byte-string.js';
import { DEFAULT_STEP_BUDGET } from '../../lib/engine/engine.js';
import { RulesetError } from '../../lib/engine/load/ruleset-error.js';
import { LoadMessages } from '../../lib/logtest/load-messages.js';
import { testOrigin } from '../../lib/ruleset/test-origin.js';
import { loadOfflineRuleset } from '../offline/offline-ruleset.js';
import { stderrDiagnostics } from '../offline/stderr-diagnostics.js';
import { readLines } from '../terminal/read-lines.js';
import { NOTHING_RAN } from './interactive-logtest.js';
import { NdjsonBatch } from './ndjson-batch.js';

export type RunBatchOptions = {
  /** Directories with `decoders/`, `rules/` and `lists/`. */
  readonly dirs: readonly string[];
  readonly logLevel: number;
  /** Every line is a log of one session; else it is a JSON object. */
  readonly text: boolean;
  /** Location of text lines. */
  readonly location: string;
  /** No warnings about the ruleset. */
  readonly quiet: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly explain: boolean;
  /** Rule whose silence is to be explained. */
  readonly why: number | undefined;
};

/**
 * Runs the lines of the standard input through the engine and answers each with a line of JSON.
 * @returns the exit status
 */
export async function runBatch(options: RunBatchOptions): Promise<number> {
  const diagnostics = stderrDiagnostics(options.quiet);
  const messages = new LoadMessages(diagnostics);
  let batch: NdjsonBatch;
  try {
    const ruleset = loadOfflineRuleset(options.dirs, messages, options.logLevel);
    const engine = { mode: 'test', origin: testOrigin(), logFirewall: false, budget: DEFAULT_STEP_BUDGET } as const;
    const { now, explain, why } = options;
    batch = new NdjsonBatch({
      ruleset,
      engine,
      diagnostics,
      now,
      explain,
      ...(why === undefined ? {} : { why: { rule: why, messages: messages.all } }),
    });
  } catch (error) {
    if (!(error instanceof RulesetError)) throw error;
    process.stderr.write(`svc-logtest: the ruleset cannot be loaded: ${error.message}\n`);
    return 1;
  }
  // A reader that went away (`svc-logtest ... | head`) is no error; nobody sees what would follow.
  process.stdout.on('error', () => process.exit(0));
  let lines = 0;
  for await (const line of readLines(process.stdin as AsyncIterable<Buffer>)) {
    if (line === '') continue;
    lines += 1;
    const answer = options.text
      ? batch.answer({ session: 'text', location: options.location, log: line })
      : batch.answerLine(fromByteString(line));
    if (!process.stdout.write(`${answer}\n`)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
  if (lines > 0) return 0;
  process.stderr.write(NOTHING_RAN);
  return 1;
}
