import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MANAGER_CONF, MAX_CONFIGURATION_BYTES, OSSEC_CONF } from '../config/configuration-file.js';
import type { NoEffect } from '../config/effects/find-no-effect.js';
import { INTERNAL_OPTION_FILES } from '../config/internal-options.js';
import { API_YAML } from '../config/load-api-config.js';
import type { Home } from '../home/home.js';
import type { HomeRecord } from '../home/home-record.js';
import { readTrustedFile, UntrustedFileError } from '../home/trusted-file.js';
import { formatLogTime, formatPlainLine } from '../log/log-line.js';
import type { DaemonName } from '../product/daemon-names.js';
import { productRoot } from '../product/product-root.js';
import { type CheckingUser, runValidation, runValidationAs } from '../validation/run-validation.js';
import type { CheckedDaemon, Validation } from '../validation/validation.js';
import type { DaemonCatalogue } from './daemon-catalogue.js';

/** A configuration that is not checked by then is not good: a ruleset of thousands of rules takes a second. */
const TIMEOUT_MS = 60_000;

/** Programs at a time: each is a process that loads its part of the product. */
const PARALLEL = 2;

/** What a failed check has to say. */
export type CheckFailure = { readonly daemon: DaemonName; readonly output: string };

/** Texts of a failed check: what follows the level of a log line, without a tag (daemons-and-config.md 1.6). */
const PROBLEM_LINE = /^.*(?:ERROR: |CRITICAL: )(?:\[.*\] )?(.*)$/gm;

/** Distinct texts of what is wrong; all a daemon said when no line of it is an error. */
export function problemTexts(failures: readonly CheckFailure[]): string[] {
  const texts = failures.flatMap(({ daemon, output }) => {
    const found = [...output.matchAll(PROBLEM_LINE)].map(([, text]) => text ?? '');
    return found.length > 0 ? found : [`${daemon}: ${output}`];
  });
  return [...new Set(texts)];
}

/** What the checks found. */
export type CheckReport = {
  /** In the order of the daemons; a mistake that concerns several is told by the first of them alone. */
  readonly failures: readonly CheckFailure[];
  /** What the configuration asks for and what is not done. */
  readonly noEffect: readonly NoEffect[];
};

/**
 * Makes the checks of `<daemon> -t` (daemons-and-config.md 3.1 "start", steps 1 and 4) in one thread; a daemon whose check
 * has no module of settings is run.
 * @param sections whether mistakes in sections of other daemons count, too
 * @param user in processes of this user instead; only for root
 */
export async function checkDaemons(
  home: Home,
  catalogue: DaemonCatalogue,
  daemons: readonly DaemonName[],
  sections: 'own' | 'all',
  user?: CheckingUser,
): Promise<CheckReport> {
  const { modules, others } = splitDaemons(catalogue, daemons);
  const order = { home: home.root, daemons: modules, sections, everything: false };
  const [validation, failures] = await Promise.all([
    modules.length === 0 ? undefined : user === undefined ? runValidation(order) : runValidationAs(order, user),
    runPrograms(home, catalogue, others, user),
  ]);
  const first = daemons[0] ?? 'svc-monitord';
  const untrusted = (user === undefined ? [] : untrustedFiles(home)).map((text) => ({
    daemon: first,
    output: formatPlainLine(formatLogTime(new Date()), first, 'error', text, undefined),
  }));
  const found = [
    ...untrusted,
    ...failures,
    ...(validation === undefined ? [] : validationFailures(validation, daemons)),
  ];
  return {
    failures: found.sort((a, b) => daemons.indexOf(a.daemon) - daemons.indexOf(b.daemon)),
    noEffect: validation?.noEffect ?? [],
  };
}

/** Files that root refuses to obey, one text each: whoever checks as another user sees no harm in them. */
export function untrustedFiles(home: Home): string[] {
  const main = existsSync(home.path(MANAGER_CONF)) ? MANAGER_CONF : OSSEC_CONF;
  return [main, ...INTERNAL_OPTION_FILES, API_YAML].flatMap((file) => {
    try {
      readTrustedFile(home, file, MAX_CONFIGURATION_BYTES);
      return [];
    } catch (error) {
      return error instanceof UntrustedFileError ? [error.message] : [];
    }
  });
}

/**
 * The user who looks at the configuration for root: the service user, whose files the ruleset, lists and groups are. Undefined
 * where there is none, or the product is not installed and that user might not be able to read it.
 */
export function checkingUser(home: Home, { uid, gid }: HomeRecord): CheckingUser | undefined {
  const installed = fileURLToPath(productRoot()).startsWith(`${home.root}/`);
  if (!installed || process.geteuid?.() !== 0 || uid === undefined || gid === undefined) return undefined;
  return { uid, gid };
}

/** The daemons with a module of settings, and the others. */
export function splitDaemons(
  catalogue: DaemonCatalogue,
  daemons: readonly DaemonName[],
): { readonly modules: readonly CheckedDaemon[]; readonly others: readonly DaemonName[] } {
  const modules: CheckedDaemon[] = [];
  const others: DaemonName[] = [];
  for (const daemon of daemons) {
    const module = catalogue.settingsModule?.(daemon);
    if (module === undefined) others.push(daemon);
    else modules.push({ daemon, module });
  }
  return { modules, others };
}

/** Errors by the daemon that tells of them, as lines of a log. */
function validationFailures({ errors }: Validation, daemons: readonly DaemonName[]): CheckFailure[] {
  const lines = new Map<DaemonName, string[]>();
  const time = formatLogTime(new Date());
  const first = daemons[0] ?? 'svc-monitord';
  for (const { daemon = first, level, text } of errors) {
    const line = formatPlainLine(time, daemon, level, text, undefined);
    const known = lines.get(daemon);
    if (known === undefined) lines.set(daemon, [line]);
    else known.push(line);
  }
  return [...lines].map(([daemon, said]) => ({ daemon, output: said.join('\n') }));
}

async function runPrograms(
  home: Home,
  catalogue: DaemonCatalogue,
  daemons: readonly DaemonName[],
  user: CheckingUser | undefined,
): Promise<CheckFailure[]> {
  const results = new Array<CheckFailure | undefined>(daemons.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < daemons.length; index = next++) {
      const daemon = daemons[index];
      if (daemon !== undefined) results[index] = await runProgram(home, catalogue, daemon, user);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results.filter((failure) => failure !== undefined);
}

function runProgram(
  home: Home,
  catalogue: DaemonCatalogue,
  daemon: DaemonName,
  user: CheckingUser | undefined,
): Promise<CheckFailure | undefined> {
  const program = catalogue.program(daemon);
  if (program === undefined) return Promise.resolve({ daemon, output: 'not available in this version' });
  return new Promise((resolve) => {
    execFile(
      program.command,
      [...program.args, '-t', '--home', home.root],
      { ...user, timeout: TIMEOUT_MS, maxBuffer: 1_048_576 },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve(undefined);
          return;
        }
        const output = (stderr + stdout).trim();
        resolve({ daemon, output: output === '' ? error.message.trim() : output });
      },
    );
  });
}
