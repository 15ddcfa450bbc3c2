import { pairsBetween, pairsOf, type Subject } from '../subject.js';
import type { ByteSet, Node } from './ast.js';
import { letterOfBothCases, membersOf, singleByte } from './byte-sets.js';

/** Alternations with more branches than this are not looked into: each branch is a look-up. */
const MAX_BRANCHES = 64;
/** Two neighbouring sets are looked up when they make at most this many pairs. */
const MAX_PAIRS = 16;

/** Texts that a subject contains if the pattern matches it: a cheap test before the real one. */
export class RequiredTexts {
  readonly #pairs: Uint16Array;
  /** Of each of these lists of pairs, one is there. */
  readonly #neighbours: readonly Uint16Array[];
  /** Of each of these alternations, one branch's texts are there. */
  readonly #choices: readonly (readonly RequiredTexts[])[];

  constructor(
    texts: readonly string[],
    neighbours: readonly Uint16Array[],
    choices: readonly (readonly RequiredTexts[])[],
  ) {
    this.#pairs = pairsOf(texts);
    this.#neighbours = neighbours;
    this.#choices = choices;
  }

  get isEmpty(): boolean {
    return this.#pairs.length === 0 && this.#neighbours.length === 0 && this.#choices.length === 0;
  }

  /** False = the subject cannot match. */
  mayOccurIn(subject: Subject): boolean {
    if (!subject.mayContain(this.#pairs)) return false;
    for (const pairs of this.#neighbours) if (!subject.mayContainOne(pairs)) return false;
    for (const branches of this.#choices) if (!someOccurs(branches, subject)) return false;
    return true;
  }
}

function someOccurs(branches: readonly RequiredTexts[], subject: Subject): boolean {
  for (const branch of branches) if (branch.mayOccurIn(subject)) return true;
  return false;
}

/** The texts required by a tree, folded; case is left to the real test. */
export function requiredTexts(root: Node): RequiredTexts {
  const texts: string[] = [];
  const choices: RequiredTexts[][] = [];
  const neighbours = new Map<string, Uint16Array>();
  let text = '';
  /** Bytes one of which stands right before what comes next. */
  let before: ByteSet | undefined;
  const close = (): void => {
    if (text !== '') texts.push(text);
    text = '';
    before = undefined;
  };
  const meet = (set: ByteSet): void => {
    const first = before === undefined ? [] : membersOf(before);
    const second = membersOf(set);
    const pairs = first.length * second.length;
    // A single pair is part of the text already.
    if (pairs > 1 && pairs <= MAX_PAIRS) {
      neighbours.set(`${first.join()}:${second.join()}`, pairsBetween(first, second));
    }
    before = set;
  };
  const walk = (node: Node): void => {
    switch (node.kind) {
      case 'set': {
        const byte = singleByte(node.set) ?? letterOfBothCases(node.set);
        if (byte !== undefined && text !== '') {
          before = node.set;
        } else {
          meet(node.set);
          if (text !== '') texts.push(text);
          text = '';
        }
        if (byte !== undefined) text += String.fromCharCode(byte);
        return;
      }
      case 'sequence':
        node.items.forEach(walk);
        return;
      case 'capture':
      case 'atomic':
        walk(node.body);
        return;
      case 'repeat': {
        if (node.min > 0 && node.body.kind === 'set') {
          const { set } = node.body;
          const previous = before;
          close();
          before = previous;
          meet(set);
          if (node.min > 1) meet(set);
          const byte = singleByte(set) ?? letterOfBothCases(set);
          if (byte !== undefined) texts.push(String.fromCharCode(byte));
          return;
        }
        close();
        if (node.min === 0) return;
        walk(node.body);
        close();
        return;
      }
      case 'alternation': {
        close();
        if (node.branches.length > MAX_BRANCHES) return;
        const branches = node.branches.map(requiredTexts);
        if (!branches.some((branch) => branch.isEmpty)) choices.push(branches);
        return;
      }
      case 'empty':
      case 'assertion':
        return;
      case 'fail':
      case 'look':
      case 'back-reference':
      case 'call':
      case 'conditional':
        close();
    }
  };
  walk(root);
  close();
  return new RequiredTexts(texts, [...neighbours.values()], choices);
}
