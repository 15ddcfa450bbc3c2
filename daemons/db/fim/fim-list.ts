import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import type { fimMethods } from '../../../lib/bus/contracts/db-fim.js';
import { parseSort } from '../../../lib/query/sort-items.js';
import type { BinaryEntry } from '../../../lib/store/binary-table.js';
import { compileDatabaseQuery } from '../query/database-query.js';
import type { ComponentMemory } from '../rows/component-store.js';
import { listDistinctRows, listRows, type RowPage } from '../rows/list-rows.js';
import { keyInSlot, rowKey, slotRange } from '../rows/row-keys.js';
import { MAX_ROW_KEY_BYTES, ROWS_PER_TURN, SLOT_BYTES } from '../rows/row-limits.js';
import { visitSlot } from '../rows/visit-slot.js';
import { firstVariant, isVariant, nextVariant } from './case-variants.js';
import { componentKey } from './fim-component.js';
import {
  componentsOf,
  FIM_DATES,
  FIM_FIELDS,
  type FimCandidate,
  fimFields,
  fimItem,
  queryValue,
  sortValue,
  textSearch,
} from './fim-fields.js';
import { hashKey, isIndexed, LAST_NUMBER, numberKey, numberOfHashKey } from './fim-keys.js';
import { decodeRow, type FimRow } from './fim-row.js';
import type { FimTables } from './fim-store.js';

export type FimListParams = z.output<(typeof fimMethods)['fim.list']['params']>;

/** What lists read: the store, as it was last committed. */
export type FimReader = { readonly tables: FimTables; readonly memory: ComponentMemory };

const SUMMARY_FIELDS: readonly string[] = ['date', 'mtime', 'file'];
const DEFAULT_SORT = 'mtime';

type Test = (candidate: FimCandidate) => boolean;
type Visit = (candidate: RowCandidate, key: Buffer) => void;

/**
 * A page of an agent's entries (integrity-and-inventory.md 8.1). A hash is looked up in the index and a path by its
 * key; everything else goes over the entries of the agent, piece by piece.
 * @param now epoch milliseconds
 * @throws QueryError
 */
export function listFim(reader: FimReader, params: FimListParams, now: number): Promise<RowPage> {
  const { offset, limit, select, distinct = false, summary = false } = params;
  const order = parseSort(params.sort ?? DEFAULT_SORT);
  const sortKeys = fimFields(order.fields, 1403).map((name) => sortValue(name));
  const selected = select === undefined ? undefined : fimFields(select, 1724);
  const test = compileTest(params, now);
  const shown = summary ? SUMMARY_FIELDS : selected;
  const list = {
    ...{ offset, limit, sortKeys, descending: order.descending, test },
    visit: (each: Visit) => visit(reader, params, each),
  };
  if (distinct && shown !== undefined) {
    const item = (candidate: FimCandidate) => fimItem(candidate, shown);
    return listDistinctRows({ ...list, item }, shown.map(queryValue));
  }
  const names = shown === undefined ? undefined : FIM_FIELDS.filter((name) => name === 'file' || shown.includes(name));
  return listRows({
    ...list,
    read: (key: Buffer) => {
      const value = reader.tables.rows.get(key);
      return value && candidateOf(key, value);
    },
    bytes: (candidate) => candidate.bytes,
    item: (candidate) => fimItem(candidate, names),
  });
}

function candidateOf(key: Buffer, value: Buffer): RowCandidate {
  return new RowCandidate(key, value);
}

/** Makes a text of a path only when somebody asks for it. */
class RowCandidate implements FimCandidate {
  readonly #key: Buffer;
  readonly row: FimRow;
  /** As they are stored. */
  readonly bytes: number;

  constructor(key: Buffer, value: Buffer) {
    this.#key = key;
    this.row = decodeRow(value);
    this.bytes = key.length + value.length;
  }

  get file(): string {
    return this.row.file ?? this.#key.toString('utf8', SLOT_BYTES);
  }
}

/** Entries that the hash or the path of the request may be of, or all of the agent. */
async function visit({ tables, memory }: FimReader, params: FimListParams, each: Visit): Promise<void> {
  const hash = [params.hash, params.md5, params.sha1, params.sha256].map((text) => text?.toLowerCase()).find(isIndexed);
  for (const component of componentsOf(params.type)) {
    const slot = memory.components.get(componentKey(params.agent, component))?.slot;
    if (slot === undefined) continue;
    // The key of a registry entry is not its path; a path that is no UTF-8 is shown with other bytes than it has.
    const isKey = component === 'fim_file' && params.file !== undefined && !params.file.includes('\ufffd');
    if (hash !== undefined) {
      await visitHash(tables, slot, hash, each);
    } else if (isKey) {
      await visitFile(tables, slot, Buffer.from(params.file ?? ''), each);
    } else {
      await visitSlot(tables.rows, slot, (key, value) => {
        each(candidateOf(key, value), key);
        return true;
      });
    }
  }
}

/** Entries with a path, whatever the case of its letters. */
async function visitFile(tables: FimTables, slot: number, path: Buffer, each: Visit): Promise<void> {
  if (path.length > MAX_ROW_KEY_BYTES) return;
  const { to } = slotRange(slot);
  let from: Buffer | undefined = firstVariant(path);
  for (let looks = 1; from !== undefined; looks += 1) {
    const range = { from: rowKey(slot, from), to, toExclusive: true, limit: 1 } as const;
    const [found]: BinaryEntry[] = [...tables.rows.entries(range)];
    if (found === undefined) return;
    const there = keyInSlot(found.key);
    if (isVariant(path, there)) each(candidateOf(found.key, found.value), found.key);
    from = nextVariant(path, there);
    if (looks % ROWS_PER_TURN === 0) await nextTurn();
  }
}

async function visitHash(tables: FimTables, slot: number, hash: string, each: Visit): Promise<void> {
  let from = hashKey(slot, hash, 0);
  const to = hashKey(slot, hash, LAST_NUMBER);
  for (let fromExclusive = false; ; fromExclusive = true) {
    let count = 0;
    for (const found of [...tables.hashes.keys({ from, fromExclusive, to, limit: ROWS_PER_TURN })]) {
      from = found;
      count += 1;
      const path = tables.numbers.get(numberKey(slot, numberOfHashKey(found)));
      const key = path && rowKey(slot, path);
      const value = key && tables.rows.get(key);
      if (key !== undefined && value !== undefined) each(candidateOf(key, value), key);
    }
    if (count < ROWS_PER_TURN) return;
    await nextTurn();
  }
}

/** @throws QueryError */
function compileTest(params: FimListParams, now: number): Test {
  const tests: Test[] = [];
  const equals = (wanted: string | undefined, read: (candidate: FimCandidate) => string | undefined): void => {
    if (wanted === undefined) return;
    const lower = wanted.toLowerCase();
    tests.push((candidate) => read(candidate)?.toLowerCase() === lower);
  };
  equals(params.file, ({ file }) => file);
  equals(params.arch, ({ row }) => row.arch);
  equals(params['value.name'], ({ row }) => row.valueName);
  equals(params['value.type'], ({ row }) => row.valueType);
  equals(params.md5, ({ row }) => row.md5);
  equals(params.sha1, ({ row }) => row.sha1);
  equals(params.sha256, ({ row }) => row.sha256);
  if (params.hash !== undefined) {
    const hash = params.hash.toLowerCase();
    tests.push(({ row }) => [row.md5, row.sha1, row.sha256].some((value) => value?.toLowerCase() === hash));
  }
  if (params.q !== undefined && params.q !== '') {
    const rules = { fields: FIM_FIELDS, dateFields: FIM_DATES, read: queryValue, now };
    tests.push(compileDatabaseQuery<FimCandidate>(params.q, rules));
  }
  if (params.search !== undefined) {
    const isComplement = params.search.startsWith('-');
    const wanted = (isComplement ? params.search.slice(1) : params.search).toLowerCase();
    const contains = textSearch(wanted);
    tests.push((candidate) => contains(candidate) !== isComplement);
  }
  return (candidate) => tests.every((test) => test(candidate));
}
