import { readdirSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import { describeError } from '../log/describe-error.js';
import { findPolicy, type LoadedPolicy, loadPolicyFile, type PolicyFileOptions } from './policy-file.js';

/** Policies of a host: each is a file of some hundred kilobytes and a scan of some seconds. */
const MOST_POLICIES = 1000;
/** Where the shipped ones lie, below the home. */
const SHIPPED = 'ruleset/sca';

/** A policy as a configuration names it. */
export type NamedPolicy = { readonly path: string; readonly enabled: boolean };

/** A policy file that is to be used. */
export type PolicyPlace = {
  /** How messages call it. */
  readonly path: string;
  /** Without links. */
  readonly real: string;
};

/** What there is to scan, and what is wrong with the rest: lines to be logged as warnings. */
export type LoadedPolicies = { readonly policies: readonly LoadedPolicy[]; readonly warnings: readonly string[] };

/**
 * Files of the policies of a host: all of `ruleset/sca`, and those that are named; the last word on each counts
 * (integrity-and-inventory.md 10.1).
 */
export function policyPlaces(
  { home }: PolicyFileOptions,
  named: readonly NamedPolicy[],
): { readonly places: readonly PolicyPlace[]; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const wanted = new Map<string, { readonly path: string; readonly enabled: boolean }>();
  for (const { path, enabled } of [...shippedPolicies(home.path(SHIPPED), warnings), ...named]) {
    const real = findPolicy(home, path);
    if (real === undefined) {
      if (enabled) warnings.push(`Policy file '${path}' not found. Check your configuration.`);
      continue;
    }
    wanted.set(real, { path: wanted.get(real)?.path ?? path, enabled });
  }
  const places = [...wanted].flatMap(([real, { path, enabled }]) => (enabled ? [{ path, real }] : []));
  if (places.length > MOST_POLICIES) {
    warnings.push(`There are ${String(places.length)} policies: only the first ${String(MOST_POLICIES)} are used.`);
  }
  return { places: places.slice(0, MOST_POLICIES), warnings };
}

function shippedPolicies(directory: string, warnings: string[]): NamedPolicy[] {
  try {
    return (ifPresentSync(() => readdirSync(directory)) ?? [])
      .filter((name) => /\.ya?ml$/.test(name))
      .sort()
      .map((name) => ({ path: `${SHIPPED}/${name}`, enabled: true }));
  } catch (error) {
    warnings.push(`The policies of '${SHIPPED}' cannot be read: ${describeError(error)}`);
    return [];
  }
}

/** Loads policies, see {@link PolicyCollection}. */
export function loadPolicies(places: readonly PolicyPlace[], options: PolicyFileOptions): LoadedPolicies {
  const collection = new PolicyCollection();
  for (const { path, real } of places) collection.take(path, loadPolicyFile(path, real, options));
  return collection;
}

/**
 * Policies that are used together. One that is not right is left out whole, as is one whose id, or the id of one of its checks,
 * another one has: the first counts.
 */
export class PolicyCollection implements LoadedPolicies {
  readonly policies: LoadedPolicy[] = [];
  readonly warnings: string[] = [];
  /** Paths, by ids of policies and of checks. */
  readonly #owners = new Map<number | string, string>();

  /** @param loaded what is wrong as a text */
  take(path: string, loaded: LoadedPolicy | string): void {
    const problem = typeof loaded === 'string' ? loaded : this.#conflict(loaded);
    if (problem === undefined && typeof loaded !== 'string') {
      const { policy } = loaded;
      for (const id of [policy.id, ...policy.checks.map((check) => check.id)]) this.#owners.set(id, path);
      this.policies.push(loaded);
      this.warnings.push(...loaded.problems);
    } else if (problem !== undefined) {
      this.warnings.push(problem, `Error found while validating policy file: '${path}'. Skipping it.`);
    }
  }

  #conflict({ policy, path }: LoadedPolicy): string | undefined {
    const owner = this.#owners.get(policy.id);
    if (owner !== undefined) return `${path}: its 'id' '${policy.id}' is that of ${owner}`;
    const check = policy.checks.find(({ id }) => this.#owners.has(id));
    if (check === undefined) return undefined;
    const other = this.#owners.get(check.id) ?? '';
    return `${path}: check ${String(check.id)}: its 'id' is that of a check of ${other}`;
  }
}
