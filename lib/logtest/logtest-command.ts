import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError } from 'commander';
import { toByteString } from '../engine/byte-string.js';
import { DEFAULT_STEP_BUDGET, type EngineOptions } from '../engine/engine.js';
import type { Diagnostics } from '../engine/event.js';
import { loadRuleset } from '../engine/load-ruleset.js';
import { MitreTable } from '../engine/mitre-table.js';
import { describePlace, RulesetError } from '../engine/ruleset-error.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import { productRoot } from '../product/product-root.js';
import { productVersion } from '../product/version.js';
import { NdjsonBatch } from './ndjson-batch.js';
import { readOfflineRuleset } from './read-offline-ruleset.js';

/** `log_alert_level` and `email_alert_level` of the shipped configuration (rules-and-alerts.md 7.9). */
const SHIPPED_LOG_LEVEL = 3;
const SHIPPED_MAIL_LEVEL = 12;

type Options = {
  readonly offline?: true;
  readonly ruleset?: readonly string[];
  readonly ndjson?: true;
  readonly text?: true;
  readonly clock?: number;
  readonly logLevel: number;
  readonly location: string;
  readonly quiet?: true;
};

/**
 * `svc-logtest`: runs log lines through decoders and rules.
 * @returns the exit code
 */
export async function logtestCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const command = new Command('svc-logtest')
    .description('Shows what decoders and rules make of log lines.')
    .version(productVersion(), '-V, --version')
    .option('--offline', 'work without any daemon, on the ruleset that --ruleset names')
    .option('--ruleset <dirs>', 'directories with decoders/, rules/ and lists/, separated by commas', splitList)
    .option('--ndjson', 'read one JSON object a line and answer each with one')
    .option('--text', 'with --ndjson: every input line is a log, all of one session')
    .option('--clock <seconds>', 'freeze the clock at this epoch time (also: SVC_CLOCK)', clockTime)
    .option('--log-level <level>', 'level from which an alert is generated', level, SHIPPED_LOG_LEVEL)
    .option('-l, --location <location>', 'location of text lines', 'stdin')
    .option('-q, --quiet', 'no warnings about the ruleset')
    .exitOverride();
  try {
    command.parse([...argv]);
  } catch (error) {
    // commander has printed what there is to say
    const code = error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1;
    return code === 0 ? 0 : 1;
  }
  const options = command.opts<Options>();
  if (options.offline !== true || options.ndjson !== true || options.ruleset === undefined) {
    process.stderr.write('svc-logtest: this version works offline only: --offline --ruleset DIR[,DIR...] --ndjson\n');
    return 1;
  }
  const frozen = options.clock ?? (env['SVC_CLOCK'] === undefined ? undefined : clockTime(env['SVC_CLOCK']));
  return runBatch({ ...options, ruleset: options.ruleset }, frozen);
}

async function runBatch(options: Options & { readonly ruleset: readonly string[] }, frozen?: number): Promise<number> {
  const diagnostics = stderrDiagnostics(options.quiet === true);
  let batch: NdjsonBatch;
  try {
    const ruleset = loadRuleset(readOfflineRuleset(options.ruleset, diagnostics), {
      diagnostics,
      compilePattern,
      mitre: MitreTable.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8')),
      logLevel: options.logLevel,
      mailLevel: SHIPPED_MAIL_LEVEL,
    });
    const now = frozen === undefined ? Date.now : (): number => frozen * 1000;
    batch = new NdjsonBatch({ ruleset, engine: engineOptions(), diagnostics, now });
  } catch (error) {
    if (!(error instanceof RulesetError)) throw error;
    process.stderr.write(`svc-logtest: the ruleset cannot be loaded: ${error.message}\n`);
    return 1;
  }
  // latin1 keeps every byte of text lines; JSON lines are UTF-8
  process.stdin.setEncoding(options.text === true ? 'latin1' : 'utf8');
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line === '') continue;
    const answer =
      options.text === true
        ? batch.answer({ session: 'text', location: options.location, log: line })
        : batch.answerLine(line);
    if (!process.stdout.write(`${answer}\n`)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
  return 0;
}

function engineOptions(): EngineOptions {
  return {
    mode: 'test',
    origin: { managerName: toByteString(hostname()), cluster: undefined, showHiddenLabels: false },
    logFirewall: false,
    budget: DEFAULT_STEP_BUDGET,
  };
}

/** Warnings and errors go to the standard error stream with their place. */
function stderrDiagnostics(quiet: boolean): Diagnostics {
  const write =
    (severity: string): Diagnostics['warn'] =>
    (message, place) => {
      const where = place === undefined ? '' : ` (${describePlace(place)})`;
      process.stderr.write(`${severity}: ${message}${where}\n`);
    };
  const silent = (): void => {};
  return { debug: silent, info: silent, warn: quiet ? silent : write('WARNING'), error: write('ERROR') };
}

function splitList(text: string): string[] {
  return text.split(',').filter((dir) => dir !== '');
}

function clockTime(text: string): number {
  if (!/^[0-9]{1,12}$/.test(text)) throw new InvalidArgumentError(`'${text}' is not a number of seconds`);
  return Number(text);
}

function level(text: string): number {
  if (!/^[0-9]{1,2}$/.test(text)) throw new InvalidArgumentError(`'${text}' is not a level`);
  return Number(text);
}
