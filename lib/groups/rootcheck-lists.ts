/** One line of a list of rootkit files: `path ! Name ::link`. */
export type RootkitFile = { readonly filename: string; readonly name: string; readonly link: string };

/** One line of a list of trojans: `binary !regex! message`; the regex is what binaries are searched for. */
export type TrojanSignature = { readonly filename: string; readonly name: string; readonly description: string };

/** Files that rootkits leave behind (integrity-and-inventory.md 9.3). Lines of another form are left out. */
export function parseRootkitFiles(text: string): RootkitFile[] {
  const files: RootkitFile[] = [];
  for (const line of entryLines(text)) {
    const mark = line.indexOf('!');
    if (mark < 0) continue;
    const rest = line.slice(mark + 1);
    const separator = rest.indexOf('::');
    const filename = line.slice(0, mark).trim();
    const name = (separator < 0 ? rest : rest.slice(0, separator)).trim();
    const link = separator < 0 ? '' : rest.slice(separator + 2).trim();
    if (filename !== '' && name !== '') files.push({ filename, name, link });
  }
  return files;
}

/** Signatures of trojaned binaries (integrity-and-inventory.md 9.3). Lines of another form are left out. */
export function parseTrojanSignatures(text: string): TrojanSignature[] {
  const signatures: TrojanSignature[] = [];
  for (const line of entryLines(text)) {
    const first = line.indexOf('!');
    // A regex may have a `!` of its own; a message has none.
    const last = line.lastIndexOf('!');
    if (first < 0 || last === first) continue;
    const filename = line.slice(0, first).trim();
    const name = line.slice(first + 1, last).trim();
    if (filename !== '' && name !== '') signatures.push({ filename, name, description: line.slice(last + 1).trim() });
  }
  return signatures;
}

/** Lines without their ends, blank ones and comments left out. */
export function* entryLines(text: string): Generator<string> {
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed !== '' && !trimmed.startsWith('#')) yield trimmed;
  }
}
