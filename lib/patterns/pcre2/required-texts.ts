import type { Node } from './ast.js';
import { letterOfBothCases, singleByte } from './byte-sets.js';
import { pairsOf, type Subject } from '../subject.js';

/** Alternations with more branches than this are not looked into: each branch is a look-up. */
const MAX_BRANCHES = 64;

/** Texts that a subject contains if the pattern matches it: a cheap test before the real one. */
export class RequiredTexts {
  readonly #pairs: Uint16Array;
  /** Of each of these alternations, one branch's texts are there. */
  readonly #choices: readonly (readonly RequiredTexts[])[];

  constructor(texts: readonly string[], choices: readonly (readonly RequiredTexts[])[]) {
    this.#pairs = pairsOf(texts);
    this.#choices = choices;
  }

  get isEmpty(): boolean {
    return this.#pairs.length === 0 && this.#choices.length === 0;
  }

  /** False = the subject cannot match. */
  mayOccurIn(subject: Subject): boolean {
    if (!subject.mayContain(this.#pairs)) return false;
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
  let text = '';
  const close = (): void => {
    if (text !== '') texts.push(text);
    text = '';
  };
  const walk = (node: Node): void => {
    switch (node.kind) {
      case 'set': {
        const byte = singleByte(node.set) ?? letterOfBothCases(node.set);
        if (byte === undefined) close();
        else text += String.fromCharCode(byte);
        return;
      }
      case 'sequence':
        node.items.forEach(walk);
        return;
      case 'capture':
      case 'atomic':
        walk(node.body);
        return;
      case 'repeat':
        close();
        if (node.min === 0) return;
        walk(node.body);
        close();
        return;
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
  return new RequiredTexts(texts, choices);
}
