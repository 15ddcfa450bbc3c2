import { toByteString } from '../byte-string.js';
import { jsonStrings } from '../json-text.js';
import type { MitreSpec } from './rule.js';

type Technique = { readonly name: string; readonly tactics: readonly string[] };

/** Techniques and tactics of ATT&CK by id; names are byte strings. Revoked and deprecated techniques are not in it. */
export class MitreTable {
  readonly #techniques: ReadonlyMap<string, Technique>;
  /** Tactic id to name. */
  readonly #tactics: ReadonlyMap<string, string>;

  constructor(techniques: ReadonlyMap<string, Technique>, tactics: ReadonlyMap<string, string>) {
    this.#techniques = techniques;
    this.#tactics = tactics;
  }

  /** A table that knows nothing: no alert gets a `mitre` member. */
  static readonly empty = new MitreTable(new Map(), new Map());

  /**
   * Reads the content of the shipped `mitre/attack.json`.
   * @throws SyntaxError or TypeError when it is something else
   */
  static parse(text: string): MitreTable {
    const data: unknown = JSON.parse(text);
    const techniques = new Map<string, Technique>();
    for (const each of arrayMember(data, 'techniques')) {
      if (booleanMember(each, 'revoked') || booleanMember(each, 'deprecated')) continue;
      techniques.set(textMember(each, 'id'), {
        name: toByteString(textMember(each, 'name')),
        tactics: arrayMember(each, 'tactics').map((tactic) => toByteString(String(tactic))),
      });
    }
    const tactics = new Map(
      arrayMember(data, 'tactics').map((each) => [textMember(each, 'id'), toByteString(textMember(each, 'name'))]),
    );
    return new MitreTable(techniques, tactics);
  }

  /**
   * The `mitre` member of a rule (rules-and-alerts.md 7.2) with the warnings it gives; no JSON when no tactic results.
   */
  describe(spec: MitreSpec): { readonly json: string | undefined; readonly warnings: readonly string[] } {
    const warnings: string[] = [];
    const ids: string[] = [];
    const tactics: string[] = [];
    const techniques: string[] = [];
    const add = (list: string[], text: string): void => {
      if (!list.includes(text)) list.push(text);
    };
    for (const id of spec.techniques) {
      ids.push(id);
      const technique = this.#techniques.get(id);
      if (technique === undefined) {
        warnings.push(`Mitre Technique ID '${id}' not found in database.`);
        continue;
      }
      for (const tactic of technique.tactics) add(tactics, tactic);
      techniques.push(technique.name);
    }
    for (const pair of spec.pairs) {
      const technique = this.#techniques.get(pair.technique);
      const tactic = this.#tactics.get(pair.tactic);
      if (technique === undefined) {
        warnings.push(`Mitre Technique ID '${pair.technique}' not found in database.`);
      } else if (tactic === undefined || !technique.tactics.includes(tactic)) {
        warnings.push(`Mitre Tactic ID '${pair.tactic}' is not a tactic of '${pair.technique}'.`);
      } else {
        add(ids, pair.technique);
        add(tactics, tactic);
        add(techniques, technique.name);
      }
    }
    if (tactics.length === 0) return { json: undefined, warnings };
    const json = `{"id":${jsonStrings(ids)},"tactic":${jsonStrings(tactics)},"technique":${jsonStrings(techniques)}}`;
    return { json, warnings };
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}

function arrayMember(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  if (!Array.isArray(found)) throw new TypeError(`'${name}' is not an array`);
  return found;
}

function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  if (typeof found !== 'string') throw new TypeError(`'${name}' is not a text`);
  return found;
}

function booleanMember(value: unknown, name: string): boolean {
  return member(value, name) === true;
}
