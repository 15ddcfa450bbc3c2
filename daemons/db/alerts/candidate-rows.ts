import { type FieldPlace, placeOfField } from './alert-fields.js';
import type { AlertSegment } from './alert-segment.js';
import type { FieldNode, QuestionNode } from './question-node.js';
import { bothMasks, eitherMask, type RowMask } from './row-mask.js';

/** Pages that are read in less time than a large column: one unpacks to 128 KB, a column of 65,536 addresses to ten times that. */
export const FEW_PAGES = 8;

/**
 * Looks for alerts of a segment that may be what nodes ask for, by what is kept apart from the texts; for nodes of kept fields and times
 * alone they are those, unless the time was not enough or their pages are few.
 */
export class CandidateSearch {
  /** Whether some of what was asked for was not looked at: there are more candidates than those that are meant. */
  isCut = false;
  readonly #segment: AlertSegment;
  readonly #isOver: () => boolean;
  readonly #fewPages: number;

  /** @param fewPages with so many pages that have a value its column is not read, see `isCut` */
  constructor(segment: AlertSegment, isOver: () => boolean, fewPages: number) {
    this.#segment = segment;
    this.#isOver = isOver;
    this.#fewPages = fewPages;
  }

  /** Those of some that all nodes may mean; the first node is always looked at. @throws SegmentDamage */
  all(nodes: readonly QuestionNode[], some: RowMask): RowMask {
    let mask = some;
    for (const [index, node] of nodes.entries()) {
      if (mask === 'none') return 'none';
      if (index > 0 && this.#isOver()) {
        this.isCut = true;
        return mask;
      }
      mask = bothMasks(mask, this.#rows(node));
    }
    return mask;
  }

  #rows(node: QuestionNode): RowMask {
    switch (node.kind) {
      case 'and':
        return this.all(node.parts, 'all');
      case 'or':
        return this.#any(node.parts);
      case 'field':
        return this.#fieldRows(node);
      case 'time':
        return timeRows(node.test, this.#segment);
      case 'text': {
        const { isExcluded, hashes } = node.term;
        if (isExcluded || hashes.length === 0) return 'all';
        return rowsOfPages(pagesWithAll(hashes, this.#segment), this.#segment);
      }
    }
  }

  #fieldRows({ field, test, words }: FieldNode): RowMask {
    const segment = this.#segment;
    const place = placeOfField(field);
    if (words === undefined || (place !== undefined && !isLarge(place))) {
      return place === undefined ? 'all' : valueRows(place, test, segment);
    }
    // The tuples of a family may be many and the value rare: words are looked at first.
    const pages = new Uint8Array(segment.pages.length);
    for (const list of words) {
      const found = pagesWithAll(list, segment);
      for (let page = 0; page < pages.length; page += 1) if (found?.[page] === 1) pages[page] = 1;
    }
    const count = pages.reduce((sum, one) => sum + one, 0);
    if (count === 0) return 'none';
    if (place === undefined) return rowsOfPages(pages, segment);
    if (count > this.#fewPages) return valueRows(place, test, segment);
    this.isCut = true;
    return rowsOfPages(pages, segment);
  }

  #any(nodes: readonly QuestionNode[]): RowMask {
    let mask: RowMask = 'none';
    for (const [index, node] of nodes.entries()) {
      if (mask === 'all') return 'all';
      if (index > 0 && this.#isOver()) {
        this.isCut = true;
        return 'all';
      }
      mask = eitherMask(mask, this.#rows(node));
    }
    return mask;
  }
}

/** The first families have few tuples: looking at them is quicker than looking for words. */
const SMALL_FAMILIES = 3;

function isLarge({ family }: FieldPlace): boolean {
  return family >= SMALL_FAMILIES;
}

function valueRows({ family, index }: FieldPlace, test: FieldNode['test'], segment: AlertSegment): RowMask {
  const { tuples, codes } = segment.family(family);
  const wanted = new Uint8Array(tuples.length);
  let count = 0;
  for (const [code, tuple] of tuples.entries()) {
    if (!test(tuple[index] ?? null)) continue;
    wanted[code] = 1;
    count += 1;
  }
  if (count === 0) return 'none';
  if (count === tuples.length) return 'all';
  const mask = new Uint8Array(segment.rows);
  for (let row = 0; row < mask.length; row += 1) mask[row] = wanted[codes[row] ?? 0] ?? 0;
  return mask;
}

function timeRows(test: (time: number) => boolean, segment: AlertSegment): RowMask {
  const times = segment.times();
  const mask = new Uint8Array(segment.rows);
  for (let row = 0; row < mask.length; row += 1) if (test(times[row] ?? 0)) mask[row] = 1;
  return mask;
}

/** Pages that may have all of some words, a byte for each; undefined when none has. */
function pagesWithAll(hashes: readonly number[], segment: AlertSegment): Uint8Array | undefined {
  let pages: Uint8Array | undefined;
  for (const hash of hashes) {
    const found = new Uint8Array(segment.pages.length);
    let count = 0;
    const before = pages;
    segment.visitPages(hash, (page) => {
      if (found[page] === 1 || (before !== undefined && before[page] !== 1)) return;
      found[page] = 1;
      count += 1;
    });
    if (count === 0) return undefined;
    pages = found;
  }
  return pages;
}

function rowsOfPages(found: Uint8Array | undefined, segment: AlertSegment): RowMask {
  if (found === undefined) return 'none';
  const mask = new Uint8Array(segment.rows);
  for (const [index, { firstRow, rows }] of segment.pages.entries()) {
    if (found[index] === 1) mask.fill(1, firstRow, firstRow + rows);
  }
  return mask;
}
