import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { supervisorLock } from '../../../lib/control/control-protocol.js';
import { stopPhases } from '../../../lib/control/daemon-catalogue.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import type { Home } from '../../../lib/home/home.js';
import { identityOf, type ProcessIdentity } from '../../../lib/process/process-identity.js';
import { ProcessLock } from '../../../lib/process/process-lock.js';
import { AGENT_DAEMON, type DaemonName, MANAGER_DAEMONS } from '../../../lib/product/daemon-names.js';
import type { ControlOutput } from '../control-output.js';
import { endProcess, liveProcess } from './live-process.js';

const SUPERVISOR = 'svc-control';
const DAEMONS: readonly DaemonName[] = [...MANAGER_DAEMONS, AGENT_DAEMON];
const PROGRAMS: readonly string[] = [...DAEMONS, SUPERVISOR];
/** A supervisor ends its daemons one group after the other, each within 30 s. */
const SUPERVISOR_END_MS = 100_000;

/** A process of the product that no file of the home tells of. */
export type StrayProcess = { readonly name: DaemonName | typeof SUPERVISOR; readonly identity: ProcessIdentity };

/**
 * Processes that work on a home and are in none of its files, because the home or its `var/run` was removed under them. A
 * process is one of them when it was started as a program of the product, works in the home's directory, be it gone or
 * not, and is in the process namespace of this one: a container may have a home of the same path.
 */
export function strayProcesses(home: Home): StrayProcess[] {
  const known = knownPids(home);
  const directories = directoriesOf(home);
  const strays: StrayProcess[] = [];
  for (const entry of entries()) {
    const pid = Number(entry);
    if (known.has(pid) || pid === process.pid) continue;
    try {
      const name = programOf(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
      if (name === undefined || !worksIn(pid, directories)) continue;
      const identity = identityOf(pid);
      if (identity !== undefined) strays.push({ name, identity });
    } catch {
      // It ended meanwhile, or belongs to somebody else.
    }
  }
  return strays;
}

/**
 * Ends what {@link strayProcesses} finds, the supervisor first, which stops its daemons in order.
 * @returns the names of what was ended
 * @throws Error when this user may not signal one of them
 */
export async function stopStrays(home: Home, output: ControlOutput): Promise<string[]> {
  const found = strayProcesses(home);
  const ended = async ({ name, identity }: StrayProcess, waitMs?: number): Promise<void> => {
    const outcome = await endProcess(identity, waitMs);
    if (outcome === 'killed') output.line(`Process ${name} couldn't be terminated. It was killed.`);
  };
  for (const { name, identity } of found) output.line(`Killing ${name} (pid ${identity.pid}) of a removed home...`);
  for (const stray of found) if (stray.name === SUPERVISOR) await ended(stray, SUPERVISOR_END_MS);
  for (const phase of stopPhases(found.flatMap(({ name }) => (name === SUPERVISOR ? [] : [name])))) {
    await Promise.all(found.filter(({ name }) => phase.some((each) => each === name)).map((stray) => ended(stray)));
  }
  return found.map(({ name }) => name);
}

function entries(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** What the home's own files tell of. */
function knownPids(home: Home): Set<number | undefined> {
  const daemons = DAEMONS.map((name) => liveProcess(new RunFiles(home, name))?.pid);
  return new Set([...daemons, ProcessLock.holder(supervisorLock(home))?.pid]);
}

/** The program a command line runs; undefined for any other, for a check of the configuration and other commands. */
function programOf(words: readonly string[]): StrayProcess['name'] | undefined {
  const at = words.findIndex((word) => word.includes('/') && PROGRAMS.includes(basename(word)));
  const name = PROGRAMS.find((program) => program === basename(words[at] ?? ''));
  const rest = words.slice(at + 1);
  if (name === undefined || rest.includes('-t')) return undefined;
  return name === SUPERVISOR && !rest.includes('run') ? undefined : (name as StrayProcess['name']);
}

/** Paths under which the kernel knows the directory of a home, which may lie behind a link. */
function directoriesOf(home: Home): readonly string[] {
  const found = [home.root];
  for (const real of [
    () => join(realpathSync(dirname(home.root)), basename(home.root)),
    () => realpathSync(home.root),
  ]) {
    try {
      found.push(real());
    } catch {
      // The home is gone, or what is above it.
    }
  }
  return found;
}

function worksIn(pid: number, directories: readonly string[]): boolean {
  if (readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync('/proc/self/ns/pid')) return false;
  return directories.includes(readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, ''));
}
