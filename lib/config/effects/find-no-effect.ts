import type { HomeRole } from '../../home/home-record.js';
import type { DaemonName } from '../../product/daemon-names.js';
import { attributeValue, type XmlElement } from '../../xml/xml-element.js';
import type { ConfigWarning } from '../config-error.js';
import type { SectionName } from '../manager-config.js';
import type { SectionBlocks } from '../section-blocks.js';
import type { Effect, ElementEffects, ElementGroup, SectionEffects } from './effect.js';
import { effectsOf } from './effect-table.js';

/** Something the configuration asks for and that is not done. */
export type NoEffect = ConfigWarning & {
  /** `integration`, `wodle name="osquery"`, `global/email_notification`. */
  readonly what: string;
  /** `later` not in this version, `never` not in this product. */
  readonly state: 'later' | 'never';
  /** Every line where it is asked for, rising; `line` is the first. */
  readonly lines: readonly number[];
  /** What does not happen; a clause. */
  readonly note: string;
  /** Who tells of it in `-t`. */
  readonly owner: DaemonName;
};

/** Further lines that a text names. */
const MOST_LINES = 8;

type FoundSetting = {
  readonly effect: Extract<Effect, { readonly note: string }>;
  readonly file: string;
  readonly section: SectionName;
  readonly owner: DaemonName;
  /** How users call it. */
  readonly called: string;
  readonly what: string;
  readonly lines: number[];
};

/**
 * What of a configuration has no effect in this version: each section or element once, whatever the number of its
 * blocks. What is switched off, or asks for what happens anyway, is none.
 * @returns by file, then line
 */
export function findNoEffect(blocks: SectionBlocks, role: HomeRole): NoEffect[] {
  const found = new Map<string, FoundSetting>();
  for (const [name, all] of blocks) {
    for (const { element, file } of all) {
      new BlockLook(name, file, effectsOf(role, name, element), blocks, found).look(element);
    }
  }
  return [...found.values()]
    .map(describe)
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}

/** Looks at one block of a section. */
class BlockLook {
  readonly #name: SectionName;
  readonly #file: string;
  readonly #effects: SectionEffects;
  readonly #all: SectionBlocks;
  readonly #found: Map<string, FoundSetting>;

  constructor(
    name: SectionName,
    file: string,
    effects: SectionEffects,
    all: SectionBlocks,
    found: Map<string, FoundSetting>,
  ) {
    this.#name = name;
    this.#file = file;
    this.#effects = effects;
    this.#all = all;
    this.#found = found;
  }

  look(block: XmlElement): void {
    const { block: whole, unless, elements } = this.#effects;
    const module = this.#name === 'wodle' ? attributeValue(block, 'name') : undefined;
    const what = module === undefined ? this.#name : `wodle name="${module}"`;
    if ('note' in whole) {
      if (!whole.unless(block, block, this.#all)) this.#add(whole, what, `Section '${what}'`, block);
      return;
    }
    if (elements === 'any' || unless(block, block, this.#all)) return;
    this.#children(block, elements, this.#name);
  }

  #children(parent: XmlElement, effects: ElementEffects, path: string): void {
    for (const child of parent.children) {
      // Names come from outside: only the table's own count. Others are errors where the section is read.
      const effect: Effect | ElementGroup | undefined = Object.hasOwn(effects, child.name)
        ? effects[child.name]
        : undefined;
      if (effect === undefined) continue;
      const what = `${path}/${child.name}`;
      if (effect.kind === 'group') {
        this.#children(child, effect.elements, what);
      } else if ('note' in effect && !effect.unless(child, parent, this.#all)) {
        this.#add(effect, what, `Element '${child.name}' of '${path}'`, child);
      }
    }
  }

  #add(effect: FoundSetting['effect'], what: string, called: string, { line }: XmlElement): void {
    const key = `${this.#file} ${what}`;
    const known = this.#found.get(key);
    if (known !== undefined) {
      known.lines.push(line);
      return;
    }
    const { owner } = this.#effects;
    this.#found.set(key, { effect, file: this.#file, section: this.#name, owner, called, what, lines: [line] });
  }
}

function describe({ effect, file, section, owner, called, what, lines }: FoundSetting): NoEffect {
  const [line = 0, ...others] = lines;
  const more = others.length > MOST_LINES ? ` and ${String(others.length - MOST_LINES)} more` : '';
  const also = others.length === 0 ? '' : ` (also line ${others.slice(0, MOST_LINES).join(', ')}${more})`;
  const here = effect.kind === 'later' ? 'in this version' : 'here';
  const text = `${called} has no effect ${here}: ${effect.note}${also}.`;
  return { file, line, section, text, what, state: effect.kind, note: effect.note, lines, owner };
}
