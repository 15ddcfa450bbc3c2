import { listPath } from '../../lib/engine/load/load-ruleset.js';

/** Most lists and most rules of a list that the summary names. */
const MOST_LISTS = 20;
const MOST_RULES = 8;

/** Why a list is missing, and the rules that go without. */
type MissingList = { reason: string; readonly rules: number[] };

/** Lists that a load of the ruleset went without, so that one line tells of all of them. */
export class MissingLists {
  readonly #lists = new Map<string, MissingList>();

  /** A list that the configuration names and that cannot be read. @param reason of the file system */
  absent(path: string, reason: string): void {
    this.#of(listPath(path)).reason = `is named in <ruleset>, but its file cannot be read: ${reason}`;
  }

  /** A rule that is ignored for want of a list. */
  ignored(path: string, ruleId: number): void {
    this.#of(path).rules.push(ruleId);
  }

  /** One text; undefined when none is missing. */
  summary(): string | undefined {
    if (this.#lists.size === 0) return undefined;
    const shown = [...this.#lists].slice(0, MOST_LISTS).map(([path, list]) => `'${path}' ${describe(list)}`);
    const more = this.#lists.size > MOST_LISTS ? `; and ${String(this.#lists.size - MOST_LISTS)} more lists` : '';
    const one = this.#lists.size === 1;
    return `(7616): ${one ? 'A list is' : 'Lists are'} missing, and the rules that use ${one ? 'it' : 'them'} are ignored: ${shown.join('; ')}${more}.`;
  }

  #of(path: string): MissingList {
    let list = this.#lists.get(path);
    if (list === undefined) {
      list = { reason: 'is not named in <ruleset>', rules: [] };
      this.#lists.set(path, list);
    }
    return list;
  }
}

function describe({ reason, rules }: MissingList): string {
  if (rules.length === 0) return `${reason} (no rule uses it)`;
  const named = rules.slice(0, MOST_RULES).join(', ');
  const more = rules.length > MOST_RULES ? ` and ${String(rules.length - MOST_RULES)} more` : '';
  return `${reason} (${rules.length === 1 ? 'rule' : 'rules'} ${named}${more})`;
}
