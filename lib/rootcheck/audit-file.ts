import { splitPolicyTitle } from '../groups/policy-list.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import type { Matcher } from '../patterns/matcher.js';
import { PatternError } from '../patterns/pattern-error.js';
import { AuditPattern } from './audit-pattern.js';

/** One line of an entry. Texts are byte strings. */
export type AuditRule =
  | {
      readonly type: 'file';
      readonly negated: boolean;
      readonly paths: readonly string[];
      readonly pattern?: AuditPattern;
    }
  | {
      readonly type: 'directory';
      readonly negated: boolean;
      readonly paths: readonly string[];
      readonly name?: Matcher;
      readonly pattern?: AuditPattern;
    }
  | { readonly type: 'process'; readonly negated: boolean; readonly pattern: AuditPattern };

/** Something a `system_audit` file finds when its rules match. */
export type AuditEntry = {
  readonly name: string;
  readonly condition: 'any' | 'all' | 'none';
  /** When it does not match, what comes behind it is not looked at. */
  readonly required: boolean;
  readonly reference: string;
  readonly rules: readonly AuditRule[];
};

/** Entries of a file, rules of an entry and variables. */
export const AUDIT_LIMITS = { entries: 5000, rules: 255, variables: 1000 } as const;

const CONDITIONS: Readonly<Record<string, Pick<AuditEntry, 'condition' | 'required'>>> = {
  any: { condition: 'any', required: false },
  all: { condition: 'all', required: false },
  none: { condition: 'none', required: false },
  'any required': { condition: 'any', required: true },
  'all required': { condition: 'all', required: true },
};
const ARROW = ' -> ';

type OpenEntry = Omit<AuditEntry, 'rules'> & { readonly rules: AuditRule[]; broken: boolean };

/**
 * Reads a `system_audit` file (integrity-and-inventory.md 9.3). An entry that is not right is left out whole: without one
 * of its rules it would find what is not there.
 * @param text byte string
 * @param note told what is wrong, with its line
 */
export function readAuditFile(text: string, note: (line: number, problem: string) => void): AuditEntry[] {
  return new AuditReader(note).read(text);
}

class AuditReader {
  readonly #note: (line: number, problem: string) => void;
  readonly #variables = new Map<string, string>();
  readonly #entries: OpenEntry[] = [];

  constructor(note: (line: number, problem: string) => void) {
    this.#note = note;
  }

  read(text: string): AuditEntry[] {
    for (const [index, written] of text.split('\n').entries()) {
      const line = written.trim();
      if (line === '' || line.startsWith('#')) continue;
      const problem = this.#line(line);
      if (problem !== undefined) this.#note(index + 1, problem);
    }
    return this.#entries.filter(({ broken, rules }) => !broken && rules.length > 0);
  }

  /** @returns what is wrong with it */
  #line(line: string): string | undefined {
    if (line.startsWith('$')) return this.#variable(line);
    if (line.startsWith('[')) return this.#title(line);
    const entry = this.#entries.at(-1);
    if (entry === undefined) return 'there is no entry in front of it';
    try {
      if (entry.rules.length >= AUDIT_LIMITS.rules) throw new PatternError(6, 'its entry has too many rules');
      entry.rules.push(this.#rule(line));
      return undefined;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const was = entry.broken;
      entry.broken = true;
      return was ? undefined : `${error.message}; the entry '${entry.name}' is left out`;
    }
  }

  #variable(line: string): string | undefined {
    const [, name, value] = /^(\$\w+)=(.*?);?$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return 'it is no variable of the form $name=value;';
    if (this.#variables.size >= AUDIT_LIMITS.variables) return 'there are too many variables';
    this.#variables.set(name, value.trim());
    return undefined;
  }

  #title(line: string): string | undefined {
    const parts = splitPolicyTitle(line);
    const condition = parts === undefined ? undefined : CONDITIONS[parts.condition];
    const broken = parts === undefined || condition === undefined || this.#entries.length >= AUDIT_LIMITS.entries;
    const { title: name = '', reference = '' } = parts ?? {};
    // Rules behind a title that is not right must not become those of the entry in front of it.
    if (this.#entries.length <= AUDIT_LIMITS.entries) {
      this.#entries.push({
        name,
        reference,
        rules: [],
        broken,
        ...(condition ?? { condition: 'any', required: false }),
      });
    }
    if (parts === undefined) return 'it is no entry of the form [name] [condition] [reference]';
    if (condition === undefined) return `'${parts.condition}' is no condition; the entry '${name}' is left out`;
    return broken ? 'there are too many entries' : undefined;
  }

  /** @throws PatternError */
  #rule(line: string): AuditRule {
    const type = line.slice(0, 2);
    const written = line.slice(2).replace(/;\s*$/, '').trim();
    const negated = written.startsWith('!');
    const value = negated ? written.slice(1).trim() : written;
    if (value === '') throw new PatternError(6, 'the rule is empty');
    if (type === 'p:') return { type: 'process', negated, pattern: new AuditPattern(value) };
    if (type !== 'f:' && type !== 'd:') throw new PatternError(6, `'${type}' is no kind of rule here`);
    const [targets, rest] = splitAt(value, ARROW);
    const paths = this.#paths(targets);
    if (type === 'f:') {
      return { type: 'file', negated, paths, ...(rest !== undefined && { pattern: new AuditPattern(rest) }) };
    }
    if (rest === undefined) return { type: 'directory', negated, paths };
    const [name, pattern] = splitAt(rest, ARROW);
    return {
      type: 'directory',
      negated,
      paths,
      name: name.startsWith('r:') ? compilePattern('osregex', name.slice(2)) : compilePattern('osmatch', name),
      ...(pattern !== undefined && { pattern: new AuditPattern(pattern) }),
    };
  }

  /** @throws PatternError */
  #paths(written: string): string[] {
    const text = written.replace(/\$\w+/g, (name) => {
      const value = this.#variables.get(name);
      if (value === undefined) throw new PatternError(6, `there is no variable '${name}'`);
      return value;
    });
    const paths = text.split(',').map((path) => path.trim());
    const wrong = paths.find((path) => !path.startsWith('/'));
    if (wrong !== undefined) throw new PatternError(6, `'${wrong}' is no absolute path`);
    return paths;
  }
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at).trim(), text.slice(at + separator.length).trim()];
}
