import type { HandoverRow } from '../../../lib/bus/contracts/db-handover.js';
import type { FimColumns } from '../../../lib/events/fim/fim-columns.js';
import { componentOfName, FIM_COMPONENTS } from '../../../lib/events/fim/fim-component.js';
import type { HandoverStore, SectionRow } from '../handover/handover-store.js';
import type { BatchWriter } from '../rows/batch-writer.js';
import { rowsBehind } from '../rows/rows-behind.js';
import type { FimBatch } from './fim-batch.js';
import { componentKey } from './fim-component.js';
import type { FimReader } from './fim-list.js';
import { decodeRow, type FimCount } from './fim-row.js';

/** When an agent was scanned last: begin and end, each as text, in the one row of this section. */
const SCAN_SECTION = 'scan';
const SCAN_KEY = Buffer.from('scan');
const SCAN = /^(\d{1,12}) (\d{1,12})$/;

/** Files of an agent on their way from node to node. What rootcheck found comes with its next scan. */
export class FimHandover implements HandoverStore {
  readonly #reader: FimReader;
  readonly #writer: BatchWriter<FimBatch>;

  constructor(reader: FimReader, writer: BatchWriter<FimBatch>) {
    this.#reader = reader;
    this.#writer = writer;
  }

  sections(): readonly string[] {
    return [...FIM_COMPONENTS, SCAN_SECTION];
  }

  rows(agent: string, section: string, after: Buffer | undefined): Iterable<SectionRow> {
    const { tables, memory } = this.#reader;
    if (section === SCAN_SECTION) {
      const scan = after === undefined ? tables.scans.get(Number(agent)) : undefined;
      return scan === undefined ? [] : [{ key: SCAN_KEY, value: Buffer.from(`${scan.start} ${scan.end}`) }];
    }
    const component = componentOfName(section);
    const record = component === undefined ? undefined : memory.components.get(componentKey(agent, component));
    return record === undefined ? [] : rowsBehind(tables.rows, record.slot, after);
  }

  async adopt(agent: string, rows: readonly HandoverRow[]): Promise<number> {
    const scan = rows.find(({ section }) => section === SCAN_SECTION);
    const [, start, end] = SCAN.exec(Buffer.from(scan?.value ?? []).toString('latin1')) ?? [];
    const files = rows.flatMap(({ section, key, value }) => {
      const component = componentOfName(section);
      return component === undefined ? [] : [{ component, path: Buffer.from(key), ...columnsOf(Buffer.from(value)) }];
    });
    return await this.#writer.write((batch) => {
      let stored = 0;
      for (const { component, path, columns, count } of files) {
        const key = componentKey(agent, component);
        if (!batch.hasRow(key, path) && batch.putRow(key, path, columns, () => count) === undefined) stored += 1;
      }
      if (start !== undefined && batch.scan(agent) === undefined) {
        batch.setScan(agent, { start: Number(start), end: Number(end) });
      }
      return stored;
    });
  }
}

/** All columns, read now: what is not what it should be is seen before anything is stored. @throws StoreError `damaged` */
function columnsOf(bytes: Buffer): { readonly columns: FimColumns; readonly count: FimCount } {
  const row = decodeRow(bytes);
  const { date, type, checksum, file, arch, valueName, valueType, size, perm, uid, gid } = row;
  const { md5, sha1, sha256, uname, gname, attributes, symbolicPath, mtime, inode } = row;
  return {
    columns: {
      ...{ date, type, checksum, file, arch, valueName, valueType, size, perm, uid, gid },
      ...{ md5, sha1, sha256, uname, gname, attributes, symbolicPath, mtime, inode },
    },
    count: { changes: row.changes, ahead: row.ahead },
  };
}
