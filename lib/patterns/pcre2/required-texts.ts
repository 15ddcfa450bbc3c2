import type { Requirement, Requirements } from '../requirement.js';
import { pairsBetween, pairsOf, type Subject } from '../subject.js';
import type { ByteSet, PatternNode } from './ast.js';
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

  /**
   * The same as a list of ways, for a look at many patterns at once; less exact where texts stand beside alternations.
   * @param start bytes one of which a match begins with at the start of the subject
   */
  requirements(start: ByteSet | undefined): Requirements {
    if (this.#pairs.length > 0 || (start !== undefined && this.#choices.length === 0)) {
      return [{ pairs: this.#pairs, texts: [], start, opening: undefined, alternative: -1 }];
    }
    let fewest: Requirement[] | undefined;
    for (const branches of this.#choices) {
      const ways = branches.map((branch) => branch.requirements(start));
      if (ways.some((way) => way === undefined)) continue;
      const all = ways.flatMap((way) => way ?? []);
      if (all.length < (fewest?.length ?? Infinity)) fewest = all;
    }
    return (
      fewest ??
      (start === undefined
        ? undefined
        : [{ pairs: this.#pairs, texts: [], start, opening: undefined, alternative: -1 }])
    );
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
export function requiredTexts(root: PatternNode): RequiredTexts {
  const collector = new TextCollector();
  collector.walk(root);
  return collector.finish();
}

/** Collects what the nodes of one tree require, from left to right. */
class TextCollector {
  readonly #texts: string[] = [];
  readonly #choices: RequiredTexts[][] = [];
  readonly #neighbours = new Map<string, Uint16Array>();
  #text = '';
  /** Bytes one of which stands right before what comes next. */
  #before: ByteSet | undefined;

  finish(): RequiredTexts {
    this.#close();
    return new RequiredTexts(this.#texts, [...this.#neighbours.values()], this.#choices);
  }

  walk(node: PatternNode): void {
    switch (node.kind) {
      case 'set':
        this.#walkSet(node.set);
        return;
      case 'sequence':
        for (const item of node.items) this.walk(item);
        return;
      case 'capture':
      case 'atomic':
        this.walk(node.body);
        return;
      case 'repeat':
        this.#walkRepeat(node);
        return;
      case 'alternation': {
        this.#close();
        if (node.branches.length > MAX_BRANCHES) return;
        const branches = node.branches.map(requiredTexts);
        if (!branches.some((branch) => branch.isEmpty)) this.#choices.push(branches);
        break;
      }
      case 'empty':
      case 'assertion':
        break;
      case 'fail':
      case 'look':
      case 'back-reference':
      case 'call':
      case 'conditional':
        this.#close();
    }
  }

  #walkSet(set: ByteSet): void {
    const byte = singleByte(set) ?? letterOfBothCases(set);
    if (byte !== undefined && this.#text !== '') {
      this.#before = set;
    } else {
      this.#meet(set);
      this.#endText();
    }
    if (byte !== undefined) this.#text += String.fromCharCode(byte);
  }

  #walkRepeat({ min, body }: Extract<PatternNode, { kind: 'repeat' }>): void {
    if (min > 0 && body.kind === 'set') {
      const { set } = body;
      this.#endText();
      this.#meet(set);
      if (min > 1) this.#meet(set);
      const byte = singleByte(set) ?? letterOfBothCases(set);
      if (byte !== undefined) this.#texts.push(String.fromCharCode(byte));
      return;
    }
    this.#close();
    if (min === 0) return;
    this.walk(body);
    this.#close();
  }

  /** Nothing is known of what comes next. */
  #close(): void {
    this.#endText();
    this.#before = undefined;
  }

  #endText(): void {
    if (this.#text !== '') this.#texts.push(this.#text);
    this.#text = '';
  }

  #meet(set: ByteSet): void {
    // One more than can be of use says that there are too many.
    const first = this.#before === undefined ? [] : membersOf(this.#before, MAX_PAIRS + 1);
    const second = first.length === 0 ? [] : membersOf(set, MAX_PAIRS + 1);
    const pairs = first.length * second.length;
    // A single pair is part of the text already.
    if (pairs > 1 && pairs <= MAX_PAIRS) {
      this.#neighbours.set(`${first.join()}:${second.join()}`, pairsBetween(first, second));
    }
    this.#before = set;
  }
}
