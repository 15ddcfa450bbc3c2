import type { Matcher } from '../../patterns/matcher.js';
import type { DecoderIdentity, Diagnostics } from '../event.js';
import type { DecoderDefinition, DecoderOffset, PatternDefinition } from '../load/decoder-definition.js';
import { INTERNAL_DECODER_NAMES } from '../load/internal-decoder-names.js';
import type { PatternCompiler } from '../load/pattern-compiler.js';
import { placeOfPattern, RulesetError } from '../load/ruleset-error.js';
import { warnOfExplosion } from '../load/warn-of-explosion.js';
import { ChildIndex } from './child-index.js';
import {
  type Decoder,
  type DecoderSet,
  OFFSET_AFTER_PARENT,
  OFFSET_AFTER_PREMATCH,
  OFFSET_AFTER_REGEX,
  OFFSET_NONE,
  type OffsetKind,
  type RootDecoder,
} from './decoder-set.js';
import { staticFieldOf } from './static-field.js';

/** A decoder while the tree grows: whether it is chained, and its number, are known only at the end. */
type DecoderNode = {
  readonly definition: DecoderDefinition;
  readonly programName: Matcher | undefined;
  readonly prematch: Matcher | undefined;
  readonly regex: Matcher | undefined;
  chained: boolean;
};

type Root = {
  readonly node: DecoderNode;
  readonly children: DecoderNode[];
};

/** Puts decoders into the two root lists and under their parents, in load order (decoding.md 4.3, 4.4). */
export class DecoderTree {
  readonly #diagnostics: Diagnostics;
  readonly #compilePattern: PatternCompiler;
  readonly #programRoots: Root[] = [];
  readonly #plainRoots: Root[] = [];
  readonly #rootsByName = new Map<string, Root[]>();
  readonly #names = new Set<string>(INTERNAL_DECODER_NAMES);

  constructor(diagnostics: Diagnostics, compilePattern: PatternCompiler) {
    this.#diagnostics = diagnostics;
    this.#compilePattern = compilePattern;
  }

  /** @throws RulesetError when a pattern does not compile or the decoder does not fit in (decoding.md 4.3) */
  add(definition: DecoderDefinition): void {
    const node: DecoderNode = {
      definition,
      prematch: this.#compile(definition, definition.prematch),
      programName: this.#compile(definition, definition.programName),
      regex: this.#compile(definition, definition.regex),
      chained: false,
    };
    this.#names.add(definition.name);
    if (definition.parent === undefined) {
      this.#addRoot(node);
      return;
    }
    const parents = this.#rootsByName.get(definition.parent);
    if (parents === undefined) {
      this.#fail(definition, `(2101): Parent decoder name invalid: '${definition.parent}'.`);
    }
    for (const parent of parents) {
      this.#addChild(parent.children, node);
    }
  }

  /** The finished set; numbers are positions of names in byte order, so that they do not depend on the load order. */
  finish(orderSize: number): DecoderSet {
    const ids = new Map([...this.#names].sort(compareBytes).map((name, index) => [name, index + 1]));
    // A child that hangs below several roots of one name is the same decoder everywhere.
    const made = new Map<DecoderNode, Decoder>();
    const make = (node: DecoderNode): Decoder => {
      const decoder = made.get(node) ?? makeDecoder(node, ids);
      made.set(node, decoder);
      return decoder;
    };
    const makeRoot = ({ node, children: nodes }: Root): RootDecoder => {
      const children = nodes.map(make);
      return { decoder: make(node), children, childIndex: new ChildIndex(children) };
    };
    return {
      programRoots: this.#programRoots.map(makeRoot),
      plainRoots: this.#plainRoots.map(makeRoot),
      ids,
      orderSize,
    };
  }

  #addRoot(node: DecoderNode): void {
    const root = { node, children: [] };
    (node.programName === undefined ? this.#plainRoots : this.#programRoots).push(root);
    const { name } = node.definition;
    const sameName = this.#rootsByName.get(name);
    if (sameName === undefined) {
      this.#rootsByName.set(name, [root]);
    } else {
      sameName.push(root);
    }
  }

  #addChild(siblings: DecoderNode[], node: DecoderNode): void {
    const { definition } = node;
    const { name } = definition;
    const sameName = siblings.filter((sibling) => sibling.definition.name === name);
    if (sameName.length > 0) {
      if (node.prematch !== undefined) {
        this.#failLoading(definition, `(2102): Duplicated decoder with prematch: '${name}'.`);
      }
      if (definition.fts !== undefined) {
        this.#failLoading(definition, `(2103): Duplicated decoder with fts set: '${name}'.`);
      }
      if (![node, ...sameName].every(extracts)) {
        this.#failLoading(definition, `(2104): Invalid duplicated decoder: '${name}'.`);
      }
    }
    const earlier = sameName.some((sibling) => sibling.prematch !== undefined || sibling.regex !== undefined);
    if (definition.regex?.offset === 'after_regex' && !earlier) {
      this.#failLoading(definition, `(2120): Invalid offset value: '${name}'`);
    }
    for (const sibling of sameName) {
      sibling.chained = true;
    }
    siblings.push(node);
  }

  #compile(definition: DecoderDefinition, pattern: PatternDefinition | undefined): Matcher | undefined {
    if (pattern === undefined) {
      return undefined;
    }
    try {
      const matcher = this.#compilePattern(pattern.language, pattern.source);
      warnOfExplosion(matcher, `decoder '${definition.name}'`, this.#diagnostics, pattern.place);
      return matcher;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const place = placeOfPattern({ ...pattern.place, decoder: definition.name }, error);
      const text = `(2107): Decoder configuration error: '${definition.name}'.`;
      this.#diagnostics.error(`(1452): Syntax error on regex: '${pattern.source}'`, place);
      this.#diagnostics.error(text, place);
      throw new RulesetError(text, place);
    }
  }

  #failLoading(definition: DecoderDefinition, text: string): never {
    this.#fail(definition, text, '(2105): Error loading decoder options.');
  }

  #fail(definition: DecoderDefinition, ...texts: string[]): never {
    const { place } = definition;
    for (const text of [...texts, '(2106): Error adding decoder plugin.']) {
      this.#diagnostics.error(text, place);
    }
    // The number 2106 says nothing to a person; the error itself carries the reason.
    throw new RulesetError(texts[0] ?? '', place);
  }
}

function extracts(node: DecoderNode): boolean {
  return node.regex !== undefined || node.definition.plugin !== undefined;
}

function makeDecoder(node: DecoderNode, ids: ReadonlyMap<string, number>): Decoder {
  const { definition, chained, programName, prematch, regex } = node;
  const { parent, ftscomment, fts, accumulate } = definition;
  const name = parent === undefined || definition.useOwnName ? definition.name : parent;
  const identity: DecoderIdentity = {
    id: ids.get(name) ?? 0,
    name,
    ...(parent === undefined ? {} : { parent }),
    ...(ftscomment === undefined ? {} : { ftscomment }),
    accumulate,
    ...(fts === undefined ? {} : { fts }),
  };
  return {
    identity,
    ownName: definition.name,
    place: definition.place,
    category: definition.category,
    programName,
    prematch,
    prematchAfterParent: definition.prematch?.offset === 'after_parent',
    regex,
    regexOffset: offsetKind(definition.regex?.offset),
    targets: definition.order.map((word) => ({ staticField: staticFieldOf(word), name: word })),
    plugin: definition.plugin,
    pluginOffset: offsetKind(definition.pluginOffset),
    discardNulls: definition.discardNulls,
    csvArrays: definition.csvArrays,
    chained,
  };
}

function offsetKind(offset: DecoderOffset | undefined): OffsetKind {
  switch (offset) {
    case undefined:
      return OFFSET_NONE;
    case 'after_parent':
      return OFFSET_AFTER_PARENT;
    case 'after_prematch':
      return OFFSET_AFTER_PREMATCH;
    case 'after_regex':
      return OFFSET_AFTER_REGEX;
  }
}

/** Order of byte strings; `<` on strings compares char codes, which are bytes here. */
function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
