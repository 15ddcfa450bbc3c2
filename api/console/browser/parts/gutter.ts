/** Numbers of lines in a row, one a line; those of a line that is wrong stand alone. */
export type GutterPiece = { readonly text: string; readonly isWrong: boolean };

/** The numbers beside so many lines: few pieces, since a page with an element for each of many lines is slow. */
export function gutterOf(count: number, wrong: ReadonlySet<number>): GutterPiece[] {
  const pieces: GutterPiece[] = [];
  let text = '';
  for (let line = 1; line <= count; line += 1) {
    const isWrong = wrong.has(line);
    if (isWrong && text !== '') {
      pieces.push({ text, isWrong: false });
      text = '';
    }
    if (isWrong) pieces.push({ text: `${String(line)}\n`, isWrong });
    else text += `${String(line)}\n`;
  }
  if (text !== '') pieces.push({ text, isWrong: false });
  return pieces;
}
