import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { withRegularFileSync } from '../files/regular-file.js';
import type { Home } from '../home/home.js';
import { untrustedBecause } from '../home/trusted-file.js';
import { describeError } from '../log/describe-error.js';
import type { ScaPolicy } from './policy.js';
import { PolicyError } from './policy-fields.js';
import { readPolicy } from './read-policy.js';

/** Bytes of a policy file: those in the field have some hundred thousand. */
const MOST_POLICY_BYTES = 4 * 1024 * 1024;
/** Where what managers push lies, below a home. */
const SHARED = 'etc/shared';

/** Why commands of a policy do not run: a manager pushed it, or others than root could have written it, for that reason. */
export type PolicyRefusal = { readonly kind: 'shared' } | { readonly kind: 'untrusted'; readonly why: string };

/** A policy with what is to be known of its file. */
export type LoadedPolicy = {
  readonly policy: ScaPolicy;
  /** As the configuration names it. */
  readonly path: string;
  /** SHA-256 of the file, hex digits. */
  readonly hash: string;
  /** Why its commands do not run; undefined when they do. */
  readonly refusal: PolicyRefusal | undefined;
  /** What of it can never give a result. */
  readonly problems: readonly string[];
};

export type PolicyFileOptions = {
  readonly home: Home;
  /** Whether commands of policies that a manager pushed may run: `sca.remote_commands` of an agent. */
  readonly remoteCommands: boolean;
};

/**
 * Where a policy lies: as it is named, from the home, or a mere name in `ruleset/sca`; links are resolved.
 * @returns undefined when there is nothing
 */
export function findPolicy(home: Home, path: string): string | undefined {
  const places = path.startsWith('/') ? [path] : [home.path(path)];
  if (!path.includes('/')) places.push(home.path('ruleset', 'sca', path));
  for (const place of places) {
    // A path may be anything that a manager wrote: too long, a loop of links, no path at all.
    const real = realpathOf(place);
    if (real !== undefined) return real;
  }
  return undefined;
}

/**
 * Loads a policy.
 * @param path how messages call it
 * @param real where it lies, without links
 * @returns what is wrong as a text, with file, line, check and field
 */
export function loadPolicyFile(path: string, real: string, options: PolicyFileOptions): LoadedPolicy | string {
  try {
    return load(path, real, options);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return error.message;
  }
}

/** Words why a command of a policy is not run. @param line the command, as it is read */
export function refusalReason(refusal: PolicyRefusal, line: string): string {
  const ignored = `Ignoring check for running command '${line}'.`;
  if (refusal.kind === 'shared') return `${ignored} The internal option 'sca.remote_commands' is disabled`;
  return `${ignored} Others than root could have written it: ${refusal.why}`;
}

function load(path: string, real: string, options: PolicyFileOptions): LoadedPolicy {
  const { bytes, untrusted } = readFile(path, real, options.home);
  const { policy, problems } = readPolicy(bytes.toString('utf8'), path);
  const hash = createHash('sha256').update(bytes).digest('hex');
  return { policy, path, hash, problems, refusal: refusalOf(real, untrusted, options) };
}

function readFile(path: string, real: string, home: Home): { readonly bytes: Buffer; readonly untrusted?: string } {
  try {
    return withRegularFileSync(real, (fd, stats) => {
      if (stats.size > MOST_POLICY_BYTES) {
        throw new PolicyError(`${path}: it has more than ${String(MOST_POLICY_BYTES)} bytes`);
      }
      const untrusted = untrustedBecause(home, real, stats);
      return { bytes: readFileSync(fd), ...(untrusted === undefined ? {} : { untrusted }) };
    });
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    throw new PolicyError(`${path}: it cannot be read: ${describeError(error)}`, { cause: error });
  }
}

/** Root runs what root wrote; what a manager pushed, where this host consents (integrity-and-inventory.md 10.1). */
function refusalOf(
  real: string,
  untrusted: string | undefined,
  { home, remoteCommands }: PolicyFileOptions,
): PolicyRefusal | undefined {
  if (isShared(home, real)) return remoteCommands ? undefined : { kind: 'shared' };
  return untrusted === undefined ? undefined : { kind: 'untrusted', why: untrusted };
}

function isShared(home: Home, real: string): boolean {
  const shared = [home.path(SHARED), realpathOf(home.path(SHARED))];
  return shared.some((directory) => directory !== undefined && real.startsWith(`${directory}/`));
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
