/** Paths longer than this are shown by their beginning and end. */
const LONGEST_PATH = 756;
const PATH_BEGINNING = 719;
const PATH_END = 30;
/** Longest line of a change, its end included. */
const LONGEST_LINE = 256;

/** What an event's text is made of. */
export type FimLogParts = {
  readonly kind: 'file' | 'registry_key' | 'registry_value';
  readonly change: 'added' | 'modified' | 'deleted';
  /** Fields of the event by name (decoding.md 4.11). */
  readonly fields: ReadonlyMap<string, string>;
};

const KINDS = { file: 'File', registry_key: 'Registry Key', registry_value: 'Registry Value' } as const;

/** Lines for values that changed: the field, the text before the old and between old and new value. */
const CHANGES: readonly (readonly [string, string, string])[] = [
  ['size', 'Size changed from ', ' to '],
  ['perm', 'Permissions changed from ', ' to '],
  ['uid', 'Ownership was ', ', now it is '],
  ['uname', 'User name was ', ', now it is '],
  ['gid', 'Group ownership was ', ', now it is '],
  ['gname', 'Group name was ', ', now it is '],
  ['mtime', 'Old modification time was: ', ', now it is '],
  ['inode', 'Old inode was: ', ', now it is '],
  ['md5', 'Old md5sum was: ', '\nNew md5sum is : '],
  ['sha1', 'Old sha1sum was: ', '\nNew sha1sum is : '],
  ['sha256', 'Old sha256sum was: ', '\nNew sha256sum is : '],
  ['win_attributes', 'Old attributes were: ', '\nNow they are '],
];

/** The `full_log` of a file integrity event (integrity-and-inventory.md 6.3). It ends with a newline. */
export function fimLog({ kind, change, fields }: FimLogParts): string {
  const lines = [`${KINDS[kind]} '${shownPath(kind, fields)}' ${change}`];
  const links = fields.get('hard_links');
  if (links !== undefined) {
    lines.push(`Hard links: ${links}`);
  }
  lines.push(`Mode: ${fields.get('mode') ?? ''}`);
  const changed = fields.get('changed_fields');
  if (changed !== undefined) {
    lines.push(`Changed attributes: ${changed}`);
  }
  if (change === 'modified') {
    lines.push(...changeLines(fields));
  }
  return lines.map((line) => `${line}\n`).join('');
}

function changeLines(fields: ReadonlyMap<string, string>): string[] {
  const lines: string[] = [];
  for (const [field, start, middle] of CHANGES) {
    const before = fields.get(`${field}_before`);
    const after = fields.get(field);
    if (before === undefined || after === undefined || before === after) {
      continue;
    }
    const line = `${start}'${before}'${middle}'${after}'`;
    if (line.length < LONGEST_LINE) {
      lines.push(line);
    } else {
      lines.push(field === 'perm' ? 'Permissions changed.' : line.slice(0, LONGEST_LINE - 1));
    }
  }
  return lines;
}

function shownPath(kind: FimLogParts['kind'], fields: ReadonlyMap<string, string>): string {
  let path = fields.get('file') ?? '';
  if (kind !== 'file') {
    path = `${fields.get('arch') ?? ''} ${path}`;
  }
  if (kind === 'registry_value') {
    path += `\\${fields.get('value_name') ?? ''}`;
  }
  return path.length > LONGEST_PATH ? `${path.slice(0, PATH_BEGINNING)} [...] ${path.slice(-PATH_END)}` : path;
}
