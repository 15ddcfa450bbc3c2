import { PatternError } from '../pattern-error.js';

/** Reads a PCRE2 pattern from left to right. */
export class PatternReader {
  readonly source: string;
  /** Offset of the next character. */
  at = 0;

  constructor(source: string) {
    this.source = source;
  }

  get done(): boolean {
    return this.at >= this.source.length;
  }

  peek(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  /** Goes behind the text if it comes next. */
  take(text: string): boolean {
    if (!this.peek(text)) return false;
    this.at += text.length;
    return true;
  }

  /** The next character, or '' at the end. */
  next(): string {
    const char = this.source.charAt(this.at);
    this.at += 1;
    return char;
  }

  /** Goes behind what a sticky expression matches here; undefined where it does not match. */
  takeMatch(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at;
    const match = expression.exec(this.source);
    if (match === null) return undefined;
    this.at += match[0].length;
    return match;
  }

  /** The text up to `end`, and goes behind that. */
  until(end: string, what: string): string {
    const close = this.source.indexOf(end, this.at);
    if (close < 0) throw this.error(`${what} is not closed`);
    const text = this.source.slice(this.at, close);
    this.at = close + end.length;
    return text;
  }

  error(message: string, at = this.at): PatternError {
    return new PatternError(6, message, at);
  }
}
