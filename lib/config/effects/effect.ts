import type { DaemonName } from '../../product/daemon-names.js';
import type { XmlElement } from '../../xml/xml-element.js';
import { lastContent } from '../last-content.js';
import type { SectionBlocks } from '../section-blocks.js';

/** Whether an element asks for nothing that would not be done anyway. @param parent what it stands in */
export type AsksNothing = (element: XmlElement, parent: XmlElement, all: SectionBlocks) => boolean;

/** What this version makes of an element of the configuration, or of a whole section. */
export type Effect =
  /** It does what it says, or says how something does that works. */
  | { readonly kind: 'works' }
  /** It says more about something beside it that does not work: only that is told. */
  | { readonly kind: 'part' }
  /** It asks for something that is not done: `later` not in this version, `never` not in this product. */
  | {
      readonly kind: 'later' | 'never';
      /** What does not happen; a clause. */
      readonly note: string;
      readonly unless: AsksNothing;
    };

/** Effects of the elements inside something, by name. */
export type ElementEffects = Readonly<Record<string, Effect | ElementGroup>>;

/** An element with others inside. */
export type ElementGroup = { readonly kind: 'group'; readonly elements: ElementEffects };

/** What this version makes of a section. */
export type SectionEffects = {
  /** Who speaks of it in `-t`: the daemon that reads it, or one that every home of the role has. */
  readonly owner: DaemonName;
  /** Of each block as a whole. A block that asks for something that is not done is told, and not its elements. */
  readonly block: Effect;
  /** Blocks that are switched off ask for nothing, whatever stands in them. */
  readonly unless: AsksNothing;
  /** 'any' for a section that nobody reads. */
  readonly elements: ElementEffects | 'any';
};

export const works: Effect = { kind: 'works' };
export const part: Effect = { kind: 'part' };

const asksAlways: AsksNothing = () => false;

/** Asks for something that this version does not do. */
export function later(note: string, unless: AsksNothing = asksAlways): Effect {
  return { kind: 'later', note, unless };
}

/** Asks for something that this product does not do. */
export function never(note: string, unless: AsksNothing = asksAlways): Effect {
  return { kind: 'never', note, unless };
}

/** An element with others inside. */
export function inside(elements: ElementEffects): ElementGroup {
  return { kind: 'group', elements };
}

/** The same effect for each of the names. */
export function each(effect: Effect | ElementGroup, ...names: readonly string[]): ElementEffects {
  return Object.fromEntries(names.map((name) => [name, effect]));
}

/** An element with one of these texts asks for nothing. */
export function saying(...texts: readonly string[]): AsksNothing {
  return ({ content }) => texts.includes(content.trim());
}

/** A block that says `<disabled>yes` or `<enabled>no`. */
export const switchedOff: AsksNothing = (block) =>
  lastContent(block, 'disabled')?.trim() === 'yes' || lastContent(block, 'enabled')?.trim() === 'no';

/** A block that does not say `<enabled>yes`. */
export const notSwitchedOn: AsksNothing = (block) => lastContent(block, 'enabled')?.trim() !== 'yes';

/** A section all of whose elements work unless the table says otherwise of one. */
export function section(owner: DaemonName, elements: ElementEffects, unless: AsksNothing = asksAlways): SectionEffects {
  return { owner, block: works, unless, elements };
}

/** A section that has no effect as a whole. @param names its elements; 'any' where nobody reads them */
export function without(owner: DaemonName, block: Effect, names: readonly string[] | 'any'): SectionEffects {
  return { owner, block, unless: asksAlways, elements: names === 'any' ? 'any' : each(part, ...names) };
}
