/**
 * Rows as lines with aligned columns.
 * @param left columns from the first that are aligned to the left; the others hold numbers
 */
export function textTable(rows: readonly (readonly string[])[], left: number): string[] {
  // Tables of lists have more rows than a call takes arguments.
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => (column < left ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
