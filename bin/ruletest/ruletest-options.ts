import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { productRoot } from '../../lib/product/product-root.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { versionText } from '../../lib/product/version.js';

/** What svc-ruletest was asked for. */
export type RuletestOptions = {
  /** Directories with `decoders/`, `rules/` and `lists/`. */
  readonly ruleset: readonly string[];
  /** Test files, and directories with them. */
  readonly tests: readonly string[];
  readonly grep: string | undefined;
  readonly junit: string | undefined;
  readonly coverage: boolean;
  readonly requireCoverage: boolean;
  readonly watch: boolean;
  /** Every failure step by step; else the first few are. */
  readonly explain: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
};

/** Exit status when tests could not be run at all. */
export const CANNOT_RUN = 2;

const HELP = `
Tests are files beside rules: YAML lists of entries with name, log or logs, expect and expect_not, or .ini files with
sections of "log ... pass", "log ... fail", rule, alert and decoder. Without TESTS, tests/ of each ruleset directory.

  - name: wrong password
    log: 'Mar  7 09:15:02 web sshd[812]: Failed password for root from 192.0.2.7 port 5012 ssh2'
    expect: { rule: 5760, level: 5, decoder: sshd, fields: { srcip: 192.0.2.7 } }
    expect_not: { rule: [5716, 5763] }

  - name: passwords tried one after the other
    logs:
      - { log: '...', times: 8, every: 2 }
    expect: { rule: 5763 }

Exit status: 0 when all tests passed, 1 when one failed or --require-coverage is not met, 2 when they could not be run.

Examples:
  svc-ruletest                                            the shipped ruleset
  svc-ruletest --ruleset /opt/security-manager/ruleset,/opt/security-manager/etc my-tests/
  svc-ruletest --watch --grep ssh
`;

type RawOptions = {
  readonly ruleset?: readonly string[];
  readonly grep?: string;
  readonly junit?: string;
  readonly coverage?: true;
  readonly requireCoverage?: true;
  readonly watch?: true;
  readonly explain?: true;
  readonly verbose?: true;
  readonly quiet?: true;
};

/** Reads the command line; help and errors are printed here. @returns the options, or the exit status */
export function parseRuletestOptions(args: readonly string[]): RuletestOptions | number {
  const command = new Command('svc-ruletest')
    .description('Runs the tests of rules and decoders.')
    .configureOutput(usageErrors('svc-ruletest'))
    .argument('[tests...]', 'test files, and directories with them')
    .helpOption('-h, --help', 'show this help')
    .version(versionText('svc-ruletest'), '-V, --version', 'show version and licence')
    .option('--ruleset <dirs>', 'directories with decoders/, rules/ and lists/, separated by commas', splitDirs)
    .option('--grep <text>', 'only tests with this in their name or file')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--coverage', 'name rules and decoders that no test looks at')
    .option('--require-coverage', 'fail when a rule has no test that fires it and one that does not')
    .option('--explain', 'show every step of each event that failed, not only of the first five')
    .option('--watch', 'run again whenever rules, decoders or tests change')
    .option('-v, --verbose', 'name every test')
    .option('-q, --quiet', 'show failures only')
    .addHelpText('after', HELP)
    .exitOverride();
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // commander has printed what there is to say
      return error.exitCode === 0 ? 0 : CANNOT_RUN;
    }
    throw error;
  }
  const raw = command.opts<RawOptions>();
  const ruleset = raw.ruleset ?? [fileURLToPath(new URL('etc/ruleset', productRoot()))];
  return {
    ruleset,
    tests: command.args.length > 0 ? command.args : ruleset.map((dir) => join(dir, 'tests')).filter(existsSync),
    grep: raw.grep,
    junit: raw.junit,
    coverage: raw.coverage === true || raw.requireCoverage === true,
    requireCoverage: raw.requireCoverage === true,
    watch: raw.watch === true,
    explain: raw.explain === true,
    verbose: raw.verbose === true,
    quiet: raw.quiet === true,
  };
}

function splitDirs(text: string): string[] {
  return text.split(',').filter((dir) => dir !== '');
}
