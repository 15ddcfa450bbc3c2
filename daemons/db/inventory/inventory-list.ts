import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import type { inventoryMethods } from '../../../lib/bus/contracts/db-inventory.js';
import type { CellValue } from '../../../lib/events/inventory/read-row.js';
import type { SortKey } from '../../../lib/query/row-keys.js';
import { parseSort } from '../../../lib/query/sort-items.js';
import { compileDatabaseQuery } from '../query/database-query.js';
import { requireFields } from '../query/require-fields.js';
import { MAX_PAGE_BYTES } from '../rows/cut-page.js';
import { ITEM_BYTES, listDistinctRows, listRows, type RowPage } from '../rows/list-rows.js';
import { ROWS_PER_TURN } from '../rows/row-limits.js';
import { visitSlot } from '../rows/visit-slot.js';
import { nameColumn } from './inventory-batch.js';
import { inventoryComponent } from './inventory-component.js';
import { type InventoryCandidate, inventoryItems, type InventoryView, inventoryView } from './inventory-fields.js';
import { type KeyRange, nameHash, NameRange, rowKeyOfName } from './inventory-keys.js';
import { StoredRow } from './inventory-row.js';
import type { InventoryReader } from './inventory-store.js';
import { type PlacedPage, RowPlaces, rowsByAgent } from './row-places.js';

export type InventoryListParams = z.output<(typeof inventoryMethods)['inventory.list']['params']>;

type Test = (candidate: InventoryCandidate) => boolean;
type Ref = { readonly agent: string; readonly key: Buffer };
/** Told of a row as it is stored. */
type TellRow = (key: Buffer, value: Buffer) => void;
type Visit = (candidate: InventoryCandidate, ref: Ref) => void;
/** Rows of the table of one agent. */
type Part = { readonly agent: string; readonly slot: number; readonly rows: number };

/**
 * A page of rows of one agent or of several (integrity-and-inventory.md 11.5), in the order of the agents and of the keys
 * unless it is sorted. Without a question that looks at rows only those of the page are read; names are looked up in
 * an index; everything else goes over the rows, piece by piece.
 * @param ids all agents, in their order
 * @throws QueryError, BusError `too_many`
 */
export async function listInventory(
  reader: InventoryReader,
  params: InventoryListParams,
  ids: () => readonly string[],
  now: number,
): Promise<PlacedPage> {
  const { offset, limit, select, distinct = false, filters = {} } = params;
  const view = inventoryView(params.type);
  const known = [...view.fields.keys()];
  const order = params.sort === undefined ? undefined : parseSort(params.sort);
  const sorted = membersOf(order?.fields ?? [], known);
  requireFields(sorted, known, 1403);
  const selected = select === undefined ? undefined : membersOf(select, known);
  if (selected !== undefined) requireFields(selected, known, 1724);
  const test = compileTest(view, params, now);
  const parts = partsOf(reader, view, params.agents === 'all' ? ids() : params.agents);
  // The number of the agent is shown with each row, and is no reason to take rows for different ones.
  const shown = selected === undefined || distinct ? selected : [...new Set([...selected, 'agent_id'])];
  const sortKeys = sorted.map((name) => sortKey(view, name));
  const places = new RowPlaces(params.keys, sortKeys);
  const item = places.recording(inventoryItems(view, shown));
  const list = {
    ...{ offset, limit, item, sortKeys, descending: order?.descending ?? false },
    test: test ?? (() => true),
    visit: (each: Visit) => visit(reader, view, parts, filters, each),
  };
  if (distinct && shown !== undefined) {
    const values = shown.map((name) => (candidate: InventoryCandidate) => view.fields.get(name)?.read(candidate));
    return listDistinctRows(list, values);
  }
  if (order === undefined && params.keys === 'alone') {
    if (test === undefined) return rowsByAgent(parts.map(({ agent, rows }) => [agent, rows]));
    return rowsByAgent(await countByAgent(list));
  }
  if (test === undefined && order === undefined) {
    return places.of(await firstRows(reader, view, parts, { offset, limit }, item));
  }
  const page = await listRows({
    ...list,
    read: ({ agent, key }) => {
      const value = reader.tables.rows.get(key);
      return value && { agent, row: new StoredRow(view.table.name, value) };
    },
    bytes: ({ row }) => (params.keys === 'alone' ? 0 : row.bytes),
  });
  return places.of(page);
}

/** How many rows of each agent pass, in the order of the agents. */
async function countByAgent({
  test,
  visit: visitAll,
}: {
  readonly test: Test;
  readonly visit: (each: Visit) => Promise<void>;
}) {
  const counts = new Map<string, number>();
  await visitAll((candidate) => {
    if (test(candidate)) counts.set(candidate.agent, (counts.get(candidate.agent) ?? 0) + 1);
  });
  return [...counts];
}

/** A page that no question is asked for: whole agents are passed over by the number of their rows. */
async function firstRows(
  reader: InventoryReader,
  { table }: InventoryView,
  parts: readonly Part[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  item: (candidate: InventoryCandidate) => Record<string, unknown>,
): Promise<RowPage> {
  let total = 0;
  const wanted: (Part & { readonly skip: number; readonly take: number })[] = [];
  for (const part of parts) {
    const skip = Math.max(0, offset - total);
    const take = Math.min(part.rows - skip, offset + limit - Math.max(total, offset));
    if (take > 0) wanted.push({ ...part, skip, take });
    total += part.rows;
  }
  const items: Record<string, unknown>[] = [];
  let weight = 0;
  for (const { agent, slot, skip, take } of wanted) {
    let place = 0;
    let isFull = false;
    await visitSlot(reader.tables.rows, slot, (_key, value) => {
      if (place >= skip) {
        weight += ITEM_BYTES + value.length * 2;
        isFull = weight > MAX_PAGE_BYTES && items.length > 0;
        if (!isFull) items.push(item({ agent, row: new StoredRow(table.name, value) }));
      }
      place += 1;
      return !isFull && place < skip + take;
    });
    if (isFull) break;
  }
  return { items, total };
}

function partsOf({ memory }: InventoryReader, { table }: InventoryView, agents: readonly string[]): Part[] {
  return agents.flatMap((agent) => {
    const record = memory.components.get(inventoryComponent(agent, table.name));
    return record === undefined ? [] : [{ agent, slot: record.slot, rows: record.rows }];
  });
}

/** Rows that may be meant: those of a name where one is asked for, else all. */
async function visit(
  reader: InventoryReader,
  { table, fields }: InventoryView,
  parts: readonly Part[],
  filters: Readonly<Record<string, string | number>>,
  each: Visit,
): Promise<void> {
  const column = nameColumn(table);
  const field = [...fields.values()].find((one) => one.column !== undefined && one.column === column);
  const name = field === undefined ? undefined : filters[field.name];
  const names = name === undefined ? undefined : new NameRange(nameHash(name));
  let looks = 0;
  for (const { agent, slot } of parts) {
    const tell = (key: Buffer, value: Buffer): void => {
      each({ agent, row: new StoredRow(table.name, value) }, { agent, key });
    };
    // A look costs as much as a row: a hundred thousand agents with one row each take their turns, too.
    looks += 1;
    if (looks >= ROWS_PER_TURN) {
      await nextTurn();
      looks = 0;
    }
    if (names === undefined || String(name).toLowerCase() === 'all') {
      looks += await visitSlot(reader.tables.rows, slot, (key, value) => {
        tell(key, value);
        return true;
      });
      continue;
    }
    const looked = visitName(reader, slot, names, tell);
    looks += typeof looked === 'number' ? looked : await looked;
  }
}

/** Goes over the rows of a slot that have a name. @returns how many were looked at since the last turn of the event loop */
function visitName(reader: InventoryReader, slot: number, names: NameRange, each: TellRow): number | Promise<number> {
  const first = lookAtName(reader, names.at(slot), each);
  // Nearly all agents have a name once: going on later costs as much as the look.
  return first.count < ROWS_PER_TURN ? first.count : visitMore(reader, { ...names.at(slot) }, first.last, each);
}

/** An agent may have a hundred thousand rows of one name. */
async function visitMore(reader: InventoryReader, range: KeyRange, last: Buffer, each: TellRow): Promise<number> {
  const to = Buffer.from(range.to);
  for (let from = last; ;) {
    await nextTurn();
    const next = lookAtName(reader, { from, fromExclusive: true, to }, each);
    if (next.count < ROWS_PER_TURN) return next.count;
    from = next.last;
  }
}

function lookAtName({ tables }: InventoryReader, range: KeyRange, each: TellRow) {
  let last = range.from;
  let count = 0;
  for (const found of tables.names.keys({ ...range, toExclusive: true, limit: ROWS_PER_TURN })) {
    last = found;
    count += 1;
    const key = rowKeyOfName(found);
    const value = tables.rows.get(key);
    if (value !== undefined) each(key, value);
  }
  return { count, last };
}

/** A group is all of its members. */
function membersOf(names: readonly string[], known: readonly string[]): string[] {
  const members = names.flatMap((name) => {
    if (known.includes(name)) return [name];
    const inside = known.filter((field) => field.startsWith(`${name}.`));
    return inside.length === 0 ? [name] : inside;
  });
  return [...new Set(members)];
}

function sortKey({ fields }: InventoryView, name: string): (candidate: InventoryCandidate) => SortKey {
  const read = fields.get(name)?.read ?? (() => undefined);
  return (candidate) => {
    const value = read(candidate);
    return typeof value === 'string' ? value.toLowerCase() : value;
  };
}

/** @returns undefined when every row is meant @throws QueryError */
function compileTest({ fields }: InventoryView, params: InventoryListParams, now: number): Test | undefined {
  const tests: Test[] = [];
  for (const [name, wanted] of Object.entries(params.filters ?? {})) {
    const read = fields.get(name)?.read;
    const lower = String(wanted).toLowerCase();
    if (read === undefined || lower === 'all') continue;
    tests.push((candidate) => textOf(read(candidate)) === lower);
  }
  if (params.q !== undefined && params.q !== '') {
    const read = (name: string): ((candidate: InventoryCandidate) => CellValue) =>
      fields.get(name)?.read ?? (() => undefined);
    tests.push(compileDatabaseQuery<InventoryCandidate>(params.q, { fields: [...fields.keys()], read, now }));
  }
  if (params.search !== undefined) {
    const isComplement = params.search.startsWith('-');
    const wanted = (isComplement ? params.search.slice(1) : params.search).toLowerCase();
    const searched = [...fields.values()].filter(({ column, name }) => column !== undefined || name.startsWith('scan'));
    tests.push((candidate) => {
      const isFound = searched.some(({ read }) => textOf(read(candidate))?.includes(wanted) === true);
      return isFound !== isComplement;
    });
  }
  if (tests.length === 0) return undefined;
  return (candidate) => tests.every((test) => test(candidate));
}

function textOf(value: CellValue): string | undefined {
  return value === undefined ? undefined : String(value).toLowerCase();
}
