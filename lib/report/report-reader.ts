import { AlertView } from '../output/alert-view.js';
import { JsonReportAlert } from './json-report-alert.js';
import type { ReportAlert } from './report-alert.js';
import { TextAlertParser } from './text-alert-parser.js';

/** The two forms of alerts: alerts.json and alerts.log. */
export type AlertForm = 'json' | 'text';

/** A longer line is left out and counted: none that svc-analysisd writes is, and an input without line ends must not fill the memory. */
const MAX_LINE_BYTES = 12 * 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Takes alerts out of bytes as they come: lines of alerts.json, or alerts.log (rules-and-alerts.md 7.1, 7.7). The first line that
 * begins like one of the two decides which it is.
 */
export class ReportReader {
  readonly #take: (alert: ReportAlert) => void;
  readonly #text: TextAlertParser;
  #form: AlertForm | undefined;
  /** The beginning of a line whose end has not come. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #badLines = 0;

  constructor(take: (alert: ReportAlert) => void) {
    this.#take = take;
    this.#text = new TextAlertParser(take);
  }

  /** Undefined before a line decided it. */
  get form(): AlertForm | undefined {
    return this.#form;
  }

  /** Lines that are no alert or part of one, and lines that are too long. */
  get badLines(): number {
    return this.#badLines + this.#text.badLines;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      if (this.#partBytes === 0) {
        this.#bytes(chunk, from, end);
      } else {
        this.#keep(chunk.subarray(from, end));
        this.#lastPart();
      }
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** A file ends: the next bytes begin a line, and an alert. */
  end(): void {
    if (this.#partBytes > 0) this.#lastPart();
    this.#text.end();
  }

  #keep(part: Buffer): void {
    this.#partBytes += part.length;
    if (this.#partBytes > MAX_LINE_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #lastPart(): void {
    const bytes = this.#partBytes;
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    if (bytes > MAX_LINE_BYTES) this.#badLines += 1;
    else this.#bytes(line, 0, line.length);
  }

  #bytes(buffer: Buffer, from: number, end: number): void {
    const last = end > from && buffer[end - 1] === RETURN ? end - 1 : end;
    this.#line(buffer.toString('utf8', from, last));
  }

  #line(line: string): void {
    this.#form ??= line.startsWith('{') ? 'json' : line.startsWith('** Alert ') ? 'text' : undefined;
    if (this.#form === 'text') {
      this.#text.line(line);
      return;
    }
    if (line === '') return;
    const view = this.#form === 'json' ? AlertView.parse(line) : undefined;
    if (view === undefined) this.#badLines += 1;
    else this.#take(new JsonReportAlert(view));
  }
}
