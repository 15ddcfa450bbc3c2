import type { XmlAttribute, XmlElement } from './xml-element.js';
import { type OpenedElement, XmlError } from './xml-error.js';

/** Longest name, content or closing tag (decoding.md 2.2); stops a file from filling memory with one element. */
const MAX_STRING = 20480;
/** Most attributes of one tag (decoding.md 2.2). */
const MAX_ATTRIBUTES = 49;
/** Deepest nesting (decoding.md 2.2). */
const MAX_DEPTH = 1024;

const TAB = 9;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const BANG = 33;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const BACKSLASH = 92;

/** How a consumer wants the dialect read. */
export type XmlOptions = {
  /**
   * Takes a `<` in content that cannot begin a tag (not followed by a letter, `_`, `/` or `!`) as text. The main
   * configuration and agent.conf are read so (daemons-and-config.md 1.1); rules and decoders are not.
   */
  readonly bareLessThan?: boolean;
};

/** An element whose closing tag has not been read yet: what stands behind it is filled in then. */
type OpenElement = {
  readonly name: string;
  readonly attributes: readonly XmlAttribute[];
  content: string;
  children: XmlElement[];
  readonly line: number;
  readonly start: number;
  end: number;
  readonly innerStart: number;
  innerEnd: number;
};

/** Of the many elements and tags that have none. */
const NO_CHILDREN: XmlElement[] = [];
const NO_ATTRIBUTES: readonly XmlAttribute[] = [];

/**
 * Reads a text in the lenient XML dialect of rules, decoders, configuration files and Windows events (decoding.md 2):
 * several roots, verbatim content, comments `<! ... !>` and `<!-- ... -->`, no entities, `\<` as text. Takes linear time.
 *
 * @param text the file as a string (byte string or Unicode: only ASCII characters have a meaning)
 * @param file name for errors
 * @throws XmlError with one of the texts of decoding.md 2.3 and the line
 */
export function parseXml(text: string, file: string, options: XmlOptions = {}): XmlElement[] {
  return new Reader(text, file, options.bareLessThan ?? false).read();
}

class Reader {
  readonly #text: string;
  readonly #file: string;
  readonly #bareLessThan: boolean;
  #pos = 0;
  /** Lines are counted on demand: `#line` ends at `#nextNewline`, and offsets asked for never go back. */
  #line = 1;
  #nextNewline: number;

  constructor(text: string, file: string, bareLessThan: boolean) {
    this.#text = text;
    this.#file = file;
    this.#bareLessThan = bareLessThan;
    this.#nextNewline = this.#newlineFrom(0);
  }

  read(): XmlElement[] {
    const roots: XmlElement[] = [];
    const open: OpenElement[] = [];
    for (;;) {
      const content = open.length === 0 ? this.#skipOutside() : this.#readContent();
      const parent = open.at(-1);
      if (content === undefined) {
        if (parent === undefined) {
          return roots;
        }
        throw this.#fail('XMLERR: End of file and some elements were not closed.', this.#text.length, parent);
      }
      // The position is behind the `<` of a tag.
      if (this.#text.charCodeAt(this.#pos) === SLASH) {
        if (parent === undefined) {
          throw this.#fail('XMLERR: Element not opened.', this.#pos);
        }
        const innerEnd = this.#pos - 1;
        this.#pos += 1;
        this.#readClosingTag(parent);
        open.pop();
        parent.content = content;
        parent.end = this.#pos;
        parent.innerEnd = innerEnd;
        addTo(open.at(-1), roots, parent);
        continue;
      }
      if (open.length >= MAX_DEPTH) {
        throw this.#fail('XMLERR: Max recursion level reached', this.#pos);
      }
      const start = this.#pos - 1;
      const line = this.#lineAt(start);
      const { name, attributes, empty } = this.#readOpeningTag();
      const innerStart = this.#pos;
      const element: OpenElement = {
        name,
        attributes,
        content: '',
        children: NO_CHILDREN,
        line,
        start,
        end: innerStart,
        innerStart,
        innerEnd: innerStart,
      };
      if (empty) {
        addTo(parent, roots, element);
      } else {
        open.push(element);
      }
    }
  }

  /** Goes behind the next `<` that starts a tag; '' when there is one, undefined at the end of the text. */
  #skipOutside(): '' | undefined {
    for (;;) {
      const less = this.#text.indexOf('<', this.#pos);
      if (less < 0) {
        this.#pos = this.#text.length;
        return undefined;
      }
      const escaped = this.#isEscaped(less);
      this.#pos = less + 1;
      if (this.#skipComment()) {
        continue;
      }
      if (!escaped) {
        return '';
      }
    }
  }

  /** Text up to the next tag, without comments; the position is then behind its `<`. Undefined at the end of the text. */
  #readContent(): string | undefined {
    let content = '';
    let start = this.#pos;
    // A backslash right before a comment still escapes a `<` right behind it.
    let escapedBeforeComment = false;
    for (;;) {
      const less = this.#text.indexOf('<', this.#pos);
      const end = less < 0 ? this.#text.length : less;
      if (content.length + end - start > MAX_STRING) {
        throw this.#fail('XMLERR: String overflow.', start + MAX_STRING - content.length);
      }
      if (less < 0) {
        this.#pos = end;
        return undefined;
      }
      const escaped: boolean = this.#isEscaped(less, start, escapedBeforeComment);
      this.#pos = less + 1;
      if (this.#skipComment()) {
        content += this.#text.slice(start, less);
        start = this.#pos;
        escapedBeforeComment = escaped;
        continue;
      }
      if (!escaped && !(this.#bareLessThan && !this.#canStartTag(this.#pos))) {
        return content + this.#text.slice(start, less);
      }
    }
  }

  #canStartTag(at: number): boolean {
    const code = this.#text.charCodeAt(at);
    return code === SLASH || code === BANG || code === 95 || ((code | 32) >= 97 && (code | 32) <= 122);
  }

  /** Whether the backslashes directly before `at`, not looking before `from`, escape it; `before` = the state at `from`. */
  #isEscaped(at: number, from = 0, before = false): boolean {
    let first = at;
    while (first > from && this.#text.charCodeAt(first - 1) === BACKSLASH) {
      first -= 1;
    }
    return ((at - first) % 2 === 1) !== (first === from && before);
  }

  /** With the position behind a `<`: skips a comment that starts there and says whether there was one. */
  #skipComment(): boolean {
    if (this.#text.charCodeAt(this.#pos) !== BANG) {
      return false;
    }
    for (let at = this.#pos + 1; ; at += 1) {
      at = this.#text.indexOf('>', at);
      if (at < 0) {
        const opened = { name: '<!--', line: this.#lineAt(this.#pos) };
        throw this.#fail('XMLERR: Comment not closed.', this.#text.length, opened);
      }
      // The `!` of the opening does not end the comment: `<!>` is still open.
      if (at - 1 > this.#pos && this.#text.charCodeAt(at - 1) === BANG) {
        this.#pos = at + 1;
        return true;
      }
      if (at - 2 > this.#pos && this.#text.startsWith('--', at - 2)) {
        this.#pos = at + 1;
        return true;
      }
    }
  }

  #readClosingTag(opened: OpenElement): void {
    const found = this.#readUntilTagEnd(false);
    this.#pos += 1;
    if (found !== opened.name) {
      throw this.#fail(`XMLERR: Element '${opened.name}' not closed.`, this.#pos, opened);
    }
  }

  #readOpeningTag(): { name: string; attributes: readonly XmlAttribute[]; empty: boolean } {
    let name = this.#readUntilTagEnd(true);
    let empty = false;
    if (name.endsWith('/')) {
      name = name.slice(0, -1);
      empty = true;
    }
    const end = this.#text.charCodeAt(this.#pos);
    this.#pos += 1;
    if (end === GREATER) {
      return { name, attributes: NO_ATTRIBUTES, empty };
    }
    const attributes: XmlAttribute[] = [];
    if (this.#readAttributes(attributes)) {
      if (this.#text.charCodeAt(this.#pos) !== GREATER) {
        throw this.#fail(`XMLERR: Element '${name}' not closed.`, this.#pos);
      }
      this.#pos += 1;
      empty = true;
    }
    return { name, attributes, empty };
  }

  /** Reads a name up to `>` (or white space, if `stopAtSpace`), without comments; the position stays on the stop. */
  #readUntilTagEnd(stopAtSpace: boolean): string {
    let name = '';
    let start = this.#pos;
    for (let at = start; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === GREATER || (stopAtSpace && isSpace(code))) {
        this.#pos = at;
        return name + this.#text.slice(start, at);
      }
      if (name.length + at - start >= MAX_STRING) {
        throw this.#fail('XMLERR: String overflow.', at);
      }
      if (code === LESS) {
        this.#pos = at + 1;
        if (this.#skipComment()) {
          name += this.#text.slice(start, at);
          start = this.#pos;
          at = start - 1;
        }
      }
    }
    throw this.#fail('XMLERR: End of file and some elements were not closed.', this.#text.length);
  }

  /** Reads attributes up to the end of the tag; true when a `/` ended the list (the position is then behind it). */
  #readAttributes(attributes: XmlAttribute[]): boolean {
    for (;;) {
      const name = this.#readAttributeName();
      if (name === '/') {
        return true;
      }
      if (name === undefined) {
        return false;
      }
      if (attributes.some((attribute) => attribute.name === name)) {
        throw this.#fail(`XMLERR: Attribute '${name}' already defined.`, this.#pos);
      }
      if (attributes.length >= MAX_ATTRIBUTES) {
        throw this.#fail('XMLERR: Too many attributes.', this.#pos);
      }
      const value = this.#readAttributeValue(name);
      attributes.push({ name, value });
      const code = this.#text.charCodeAt(this.#pos);
      this.#pos += 1;
      if (code === GREATER) {
        return false;
      }
      if (code === SLASH) {
        return true;
      }
      if (!isSpace(code)) {
        throw this.#fail(`XMLERR: Bad attribute closing for '${name}'='${value}'.`, this.#pos);
      }
    }
  }

  /** A name, the position behind its `=`; or '/' or undefined (for `>`) where the list ends. */
  #readAttributeName(): string | undefined {
    let at = this.#pos;
    while (at < this.#text.length && isSpace(this.#text.charCodeAt(at))) {
      at += 1;
    }
    const start = at;
    for (; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === EQUALS) {
        this.#pos = at + 1;
        return this.#text.slice(start, at);
      }
      if (code === GREATER || code === SLASH || isSpace(code)) {
        if (at > start) {
          throw this.#fail(`XMLERR: Attribute '${this.#text.slice(start, at)}' has no value.`, at);
        }
        this.#pos = at + 1;
        return code === SLASH ? '/' : undefined;
      }
      if (at - start >= MAX_STRING) {
        throw this.#fail(`XMLERR: Overflow attempt at attribute '${this.#text.slice(start, start + 20)}'.`, at);
      }
    }
    throw this.#fail('XMLERR: End of file while reading an attribute.', this.#text.length);
  }

  #readAttributeValue(name: string): string {
    while (isSpace(this.#text.charCodeAt(this.#pos))) {
      this.#pos += 1;
    }
    const quote = this.#text.charCodeAt(this.#pos);
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) {
      throw this.#fail(`XMLERR: Attribute '${name}' not followed by a " or '.`, this.#pos);
    }
    const start = this.#pos + 1;
    for (let at = start; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === GREATER) {
        throw this.#fail(`XMLERR: Attribute '${name}' not closed.`, at);
      }
      if (code === quote) {
        this.#pos = at + 1;
        return this.#text.slice(start, at);
      }
      if (at - start >= MAX_STRING) {
        throw this.#fail(`XMLERR: Overflow attempt at attribute '${name.slice(0, 20)}'.`, at);
      }
    }
    throw this.#fail('XMLERR: End of file while reading an attribute.', this.#text.length);
  }

  #lineAt(offset: number): number {
    while (this.#nextNewline < offset) {
      this.#line += 1;
      this.#nextNewline = this.#newlineFrom(this.#nextNewline + 1);
    }
    return this.#line;
  }

  #newlineFrom(offset: number): number {
    const at = this.#text.indexOf('\n', offset);
    return at < 0 ? Infinity : at;
  }

  #fail(message: string, offset: number, opened?: OpenedElement): XmlError {
    const where = opened === undefined ? undefined : { name: opened.name, line: opened.line };
    return new XmlError(this.#file, this.#lineAt(offset), message, where);
  }
}

function addTo(parent: OpenElement | undefined, roots: XmlElement[], element: XmlElement): void {
  if (parent === undefined) roots.push(element);
  else if (parent.children === NO_CHILDREN) parent.children = [element];
  else parent.children.push(element);
}

/** White space as C's isspace() has it. */
function isSpace(code: number): boolean {
  return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN);
}
