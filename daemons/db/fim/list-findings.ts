import type { z } from 'zod';
import type { fimMethods } from '../../../lib/bus/contracts/db-fim.js';
import { compileDatabaseQuery } from '../../../lib/query/database-query.js';
import { requireFields } from '../../../lib/query/require-fields.js';
import { runListQuery } from '../../../lib/query/run-list-query.js';
import { parseSort } from '../../../lib/query/sort-items.js';
import { cutPage } from './cut-page.js';
import { componentKey } from './fim-component.js';
import { isoTime } from './fim-fields.js';
import type { FimPage, FimReader } from './fim-list.js';
import { slotRange } from './fim-keys.js';
import { decodeFinding, type Finding } from './findings.js';

type ListParams = z.output<(typeof fimMethods)['rootcheck.list']['params']>;

const STARTING = 'Starting rootcheck scan.';
const ENDING = 'Ending rootcheck scan.';
/** Marks of scans, which are no findings. */
const MARKS: ReadonlySet<string> = new Set([STARTING, ENDING, 'Starting syscheck scan.', 'Ending syscheck scan.']);
/** What was not told in the day before the end of the last scan is solved. */
const DAY_SECONDS = 86_400;
const FIELDS = ['status', 'log', 'date_first', 'date_last', 'pci_dss', 'cis'] as const;
const DATES = ['date_first', 'date_last'];

/** A page of what rootcheck found (integrity-and-inventory.md 9.5). @throws QueryError */
export function listFindings(reader: FimReader, params: ListParams, now: number): FimPage {
  const findings = findingsOf(reader, params.agent);
  const ended = findings.find(({ log }) => log === ENDING)?.last ?? 0;
  const items = findings
    .filter(({ log }) => !MARKS.has(log))
    .map(({ log, first, last }) => ({
      status: last > ended - DAY_SECONDS ? 'outstanding' : 'solved',
      log,
      date_first: isoTime(first),
      date_last: isoTime(last),
      ...tag('pci_dss', /\{PCI_DSS: ([^}]*)\}/.exec(log)?.[1]),
      ...tag('cis', /\{CIS: ([^}]*)\}/.exec(log)?.[1]),
    }))
    .filter(
      (item) =>
        (params.status === 'all' || item.status === params.status) &&
        isEqual(params.pci_dss, item.pci_dss) &&
        isEqual(params.cis, item.cis),
    );
  const { offset, limit, sort, search, select, q, distinct } = params;
  if (sort !== undefined) requireFields(parseSort(sort).fields, FIELDS, 1403);
  if (select !== undefined) requireFields(select, FIELDS, 1724);
  const page = runListQuery(
    distinct === true && select !== undefined ? items.filter((item) => hasAll(item, select)) : items,
    { offset, limit, sort, search, select, q, distinct },
    {
      defaultSort: '-date_last',
      sortFields: FIELDS,
      selectFields: FIELDS,
      compileQuery: (text) => compileDatabaseQuery(text, { fields: FIELDS, dateFields: DATES, now }),
    },
  );
  return { items: cutPage(page.items as Record<string, unknown>[]), total: page.total };
}

/** Distinct rows have no gaps (rest-api.md 4.1). */
function hasAll(item: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => item[name] !== undefined && item[name] !== null);
}

/** When the last scan of rootcheck began and ended; the end is null while one is running. */
export function lastRootcheckScan(reader: FimReader, agent: string): { start: string | null; end: string | null } {
  const findings = findingsOf(reader, agent);
  const start = findings.find(({ log }) => log === STARTING)?.last ?? 0;
  const end = findings.find(({ log }) => log === ENDING)?.last ?? 0;
  return { start: isoTime(start), end: start === 0 || end < start ? null : isoTime(end) };
}

function findingsOf({ tables, memory }: FimReader, agent: string): Finding[] {
  const slot = memory.components.get(componentKey(agent, 'rootcheck'))?.slot;
  if (slot === undefined) return [];
  return [...tables.findings.entries(slotRange(slot))].map(({ value }) => decodeFinding(value));
}

function tag<K extends string>(name: K, text: string | undefined): Partial<Record<K, string>> {
  const value = text?.trim();
  return (value === undefined || value === '' ? {} : { [name]: value }) as Partial<Record<K, string>>;
}

function isEqual(wanted: string | undefined, value: string | undefined): boolean {
  return wanted === undefined || wanted.toLowerCase() === value?.toLowerCase();
}
