import { type FieldPlace, placeOfField } from './alert-fields.js';
import type { AlertSegment } from './alert-segment.js';
import type { FieldNode, QuestionNode } from './question-node.js';
import { bothMasks, eitherMask, type RowMask } from './row-mask.js';

/**
 * Alerts of a segment that may be what a node asks for, by what is kept apart from the texts; for a node of kept fields and times
 * alone they are those. @throws SegmentDamage
 */
export function candidateRows(node: QuestionNode, segment: AlertSegment): RowMask {
  switch (node.kind) {
    case 'and': {
      let mask: RowMask = 'all';
      for (const part of node.parts) {
        if (mask === 'none') return 'none';
        mask = bothMasks(mask, candidateRows(part, segment));
      }
      return mask;
    }
    case 'or': {
      let mask: RowMask = 'none';
      for (const part of node.parts) {
        if (mask === 'all') return 'all';
        mask = eitherMask(mask, candidateRows(part, segment));
      }
      return mask;
    }
    case 'field':
      return fieldRows(node, segment);
    case 'time':
      return timeRows(node.test, segment);
    case 'text': {
      const { isExcluded, hashes } = node.term;
      return isExcluded || hashes.length === 0 ? 'all' : rowsOfPages(pagesWithAll(hashes, segment), segment);
    }
  }
}

function fieldRows({ field, test, words }: FieldNode, segment: AlertSegment): RowMask {
  const place = placeOfField(field);
  let mask: RowMask = 'all';
  // The tuples of a family may be many and the value rare: words are looked at first.
  if (words !== undefined && (place === undefined || isLarge(place))) {
    mask = 'none';
    for (const list of words) mask = eitherMask(mask, rowsOfPages(pagesWithAll(list, segment), segment));
  }
  return place === undefined || mask === 'none' ? mask : valueRows(place, test, segment);
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
