import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { MONTH_NAMES } from './local-day.js';

/** A place in the stream of alerts: a dated file, relative to the alerts directory, and a byte offset in it. */
export type AlertPosition = { readonly file: string; readonly offset: number };

export type AlertPage = {
  /** Whole alerts, JSON texts in order of writing. */
  readonly alerts: readonly string[];
  /** Where to read on; keep it once the alerts of the page have been dealt with. */
  readonly next: AlertPosition;
};

/** Bytes looked at in one read: a page is bounded whatever `max` says. */
const PAGE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
const FILE_NAME = /^ossec-alerts-(\d{2})(?:-(\d{3}))?\.json$/;
const POSITION_FILE = /^\d{4}\/[A-Z][a-z]{2}\/ossec-alerts-\d{2}(?:-\d{3})?\.json$/;

/**
 * Reads alerts back in the order they were written, from any position a consumer has kept (design.md 4 "Consumers
 * with effects"): the files of alerts.json are the stream, so it survives everything they survive.
 */
export class AlertStream {
  readonly #directory: string;

  /** @param directory `{home}/logs/alerts` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The position behind the last whole alert. */
  end(): AlertPosition {
    const files = this.#files();
    const last = files.at(-1);
    if (last === undefined) return { file: '', offset: 0 };
    return { file: last, offset: this.#wholeBytes(last) };
  }

  /** The position before the oldest alert kept uncompressed. */
  start(): AlertPosition {
    return { file: this.#files()[0] ?? '', offset: 0 };
  }

  /**
   * The next alerts after a position.
   * @param max 1 or more alerts at most
   * @throws RangeError when the position names no file of the stream's form or lies beyond the file's end
   */
  read(after: AlertPosition, max: number): AlertPage {
    if (after.file !== '' && !POSITION_FILE.test(after.file)) throw new RangeError(`not a position: '${after.file}'`);
    let position = after;
    for (;;) {
      const page = position.file === '' ? { alerts: [], next: position } : this.#readFile(position, max);
      if (page.alerts.length > 0) return page;
      const following = this.#files().find((file) => compareFiles(file, position.file) > 0);
      if (following === undefined) return page;
      position = { file: following, offset: 0 };
    }
  }

  #readFile(position: AlertPosition, max: number): AlertPage {
    const path = join(this.#directory, position.file);
    // A file that is gone was compressed or removed: the stream goes on in the next one.
    if (!existsSync(path)) return { alerts: [], next: position };
    const fd = openSync(path, 'r');
    try {
      const size = fstatSync(fd).size;
      if (position.offset > size) throw new RangeError(`'${position.file}' has only ${String(size)} bytes`);
      const buffer = Buffer.alloc(Math.min(PAGE_BYTES, size - position.offset));
      const length = readSync(fd, buffer, 0, buffer.length, position.offset);
      const alerts: string[] = [];
      let from = 0;
      while (alerts.length < max) {
        const end = buffer.indexOf(NEWLINE, from);
        if (end < 0 || end >= length) break;
        alerts.push(buffer.toString('utf8', from, end));
        from = end + 1;
      }
      return { alerts, next: { file: position.file, offset: position.offset + from } };
    } finally {
      closeSync(fd);
    }
  }

  #wholeBytes(file: string): number {
    const fd = openSync(join(this.#directory, file), 'r');
    try {
      const size = fstatSync(fd).size;
      const buffer = Buffer.alloc(Math.min(PAGE_BYTES, size));
      const length = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
      const last = buffer.lastIndexOf(NEWLINE, length - 1);
      return size - buffer.length + last + 1;
    } finally {
      closeSync(fd);
    }
  }

  #files(): string[] {
    const files: string[] = [];
    if (!existsSync(this.#directory)) return files;
    for (const year of readdirSync(this.#directory)) {
      if (!/^\d{4}$/.test(year)) continue;
      for (const month of readdirSync(join(this.#directory, year))) {
        if (!MONTH_NAMES.some((name) => name === month)) continue;
        for (const name of readdirSync(join(this.#directory, year, month))) {
          if (FILE_NAME.test(name)) files.push(`${year}/${month}/${name}`);
        }
      }
    }
    return files.sort(compareFiles);
  }
}

/** Order of writing: by year, month, day, part. The empty name comes first. */
function compareFiles(a: string, b: string): number {
  return sortKey(a) - sortKey(b);
}

function sortKey(file: string): number {
  const [year = '', month = '', name = ''] = file.split('/');
  const parts = FILE_NAME.exec(name);
  if (parts === null) return -1;
  const monthNumber = MONTH_NAMES.findIndex((candidate) => candidate === month);
  return ((Number(year) * 12 + monthNumber) * 31 + Number(parts[1]) - 1) * 1000 + Number(parts[2] ?? 0);
}
