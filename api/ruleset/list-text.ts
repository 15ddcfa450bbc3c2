/** One line of a CDB list. */
export type ListEntry = { readonly key: string; readonly value: string };

/** Thrown for a list that cannot be read as one (code 1800 of the API). */
export class ListFormatError extends Error {
  override readonly name = 'ListFormatError';

  /** @param line first line 1 */
  constructor(readonly line: number) {
    super(`line ${line} is not of the form key:value`);
  }
}

/** Lines with this word are those of a template and no entries. */
const TEMPLATE = 'TEMPLATE';
/** What an uploaded line may be (rules-and-alerts.md 10.4); `\w` takes letters and digits of every script. */
const UPLOADED_LINE = /^(?:"[\p{L}\p{N}_\-: ]+?"|[^:"\s]+):(?:"[\p{L}\p{N}_\-: ]*?"|[^:"]*)$/u;

/**
 * Entries of a list as the API shows them (rules-and-alerts.md 10.4): stricter than the engine, which ignores lines it
 * cannot use. Of equal keys the first counts, as in the engine.
 * @throws ListFormatError
 */
export function parseListText(text: string): ListEntry[] {
  const entries = new Map<string, string>();
  for (const [index, line] of linesOf(text).entries()) {
    if (line.includes(TEMPLATE)) continue;
    const entry = parseLine(line);
    if (entry === undefined) throw new ListFormatError(index + 1);
    if (!entries.has(entry[0])) entries.set(entry[0], entry[1]);
  }
  return [...entries].map(([key, value]) => ({ key, value }));
}

/**
 * Checks a list that is to be stored (rules-and-alerts.md 10.4).
 * @throws ListFormatError
 */
export function checkUploadedList(text: string): void {
  for (const [index, line] of linesOf(text).entries()) {
    if (!UPLOADED_LINE.test(line)) throw new ListFormatError(index + 1);
  }
}

/** Lines without their ends; the end of the last line begins no further one. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** `key:value` with exactly one colon outside quotes; key, value or both may be quoted. */
function parseLine(line: string): [key: string, value: string] | undefined {
  const quotedKey = line.startsWith('"');
  const quotedValue = line.length > 1 && line.endsWith('"');
  const separator = quotedKey && quotedValue ? '":"' : quotedKey ? '":' : quotedValue ? ':"' : ':';
  const inner = line.slice(quotedKey ? 1 : 0, quotedValue ? -1 : undefined);
  const parts = inner.split(separator);
  const [key, value] = parts;
  return parts.length === 2 && key !== undefined && value !== undefined ? [key, value] : undefined;
}
