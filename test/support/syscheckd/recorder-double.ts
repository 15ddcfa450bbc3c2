import type { ChangeRecorder } from '../../../daemons/syscheckd/realtime/change-recorder.js';
import type { RecordOptions, RecordResult, RemoveHow } from '../../../daemons/syscheckd/record/recorder.js';
import { ScanMarks } from '../../../daemons/syscheckd/record/scan-marks.js';
import type { FileRow } from '../../../daemons/syscheckd/store/file-row.js';
import { fileAttributes } from '../../../lib/fim/entry-checksum.js';
import type { ScannedEntry } from '../../../lib/fim/scan/scan-tree.js';

/** Rows in memory with the promises of a Recorder, and the events as `type path`, in their order. */
export class RecorderDouble implements ChangeRecorder {
  readonly events: string[] = [];
  readonly files = new Map<string, FileRow>();
  readonly marks = new Set<ScanMarks>();
  readonly #changed = new Map<string, number>();
  #tickets = 0;
  #numbers = 0;

  ticket(): number {
    return ++this.#tickets;
  }

  known(path: string): string | undefined {
    return this.files.get(path)?.stamp;
  }

  row(path: string): FileRow | undefined {
    return this.files.get(path);
  }

  async *rowsBelow(path: string): AsyncIterable<FileRow[]> {
    await Promise.resolve();
    const rows = [...this.files.values()].filter((row) => row.path.startsWith(path === '/' ? path : `${path}/`));
    if (rows.length > 0) yield rows;
  }

  async record(found: readonly ScannedEntry[], { mode, ticket, scan, silent }: RecordOptions): Promise<RecordResult> {
    await Promise.resolve();
    const overtaken: string[] = [];
    for (const entry of found) {
      const { path, directory, stamp, inode, dev } = entry;
      const before = this.files.get(path);
      if (before !== undefined) scan?.mark(before.number);
      if ((this.#changed.get(path) ?? 0) > (entry.ticket ?? ticket)) {
        overtaken.push(path);
        continue;
      }
      if (entry.unchanged || entry.hashes === undefined) continue;
      const attributes = fileAttributes({ ...entry, hashes: entry.hashes }, directory.checks);
      const same = before?.attributes.checksum === attributes.checksum;
      if (!same) this.#changed.set(path, this.ticket());
      if (!same && !silent(directory)) this.events.push(`${before === undefined ? 'added' : 'modified'} ${path}`);
      const number = before?.number ?? this.#numbers++;
      const row = { path, number, attributes, checks: directory.checks, inode, dev, stamp, lastEvent: 0, mode };
      this.files.set(path, row);
      scan?.mark(number);
    }
    return { overtaken };
  }

  async remove(rows: readonly FileRow[], { ticket, silent }: RemoveHow): Promise<RecordResult> {
    await Promise.resolve();
    const overtaken: string[] = [];
    for (const { path } of rows) {
      if (!this.files.has(path)) continue;
      if ((this.#changed.get(path) ?? 0) > ticket) {
        overtaken.push(path);
        continue;
      }
      this.files.delete(path);
      this.#changed.set(path, this.ticket());
      if (!silent) this.events.push(`deleted ${path}`);
    }
    return { overtaken };
  }

  beginScan(): ScanMarks {
    const marks = new ScanMarks(this.#numbers, (ended) => this.marks.delete(ended));
    this.marks.add(marks);
    return marks;
  }
}
