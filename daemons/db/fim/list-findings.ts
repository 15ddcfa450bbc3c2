import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { fimMethods } from '../../../lib/bus/contracts/db-fim.js';
import type { SortKey } from '../../../lib/query/row-keys.js';
import { searchItems } from '../../../lib/query/search-items.js';
import { selectFields } from '../../../lib/query/select-fields.js';
import { parseSort } from '../../../lib/query/sort-items.js';
import { compileDatabaseQuery } from '../query/database-query.js';
import { requireFields } from '../query/require-fields.js';
import { cutPage, MAX_PAGE_BYTES } from '../rows/cut-page.js';
import { compareRefs, type RowPage } from '../rows/list-rows.js';
import { slotRange } from '../rows/row-keys.js';
import { TopEntries } from '../rows/top-entries.js';
import { componentKey } from './fim-component.js';
import { isoTime } from './fim-fields.js';
import type { FimReader } from './fim-list.js';
import { decodeFinding, findingKey, type RootcheckFinding } from './findings.js';

type ListParams = z.output<(typeof fimMethods)['rootcheck.list']['params']>;
/** A finding as the API shows it. */
type FindingItem = Readonly<Record<string, string>>;
type Ref = { readonly key: Buffer; readonly order: number; readonly keys: readonly SortKey[] };

const STARTING = 'Starting rootcheck scan.';
const ENDING = 'Ending rootcheck scan.';
/** Marks of scans, which are no findings. */
const MARKS: ReadonlySet<string> = new Set([STARTING, ENDING, 'Starting syscheck scan.', 'Ending syscheck scan.']);
/** What was not told in the day before the end of the last scan is solved. */
const DAY_SECONDS = 86_400;
const FIELDS = ['status', 'log', 'date_first', 'date_last', 'pci_dss', 'cis'] as const;
const DATES = ['date_first', 'date_last'];
const DEFAULT_SORT = '-date_last';

/** Findings read in one turn of the event loop: some milliseconds, as texts may be long. */
const FINDINGS_PER_TURN = 256;
/** Characters of a text that count when findings are sorted by it: what is kept of each while they are. */
const SORTED_CHARACTERS = 256;
/** Characters of different rows of `distinct` that are kept in memory at once. */
const MAX_DISTINCT_CHARACTERS = 32 * 1024 * 1024;

/**
 * A page of what rootcheck found (integrity-and-inventory.md 9.5). Findings are gone over in pieces, and of those that are
 * not on the page only their keys are held.
 * @param now epoch milliseconds
 * @throws QueryError, BusError `too_many`
 */
export async function listFindings(reader: FimReader, params: ListParams, now: number): Promise<RowPage> {
  const { offset, limit, select, distinct } = params;
  const order = parseSort(params.sort ?? DEFAULT_SORT);
  requireFields(order.fields, FIELDS, 1403);
  if (select !== undefined) requireFields(select, FIELDS, 1724);
  const test = compileTest(params, now);
  const sortKeys = (item: FindingItem): SortKey[] =>
    order.fields.map((field) => item[field]?.slice(0, SORTED_CHARACTERS).toLowerCase());
  const compare = compareRefs(order.descending);
  if (distinct === true && select !== undefined) {
    const rows = await distinctRows(reader, params.agent, test, select, sortKeys);
    const top = new TopEntries<DistinctRow>(offset + limit, (one, other) => compare(one.ref, other.ref));
    for (const row of rows) top.add(row);
    return { items: cutPage((await top.finish()).slice(offset).map(({ item }) => item)), total: rows.length };
  }
  const top = new TopEntries<Ref>(offset + limit, compare);
  let total = 0;
  await visit(reader, params.agent, (item, key) => {
    if (!test(item)) return;
    top.add({ key, order: total, keys: sortKeys(item) });
    total += 1;
  });
  const ended = endOfLastScan(reader, params.agent);
  const items: FindingItem[] = [];
  let weight = 0;
  for (const { key } of (await top.finish()).slice(offset)) {
    const value = reader.tables.findings.get(key);
    // Forgotten meanwhile.
    if (value === undefined) continue;
    weight += 400 + value.length;
    if (weight > MAX_PAGE_BYTES && items.length > 0) break;
    items.push(itemOf(decodeFinding(value), ended));
    if (items.length % FINDINGS_PER_TURN === 0) await nextTurn();
  }
  return { items: select === undefined ? items : selectFields(items, select, { allowed: FIELDS }), total };
}

type DistinctRow = { readonly item: Record<string, unknown>; readonly ref: Omit<Ref, 'key'> };

/** Different rows of the selected fields; those in which one is missing are left out (rest-api.md 4.1). */
async function distinctRows(
  reader: FimReader,
  agent: string,
  test: (item: FindingItem) => boolean,
  select: readonly string[],
  sortKeys: (item: FindingItem) => SortKey[],
): Promise<DistinctRow[]> {
  const found = new Map<string, DistinctRow>();
  let characters = 0;
  await visit(reader, agent, (item) => {
    if (!test(item) || select.some((name) => item[name] === undefined)) return;
    const [row = {}] = selectFields([item], select, { allowed: FIELDS });
    const name = JSON.stringify(row);
    if (found.has(name)) return;
    characters += name.length;
    if (characters > MAX_DISTINCT_CHARACTERS) {
      throw new BusError('too_many', 'There is too much in different rows of these findings: narrow the search');
    }
    found.set(name, { item: row, ref: { order: found.size, keys: sortKeys(item) } });
  });
  return [...found.values()];
}

/** When the last scan of rootcheck began and ended; the end is null while one is running. */
export function lastRootcheckScan(reader: FimReader, agent: string): { start: string | null; end: string | null } {
  const start = lastTold(reader, agent, STARTING);
  const end = endOfLastScan(reader, agent);
  return { start: isoTime(start), end: start === 0 || end < start ? null : isoTime(end) };
}

function endOfLastScan(reader: FimReader, agent: string): number {
  return lastTold(reader, agent, ENDING);
}

/** Epoch seconds at which a text was told last; 0 for never. */
function lastTold({ tables, memory }: FimReader, agent: string, text: string): number {
  const slot = memory.components.get(componentKey(agent, 'rootcheck'))?.slot;
  const value = slot === undefined ? undefined : tables.findings.get(findingKey(slot, Buffer.from(text)));
  return value === undefined ? 0 : decodeFinding(value).last;
}

/** Goes over all findings of an agent, marks of scans left out. */
async function visit(reader: FimReader, agent: string, each: (item: FindingItem, key: Buffer) => void): Promise<void> {
  const { tables, memory } = reader;
  const slot = memory.components.get(componentKey(agent, 'rootcheck'))?.slot;
  if (slot === undefined) return;
  const ended = endOfLastScan(reader, agent);
  const { to } = slotRange(slot);
  let { from } = slotRange(slot);
  for (let fromExclusive = false; ; fromExclusive = true) {
    let count = 0;
    const range = { from, fromExclusive, to, toExclusive: true, limit: FINDINGS_PER_TURN };
    for (const { key, value } of tables.findings.entries(range)) {
      const finding = decodeFinding(value);
      if (!MARKS.has(finding.log)) each(itemOf(finding, ended), key);
      from = key;
      count += 1;
    }
    if (count < FINDINGS_PER_TURN) return;
    await nextTurn();
  }
}

function itemOf({ log, first, last }: RootcheckFinding, ended: number): FindingItem {
  return {
    status: last > ended - DAY_SECONDS ? 'outstanding' : 'solved',
    log,
    date_first: isoTime(first) ?? '',
    date_last: isoTime(last) ?? '',
    ...tag('pci_dss', /\{PCI_DSS: ([^}]*)\}/.exec(log)?.[1]),
    ...tag('cis', /\{CIS: ([^}]*)\}/.exec(log)?.[1]),
  };
}

/** @throws QueryError */
function compileTest({ status, pci_dss, cis, q, search }: ListParams, now: number): (item: FindingItem) => boolean {
  const query =
    q === undefined || q === '' ? undefined : compileDatabaseQuery(q, { fields: FIELDS, dateFields: DATES, now });
  return (item) =>
    (status === 'all' || item['status'] === status) &&
    isEqual(pci_dss, item['pci_dss']) &&
    isEqual(cis, item['cis']) &&
    (query === undefined || query(item)) &&
    (search === undefined || searchItems([item], search).length > 0);
}

function tag<K extends string>(name: K, text: string | undefined): Partial<Record<K, string>> {
  const value = text?.trim();
  return (value === undefined || value === '' ? {} : { [name]: value }) as Partial<Record<K, string>>;
}

function isEqual(wanted: string | undefined, value: string | undefined): boolean {
  return wanted === undefined || wanted.toLowerCase() === value?.toLowerCase();
}
