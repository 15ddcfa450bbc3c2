import { CLASS, MARK, type OsRegexCode, PLUS, STAR } from './os-regex-code.js';

/**
 * Whether an alternative may end at node `p` because the subject does (rule E of decoding.md 1.3.4).
 * @param rep whether a repeat has been entered
 */
export function endsAt(code: OsRegexCode, p: number, rep: boolean): boolean {
  const { length, kinds, marks } = code;
  let cursor = p;
  if (marks > 0) while (cursor < length && kinds[cursor] === STAR) cursor += 1;
  if (cursor < length && kinds[cursor] === MARK) cursor += 1;
  if (cursor === length) return true;
  if (rep && isClass(kinds[cursor])) {
    const quantified = kinds[cursor] !== CLASS;
    cursor += 1;
    if (quantified) {
      if (kinds[cursor] === MARK) cursor += 1;
      if (cursor === length) return true;
      if (isClass(kinds[cursor])) {
        const star = kinds[cursor] === STAR;
        const plus = kinds[cursor] === PLUS;
        cursor += 1;
        if (star) {
          if (kinds[cursor] === MARK) cursor += 1;
          if (cursor === length) return true;
        } else if (plus) {
          // The cursor stands on the quantifier: the last rule finds no class there.
          return false;
        }
      }
    }
  }
  if (kinds[cursor] !== STAR) return false;
  cursor += 1;
  if (kinds[cursor] === MARK) cursor += 1;
  return cursor === length;
}

function isClass(kind: number | undefined): boolean {
  return kind === CLASS || kind === PLUS || kind === STAR;
}
