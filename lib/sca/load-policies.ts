import { readdirSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import { describeError } from '../log/describe-error.js';
import { PolicyError } from './policy-fields.js';
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
  const shipped = (ifPresentSync(() => readdirSync(home.path(SHIPPED))) ?? [])
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => ({ path: `${SHIPPED}/${name}`, enabled: true }));
  for (const { path, enabled } of [...shipped, ...named]) {
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

/**
 * Loads policies. One that is not right is left out whole, as is one whose id, or the id of one of its checks, another one has: the
 * first counts.
 */
export function loadPolicies(places: readonly PolicyPlace[], options: PolicyFileOptions): LoadedPolicies {
  const policies: LoadedPolicy[] = [];
  const warnings: string[] = [];
  const owners = new Map<number | string, string>();
  for (const { path, real } of places) {
    try {
      const loaded = loadPolicyFile(path, real, options);
      claim(loaded, owners);
      policies.push(loaded);
      warnings.push(...loaded.problems);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      warnings.push(describeError(error), `Error found while validating policy file: '${path}'. Skipping it.`);
    }
  }
  return { policies, warnings };
}

/** @param owners paths, by ids of policies and of checks @throws PolicyError */
function claim({ policy, path }: LoadedPolicy, owners: Map<number | string, string>): void {
  const owner = owners.get(policy.id);
  if (owner !== undefined) throw new PolicyError(`${path}: its 'id' '${policy.id}' is that of ${owner}`);
  for (const { id } of policy.checks) {
    const other = owners.get(id);
    if (other !== undefined) {
      throw new PolicyError(`${path}: check ${String(id)}: its 'id' is that of a check of ${other}`);
    }
  }
  owners.set(policy.id, path);
  for (const { id } of policy.checks) owners.set(id, path);
}
