import { execFile } from 'node:child_process';
import type { Home } from '../daemon/home.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { DaemonCatalogue } from './daemon-catalogue.js';

/** A configuration that is not checked by then is not good: a ruleset of thousands of rules takes a second. */
const TIMEOUT_MS = 60_000;

/** Checks at a time: each is a process that loads its part of the product. */
const PARALLEL = 2;

/** What a failed check has to say. */
export type CheckFailure = { readonly daemon: DaemonName; readonly output: string };

/**
 * Runs `<daemon> -t` for each of `daemons` (daemons-and-config.md 3.1 "start", steps 1 and 4).
 * @returns the failures, in the order of `daemons`
 */
export async function checkDaemons(
  home: Home,
  catalogue: DaemonCatalogue,
  daemons: readonly DaemonName[],
): Promise<CheckFailure[]> {
  const results = new Array<CheckFailure | undefined>(daemons.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < daemons.length; index = next++) {
      const daemon = daemons[index];
      if (daemon !== undefined) results[index] = await check(home, catalogue, daemon);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results.filter((failure) => failure !== undefined);
}

function check(home: Home, catalogue: DaemonCatalogue, daemon: DaemonName): Promise<CheckFailure | undefined> {
  const program = catalogue.program(daemon);
  if (program === undefined) return Promise.resolve({ daemon, output: 'not available in this version' });
  return new Promise((resolve) => {
    execFile(
      program.command,
      [...program.args, '-t', '--home', home.root],
      { timeout: TIMEOUT_MS, maxBuffer: 1_048_576 },
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
