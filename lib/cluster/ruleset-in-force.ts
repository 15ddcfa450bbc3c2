import { readFileSync } from 'node:fs';
import { ifPresentSync } from '../files/if-present.js';
import type { Home } from '../home/home.js';

/** Where svc-clusterd keeps rulesets of the cluster whole: a folder each, named by the id of its manifest. */
const RULESETS = 'queue/cluster/rulesets';
/** Says which of them is in force on this node. */
export const RULESET_POINTER = `${RULESETS}/in-force`;
/** Folders of etc that make up a ruleset of the cluster. */
export const RULESET_FOLDERS = ['rules', 'decoders', 'lists'] as const;
const ID = /^[0-9a-f]{64}$/;

/** Folder of a ruleset, below the home; in it are `rules`, `decoders` and `lists`. */
export function rulesetFolder(id: string): string {
  if (!ID.test(id)) throw new RangeError(`'${id}' is no id of a ruleset`);
  return `${RULESETS}/${id}`;
}

/**
 * Id of the ruleset that svc-analysisd of a node in a cluster works by, whatever somebody is editing in etc; undefined while
 * the cluster has none that this node knows.
 * @throws the file system's error, but for a missing file
 */
export function rulesetInForce(home: Home): string | undefined {
  const id = ifPresentSync(() => readFileSync(home.path(RULESET_POINTER), 'latin1'))?.trim();
  return id !== undefined && ID.test(id) ? id : undefined;
}
