import { readYaml } from '../config/yaml-document.js';
import { YamlError } from '../config/yaml-nodes.js';
import type { ScaLanguage } from './line-pattern.js';
import type { Condition, PolicyRule, RuleSet, ScaCheck, ScaPolicy } from './policy.js';
import { PolicyError, PolicyFields } from './policy-fields.js';
import { readRule, ScaRuleError } from './sca-rule.js';
import { UnknownFields } from './unknown-fields.js';
import { replaceVariables, sortVariables, type Variables } from './variables.js';

/** Values of a policy: a file of 4 MiB could hold a million, and each costs some hundred bytes. */
const MOST_VALUES = 200_000;
/** Checks of a policy: those in the field have some hundreds, and the state of each is kept. */
const MOST_CHECKS = 5000;
/** Rules of a check (integrity-and-inventory.md 10.2). */
const MOST_RULES = 255;
/** Characters of a rule, of which its patterns take most. */
const MOST_RULE_CHARACTERS = 20_480;
/** Rules of a policy, each of which is compiled, and their characters with variables replaced: aliases may repeat them. */
const MOST_RULES_IN_ALL = 20_000;
const MOST_CHARACTERS_IN_ALL = 16 * 1024 * 1024;
const MOST_VARIABLES = 1000;
const MOST_ID = 2_147_483_647;
/** Characters of a policy's id: it is part of orders and the key of tables. */
const MOST_ID_CHARACTERS = 255;
/** Characters of a policy's name and file, which each message of it has. */
const MOST_NAME_CHARACTERS = 1024;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  all: 'all',
  any: 'any',
  none: 'none',
  // Deprecated: the same.
  'all required': 'all',
  'any required': 'any',
};

/** Characters of a value that a message shows. */
const MOST_SHOWN = 64;

/** A policy, and what of it can never give a result or has no effect: each with file, line and check. */
export type ReadPolicy = { readonly policy: ScaPolicy; readonly problems: readonly string[] };

/**
 * Reads a policy (integrity-and-inventory.md 10.2). What is wrong with a regex or a comparison costs the rule alone; anything else
 * the policy.
 * @param file how messages call it
 * @throws PolicyError naming file, line, check and field
 */
export function readPolicy(text: string, file: string): ReadPolicy {
  const root = readRoot(text, file);
  const unknown = new UnknownFields(file);
  unknown.look('a policy file', root);
  const policy = root.mapping('policy');
  unknown.look('policy', policy);
  const id = policy.text('id');
  if (id.length > MOST_ID_CHARACTERS || /[\x00-\x1f\x7f]/.test(id)) {
    throw policy.error('id', `'id' has control characters or more than ${String(MOST_ID_CHARACTERS)} of others`);
  }
  const named = { file: nameOf(policy, 'file'), name: nameOf(policy, 'name'), description: policy.text('description') };
  const reader = new RuleReader(readVariables(root), policy, unknown);
  const requirements = root.has('requirements') ? readRequirements(root, reader) : undefined;
  return {
    policy: {
      ...{ id, ...named, references: policy.texts('references'), variables: reader.variables },
      requirements,
      checks: readChecks(root, reader),
    },
    problems: [...unknown.problems, ...reader.problems],
  };
}

function nameOf(policy: PolicyFields, field: string): string {
  const name = policy.text(field);
  if (name.length <= MOST_NAME_CHARACTERS) return name;
  throw policy.error(field, `'${field}' has more than ${String(MOST_NAME_CHARACTERS)} characters`);
}

function readRoot(text: string, file: string): PolicyFields {
  try {
    const document = readYaml(text, { textOnly: true, maxNodes: MOST_VALUES });
    return new PolicyFields({ file, document, path: [] }, document.value);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const where = error.line > 0 ? `${file} line ${String(error.line)}` : file;
    throw new PolicyError(`${where}: ${error.message}`, { cause: error });
  }
}

function readVariables(root: PolicyFields): Variables {
  if (!root.has('variables')) return [];
  const fields = root.mapping('variables');
  const names = fields.entries().map(([name]) => name);
  if (names.length > MOST_VARIABLES) throw fields.error(undefined, `there are more than ${String(MOST_VARIABLES)}`);
  return sortVariables(
    names.map((name) => {
      if (!/^\$./.test(name)) throw fields.error(name, `'${name}' does not begin with '$'`);
      return [name, fields.text(name)];
    }),
  );
}

function readRequirements(root: PolicyFields, reader: RuleReader): RuleSet {
  return reader.ruleSet('requirements', root.mapping('requirements'));
}

function readChecks(root: PolicyFields, reader: RuleReader): ScaCheck[] {
  if (!root.has('checks')) throw root.error(undefined, "there are no 'checks'");
  const all = root.mappings('checks', 'check number');
  if (all.length === 0) throw root.error('checks', "there are no 'checks'");
  if (all.length > MOST_CHECKS) throw root.error('checks', `there are more than ${String(MOST_CHECKS)} checks`);
  const checks = new Map<number, ScaCheck>();
  for (const fields of all) {
    const check = readCheck(fields, reader);
    if (checks.has(check.id)) throw fields.error('id', `'id' ${String(check.id)} is that of another check`);
    checks.set(check.id, check);
  }
  return [...checks.values()].sort((a, b) => a.id - b.id);
}

function readCheck(unnamed: PolicyFields, reader: RuleReader): ScaCheck {
  const text = unnamed.text('id');
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MOST_ID) {
    throw unnamed.error('id', `'id' is '${text}': it must be a number from 1 to ${String(MOST_ID)}`);
  }
  const fields = unnamed.of(`check ${String(id)}`);
  return {
    id,
    ...reader.ruleSet('a check', fields),
    description: fields.optionalText('description'),
    rationale: fields.optionalText('rationale'),
    remediation: fields.optionalText('remediation'),
    references: fields.texts('references'),
    compliance: readCompliance(fields),
  };
}

/** A list of mappings with one key each, or one mapping; the values of a key that is repeated come together. */
function readCompliance(fields: PolicyFields): ScaCheck['compliance'] {
  if (!fields.has('compliance')) return [];
  const value = fields.get('compliance');
  const maps = Array.isArray(value) ? fields.mappings('compliance', 'compliance') : [fields.mapping('compliance')];
  const found = new Map<string, string[]>();
  for (const map of maps) {
    for (const [key, values] of map.entries()) {
      found.set(key, [...(found.get(key) ?? []), ...(values === null ? [] : map.listOf(key, values))]);
    }
  }
  return [...found];
}

/** Reads the rules of one policy. */
class RuleReader {
  readonly variables: Variables;
  readonly problems: string[] = [];
  readonly #language: ScaLanguage;
  readonly #unknown: UnknownFields;
  #rules = 0;
  #characters = 0;

  constructor(variables: Variables, policy: PolicyFields, unknown: UnknownFields) {
    this.variables = variables;
    this.#unknown = unknown;
    this.#language = this.#languageOf(policy, 'osregex');
  }

  ruleSet(place: 'requirements' | 'a check', fields: PolicyFields): RuleSet {
    this.#unknown.look(place, fields);
    const title = fields.text('title');
    const text = fields.text('condition');
    const condition = Object.hasOwn(CONDITIONS, text) ? CONDITIONS[text] : undefined;
    if (condition === undefined) {
      throw fields.error('condition', `'condition' is '${text}': it must be 'all', 'any' or 'none'`);
    }
    const language = this.#languageOf(fields, this.#language);
    const rules = fields.get('rules');
    if (!Array.isArray(rules) || rules.length === 0) throw fields.error('rules', "there are no 'rules'");
    if (rules.length > MOST_RULES) throw fields.error('rules', `there are more than ${String(MOST_RULES)} 'rules'`);
    return {
      ...{ title, condition, language },
      rules: rules.map((rule: unknown, index) => this.#rule(rule, index, fields, language)),
    };
  }

  #languageOf(fields: PolicyFields, otherwise: ScaLanguage): ScaLanguage {
    const type = fields.optionalText('regex_type');
    if (type === undefined || type === 'pcre2' || type === 'osregex') return type ?? otherwise;
    const text = `'regex_type' is '${type.slice(0, MOST_SHOWN)}', neither 'pcre2' nor 'osregex': the native regex is used`;
    this.problems.push(fields.error('regex_type', text).message);
    return 'osregex';
  }

  #rule(rule: unknown, index: number, fields: PolicyFields, language: ScaLanguage): PolicyRule {
    const name = `rule ${String(index + 1)}`;
    if (typeof rule !== 'string' || rule === '') throw fields.error('rules', `${name} is empty or no text`, index);
    if (rule.length > MOST_RULE_CHARACTERS) {
      throw fields.error('rules', `${name} has more than ${String(MOST_RULE_CHARACTERS)} characters`, index);
    }
    try {
      const expanded = replaceVariables(rule, this.variables);
      this.#rules += 1;
      this.#characters += expanded.length;
      if (this.#rules > MOST_RULES_IN_ALL || this.#characters > MOST_CHARACTERS_IN_ALL) {
        throw fields.error('rules', 'the policy has too many rules', index);
      }
      const { kind, problems } = readRule(expanded, language);
      for (const problem of problems) {
        this.problems.push(fields.error('rules', `${name} can give no result: ${problem}`, index).message);
      }
      return { text: rule, expanded, kind };
    } catch (error) {
      if (!(error instanceof ScaRuleError)) throw error;
      throw fields.error('rules', `${name}: ${error.message}`, index);
    }
  }
}
