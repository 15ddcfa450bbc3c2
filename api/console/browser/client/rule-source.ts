/** Lines around a rule that are shown with it. */
const AROUND = 2;

/** A rule as it is written, with what stands around it. */
export type RuleSource = {
  readonly text: string;
  /** Number of the first line of the text. */
  readonly from: number;
  /** Numbers of the rule's own lines. */
  readonly lines: readonly number[];
};

/**
 * Finds a rule in the text of its file. Where it is written twice, the last one is in force.
 * @returns undefined when it is not there: the file was changed since then
 */
export function ruleSource(file: string, id: string): RuleSource | undefined {
  // What is in a comment is no rule; its lines stay, so that numbers hold.
  const plain = file.replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ' '));
  const opening = [...plain.matchAll(/<rule\b[^>]*?\bid\s*=\s*(["'])\s*0*(\d+)\s*\1[^>]*>/g)].findLast(
    (found) => found[2] === id.replace(/^0+(?=\d)/, ''),
  );
  if (opening === undefined) return undefined;
  const isEmpty = opening[0].endsWith('/>');
  const closing = isEmpty ? -1 : plain.indexOf('</rule>', opening.index);
  const end = closing === -1 ? opening.index + opening[0].length : closing;
  const first = lineOf(plain, opening.index);
  const last = lineOf(plain, end);
  const all = file.split('\n');
  const from = Math.max(1, first - AROUND);
  return {
    text: all.slice(from - 1, last + AROUND).join('\n'),
    from,
    lines: Array.from({ length: last - first + 1 }, (_, index) => first + index),
  };
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}
