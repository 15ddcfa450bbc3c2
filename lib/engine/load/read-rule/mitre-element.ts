import type { XmlElement } from '../../../xml/xml-element.js';
import { asciiLowerCase } from '../../ascii-case.js';
import type { Diagnostics, SourcePlace } from '../../event.js';
import type { MitreSpec } from '../rule.js';

type Block = { readonly old: string[]; readonly tactics: string[]; readonly techniques: string[] };

/** Collects the `<mitre>` blocks of one rule (rules-and-alerts.md 2.6). Nothing here ends the load. */
export class RuleMitre {
  readonly #techniques: string[] = [];
  readonly #pairs: { tactic: string; technique: string }[] = [];
  readonly #rule: string;
  readonly #place: SourcePlace;
  readonly #diagnostics: Diagnostics;

  constructor(ruleId: number, place: SourcePlace, diagnostics: Diagnostics) {
    this.#rule = String(ruleId);
    this.#place = place;
    this.#diagnostics = diagnostics;
  }

  add(element: XmlElement): void {
    const block = this.#read(element);
    if (block === undefined) return;
    const { old, tactics, techniques } = block;
    const isNew = tactics.length + techniques.length > 0;
    if (old.length > 0 && isNew) {
      this.#warn(
        `Rule '${this.#rule}' combined old and new Mitre formats in the same block. The Mitre block will be discarded.`,
      );
      return;
    }
    if (!isNew) {
      for (const technique of old) if (!this.#techniques.includes(technique)) this.#techniques.push(technique);
      return;
    }
    if (tactics.length > 1 || techniques.length > 1) {
      this.#warn(
        `In rule '${this.#rule}' is not allowed to join more than one Mitre techniqueID or tacticID in the same block. The Mitre block will be discarded.`,
      );
      return;
    }
    const [tactic] = tactics;
    const [technique] = techniques;
    if (tactic === undefined) {
      this.#warn(`Mitre tacticID should be defined in rule '${this.#rule}'`);
    } else if (technique === undefined) {
      this.#warn(`Mitre techniqueID should be defined in rule '${this.#rule}'`);
    } else if (!this.#pairs.some((pair) => pair.tactic === tactic && pair.technique === technique)) {
      this.#pairs.push({ tactic, technique });
    }
  }

  /** What remains when both notations were used in different blocks: the new one. */
  finish(): MitreSpec {
    if (this.#techniques.length > 0 && this.#pairs.length > 0) {
      this.#warn(
        `Rule '${this.#rule}' combined old and new Mitre formats, the old Mitre Technique format will be discarded.`,
      );
      return { techniques: [], pairs: this.#pairs };
    }
    return { techniques: this.#techniques, pairs: this.#pairs };
  }

  #read(element: XmlElement): Block | undefined {
    if (element.children.length === 0) {
      this.#warn(`Empty Mitre information for rule '${this.#rule}'`);
      return undefined;
    }
    const block: Block = { old: [], tactics: [], techniques: [] };
    for (const child of element.children) {
      switch (asciiLowerCase(child.name)) {
        case 'id':
          if (child.content === '') return this.#missing('Technique');
          block.old.push(child.content);
          break;
        case 'techniqueid':
          if (child.content === '') return this.#missing('Technique');
          block.techniques.push(child.content);
          break;
        case 'tacticid':
          if (child.content === '') return this.#missing('Tactic');
          block.tactics.push(child.content);
          break;
        default:
          this.#diagnostics.error(`Invalid option '${child.name}' for rule '${this.#rule}'`, this.#place);
          return undefined;
      }
    }
    return block;
  }

  #missing(what: 'Technique' | 'Tactic'): undefined {
    this.#warn(`No Mitre ${what} ID found for rule '${this.#rule}'`);
    return undefined;
  }

  #warn(text: string): void {
    this.#diagnostics.warn(text, this.#place);
  }
}
