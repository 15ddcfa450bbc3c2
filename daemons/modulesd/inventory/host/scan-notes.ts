/**
 * What a scan could not take whole: files that could not be read, are larger than is read or are not what they should be, values
 * that were cut, rows with a key that was there already, and places with more than is looked at.
 */
export type NoteKind = 'unreadable' | 'too_large' | 'malformed' | 'cut' | 'repeated' | 'too_many';

/** Notes of one kind: how many, and the first of them. */
export type Note = { readonly kind: NoteKind; readonly count: number; readonly first: string };

/** Characters that are kept of what a note is about: names come from users. */
const MOST_CHARACTERS = 256;

/** Counts what a scan could not take. */
export class ScanNotes {
  readonly #notes = new Map<NoteKind, { count: number; readonly first: string }>();

  /** @param what the file, or the key of the row */
  add(kind: NoteKind, what: string): void {
    const note = this.#notes.get(kind);
    if (note !== undefined) note.count += 1;
    else this.#notes.set(kind, { count: 1, first: what.slice(0, MOST_CHARACTERS) });
  }

  get all(): Note[] {
    return [...this.#notes].map(([kind, { count, first }]) => ({ kind, count, first }));
  }
}
