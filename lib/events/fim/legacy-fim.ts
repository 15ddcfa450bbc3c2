/** Columns of the sum, in their order (integrity-and-inventory.md 4.5); the last six are missing from older agents. */
const SUM = [
  'size',
  'perm',
  'uid',
  'gid',
  'md5',
  'sha1',
  'uname',
  'gname',
  'mtime',
  'inode',
  'sha256',
  'win_attributes',
] as const;
/** Columns of an OSSEC-HIDS 4.x agent, which tells exactly as many. */
const OSSEC_SUM = ['size', 'perm', 'uid', 'gid', 'md5', 'sha1', 'sha256'] as const;
const LEAST_SUM = 6;
/** Stands for a sum that is switched off: it is no value, and says nothing about a change. */
const SWITCHED_OFF = 'xxx';
const HASHES: ReadonlySet<string> = new Set(['md5', 'sha1', 'sha256']);
/** Bytes of a path, as Linux takes them, and of a sum: both are remembered. */
const MAX_PATH = 4096;
const MAX_SUM = 4096;

/** Columns behind the sum: who changed the file, and what belongs to the message. */
const EXTRA = [
  'user_id',
  'user_name',
  'group_id',
  'group_name',
  'process_name',
  'audit_uid',
  'audit_name',
  'effective_uid',
  'effective_name',
  'ppid',
  'process_id',
  'tag',
  'symbolic_path',
  'silent',
] as const;

/** Marks of scans. */
const MARKS: ReadonlyMap<string, 'start' | 'end'> = new Map([
  ['fim-db-start-first-scan', 'start'],
  ['fim-db-start-scan', 'start'],
  ['fim-db-end-first-scan', 'end'],
  ['fim-db-end-scan', 'end'],
  ['syscheck-db-completed', 'end'],
]);

/** What agents before 3.11 say on rootcheck's queue of their scans for changed files. */
const SCAN_TEXTS: ReadonlyMap<string, 'start' | 'end'> = new Map([
  ['Starting syscheck scan.', 'start'],
  ['Ending syscheck scan.', 'end'],
]);

/** A key of the registry: `[x64] HKEY_LOCAL_MACHINE\\Software`. */
const REGISTRY = /^(?:(\[x(?:32|64)\]) )?HKEY_/;

/** A file as the sum tells it, by the names of the fields of events; what is empty is not told. */
export type LegacySum = Readonly<Partial<Record<SumColumn, string>>>;

type SumColumn = (typeof SUM)[number];

/** A message in the text form. */
export type LegacyFim =
  | { readonly kind: 'scan'; readonly mark: 'start' | 'end' }
  | {
      readonly kind: 'entry';
      readonly path: string;
      /** As received; undefined for a file that is gone. */
      readonly sum: string | undefined;
      readonly extra: Readonly<Partial<Record<(typeof EXTRA)[number], string>>>;
      readonly diff: string | undefined;
    };

/**
 * Reads a message of agents before 3.11: `<sum>[!<extra>] <path>[\n<diff>]`.
 * @param text each character a byte
 * @returns undefined when it is no such message
 */
export function readLegacyFim(text: string): LegacyFim | undefined {
  const mark = MARKS.get(text);
  if (mark !== undefined) return { kind: 'scan', mark };
  const space = findUnescaped(text, ' ', 0);
  if (space <= 0) return undefined;
  const lineEnd = text.indexOf('\n', space);
  const path = text.slice(space + 1, lineEnd < 0 ? undefined : lineEnd);
  if (path === '' || path.length > MAX_PATH || path.includes('\0')) return undefined;
  const diff = lineEnd < 0 ? undefined : text.slice(lineEnd + 1);
  const behind = findUnescaped(text, '!', 0);
  const hasExtra = behind >= 0 && behind < space;
  const extra = hasExtra ? named(EXTRA, splitUnescaped(text.slice(behind + 1, space))) : {};
  const sum = text.slice(0, hasExtra ? behind : space);
  if (sum.startsWith('-1')) return { kind: 'entry', path, sum: undefined, extra, diff };
  return sum.length > MAX_SUM || splitUnescaped(sum).length < LEAST_SUM
    ? undefined
    : { kind: 'entry', path, sum, extra, diff };
}

/** What a text on rootcheck's queue says of a scan for changed files; undefined when it is about something else. */
export function readScanText(text: string): 'start' | 'end' | undefined {
  return SCAN_TEXTS.get(text);
}

/** Whether a path is a key of the registry, and its architecture where it is told. */
export function readRegistryKey(path: string): { readonly arch: string | undefined } | undefined {
  const found = REGISTRY.exec(path);
  return found === null ? undefined : { arch: found[1] };
}

/** What a sum tells; permissions as octal digits, `100644`. */
export function readLegacySum(sum: string): LegacySum {
  const { perm, ...rest } = Object.fromEntries(told(sum).filter(([, value]) => value !== '')) as LegacySum;
  const isMode = perm !== undefined && /^\d{1,9}$/.test(perm);
  return {
    ...rest,
    ...(perm === undefined ? {} : { perm: isMode ? Number(perm).toString(8).padStart(6, '0') : perm }),
  };
}

/** Whether two sums are the same as far as both go: agents that were updated tell more columns, and sums are switched off. */
export function isSameSum(one: string, other: string): boolean {
  if (one === other) return true;
  const before = new Map(told(one));
  return told(other).every(([name, value]) => (before.get(name) ?? value) === value);
}

/** Whether a sum tells a column that the other one does not: it is the one to compare with from now on. */
export function tellsMore(sum: string, than: string): boolean {
  const known = new Map(told(than));
  return told(sum).some(([name]) => !known.has(name));
}

/** Names and values of the columns that a sum tells; those of sums that are switched off are left out. */
function told(sum: string): [SumColumn, string][] {
  const columns = splitUnescaped(sum);
  const names = columns.length === OSSEC_SUM.length ? OSSEC_SUM : SUM;
  const result: [SumColumn, string][] = [];
  for (const [index, name] of names.entries()) {
    const value = columns[index];
    if (value !== undefined && !(value === SWITCHED_OFF && HASHES.has(name))) result.push([name, value]);
  }
  return result;
}

function named<N extends string>(names: readonly N[], columns: readonly string[]): Partial<Record<N, string>> {
  const result: Partial<Record<N, string>> = {};
  for (const [index, name] of names.entries()) {
    const value = columns[index];
    if (value !== undefined && value !== '') result[name] = value;
  }
  return result;
}

function findUnescaped(text: string, wanted: string, from: number): number {
  let at = text.indexOf(wanted, from);
  while (at > 0 && text[at - 1] === '\\') at = text.indexOf(wanted, at + 1);
  return at;
}

/** Columns between colons, without the backslashes in front of spaces, colons and exclamation marks. */
function splitUnescaped(text: string): string[] {
  const columns: string[] = [];
  let start = 0;
  for (let at = findUnescaped(text, ':', 0); at >= 0; at = findUnescaped(text, ':', start)) {
    columns.push(text.slice(start, at));
    start = at + 1;
  }
  columns.push(text.slice(start));
  return columns.map((column) => column.replace(/\\([ !:])/g, '$1'));
}
