/** Longest error text the readers of this dialect keep (decoding.md 2.2). */
const MAX_TEXT = 126;

/** Where something begins that has no end. */
export type OpenedElement = { readonly name: string; readonly line: number };

/** A text that cannot be read as XML of the dialect, or a variable in it that cannot be applied (decoding.md 2.3, 2.4). */
export class XmlError extends Error {
  override readonly name = 'XmlError';
  /** Name of the file as the caller gave it. */
  readonly file: string;
  /** Line being read when the error was noticed, first line 1. */
  readonly line: number;
  /** What was opened before and is not closed, where that is what is wrong; a comment is called `<!--`. */
  readonly opened: OpenedElement | undefined;

  /** `message` is one of the `XMLERR: ...` texts, cut to 126 characters. */
  constructor(file: string, line: number, message: string, opened?: OpenedElement) {
    super(message.length > MAX_TEXT ? message.slice(0, MAX_TEXT) : message);
    this.file = file;
    this.line = line;
    this.opened = opened;
  }
}
