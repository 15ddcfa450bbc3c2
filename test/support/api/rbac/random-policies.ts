import { WORLD_FILES, WORLD_GROUPS, WORLD_NODE } from './permission-world.js';
import type { ReferencePolicy } from './reference-evaluator.js';
import { specifiedActionTypes } from './specified-action-types.js';

/** Numbers that are the same for the same seed, from 0 to below 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  '*:*': ['*'],
  'agent:id': ['000', '001', '002', '003', '004', '005', '901'],
  'agent:group': WORLD_GROUPS,
  'group:id': [...WORLD_GROUPS, 'nowhere'],
  'node:id': [WORLD_NODE, 'node99'],
  'rule:file': [...(WORLD_FILES['rule:file'] ?? []), 'no_rules.xml', 'one_tests.yml'],
  'decoder:file': [...(WORLD_FILES['decoder:file'] ?? []), 'no_decoders.xml'],
  'list:file': [...(WORLD_FILES['list:file'] ?? []), 'no-list'],
  'user:id': ['1', '2', '100', '101', '9001'],
  'role:id': ['1', '2', '100', '101', '9001'],
  'policy:id': ['1', '2', '101', '102', '9001'],
  'rule:id': ['1', '2', '9001'],
};

/** Policies as somebody might write them who does not know much of what they mean: both effects, wildcards, groups, pairs, repetitions. */
export function randomPolicies(random: () => number): ReferencePolicy[] {
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(random() * from.length)];
    if (found === undefined) throw new RangeError('nothing to pick from');
    return found;
  };
  const several = <T>(most: number, make: () => T): T[] =>
    Array.from({ length: 1 + Math.floor(random() * most) }, make);
  const actions = [...specifiedActionTypes().keys()];
  const kinds = Object.keys(VALUES);
  const resource = (types: readonly string[]): string => {
    const type = random() < 0.95 ? pick(types) : pick(kinds);
    const value = random() < 0.35 ? '*' : pick(VALUES[type] ?? ['*']);
    return random() < 0.04 ? `${type}:${value}&agent:group:web` : `${type}:${value}`;
  };
  return several(8, () => {
    const first = pick(actions);
    const types = typesOf(first);
    const alike = actions.filter((action) => typesOf(action).some((type) => types.includes(type)));
    const chosen = random() < 0.6 ? alike : [first, ...several(4, () => pick(alike))];
    return {
      actions: [...new Set(chosen)],
      resources: several(4, () => resource(types)),
      effect: pick(['allow', 'allow', 'deny'] as const),
    };
  });
}

function typesOf(action: string): readonly string[] {
  return specifiedActionTypes().get(action) ?? [];
}
