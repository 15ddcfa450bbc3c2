import { ScaRuleError, splitRule } from './sca-rule.js';

/** Variables of a policy, the longest name first, so that `$sshd_conf` is not taken for `$sshd`. */
export type Variables = readonly (readonly [name: string, value: string])[];

/** Bytes of a rule with its variables replaced: values of values do not occur, yet one may be used very often. */
const MOST_EXPANDED = 65_536;

/** Characters of a rule's type, and of that behind `not `. */
const TYPE = 2;
const NOT_AND_TYPE = 6;

/** @param entries name, with its `$`, and value */
export function sortVariables(entries: readonly (readonly [string, string])[]): Variables {
  return [...entries].sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1));
}

/**
 * Replaces variables in the target of a rule; those of processes have none (integrity-and-inventory.md 10.3, 15).
 * @throws ScaRuleError
 */
export function replaceVariables(text: string, variables: Variables): string {
  if (variables.length === 0 || !text.includes('$')) return text;
  const { negated, kind, target } = splitRule(text);
  if (kind === 'process') return text;
  let replaced = target;
  for (const [name, value] of variables) {
    replaced = replaced.replaceAll(name, () => value);
    if (replaced.length > MOST_EXPANDED) throw new ScaRuleError(`'${text}' is too long with its variables replaced`);
  }
  const at = text.indexOf(target, negated ? NOT_AND_TYPE : TYPE);
  return `${text.slice(0, at)}${replaced}${text.slice(at + target.length)}`;
}
