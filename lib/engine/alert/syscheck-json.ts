import type { EngineEvent } from '../event.js';
import { findField } from '../event-field.js';
import { jsonString, jsonStrings } from '../json-text.js';
import type { LocalClock } from '../local-clock.js';

/** Members with a value before and after that are plain texts, in output order after the permissions. */
const OWNERS_AND_HASHES = ['uid', 'gid', 'md5', 'sha1', 'sha256'] as const;

/** Groups of the `audit` member: its name and the fields of its members (rules-and-alerts.md 7.6). */
const AUDIT: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'user',
    [
      ['id', 'user_id'],
      ['name', 'user_name'],
    ],
  ],
  [
    'process',
    [
      ['id', 'process_id'],
      ['name', 'process_name'],
      ['cwd', 'cwd'],
      ['parent_name', 'parent_name'],
      ['parent_cwd', 'parent_cwd'],
      ['ppid', 'ppid'],
    ],
  ],
  [
    'group',
    [
      ['id', 'group_id'],
      ['name', 'group_name'],
    ],
  ],
  [
    'login_user',
    [
      ['id', 'audit_uid'],
      ['name', 'audit_name'],
    ],
  ],
  [
    'effective_user',
    [
      ['id', 'effective_uid'],
      ['name', 'effective_name'],
    ],
  ],
];

/** The `syscheck` member of a file-integrity alert, with a comma before it (rules-and-alerts.md 7.6). */
export function syscheckJson(event: EngineEvent, clock: LocalClock): string {
  return new SyscheckJson(event, clock).toString();
}

class SyscheckJson {
  readonly #event: EngineEvent;
  readonly #clock: LocalClock;
  #json = '';

  constructor(event: EngineEvent, clock: LocalClock) {
    this.#event = event;
    this.#clock = clock;
  }

  toString(): string {
    this.#text('path', 'file');
    this.#list('hard_links', 'hard_links');
    for (const name of ['mode', 'symbolic_path', 'arch', 'value_name', 'value_type']) this.#text(name, name);
    this.#change('size', 'size', jsonString);
    this.#permissions();
    for (const name of OWNERS_AND_HASHES) this.#change(name, name, jsonString);
    this.#change('attrs', 'win_attributes', (text) => jsonStrings(words(text)));
    this.#change('uname', 'uname', jsonString);
    this.#change('gname', 'gname', jsonString);
    this.#change('mtime', 'mtime', (text) => this.#time(text));
    const inode = this.#value('inode');
    const before = this.#value('inode_before');
    if (before !== '' && before !== inode) this.#add('inode_before', wholeNumber(before));
    if (wholeNumber(inode) !== '0') this.#add('inode_after', wholeNumber(inode));
    this.#text('diff', 'changed_content');
    this.#list('tags', 'tag');
    this.#list('changed_attributes', 'changed_fields');
    this.#text('event', 'event_type');
    this.#audit();
    return `,"syscheck":{${this.#json.slice(1)}}`;
  }

  #value(field: string): string {
    return findField(this.#event, field) ?? '';
  }

  #add(name: string, json: string): void {
    this.#json += `,"${name}":${json}`;
  }

  #text(name: string, field: string): void {
    const text = this.#value(field);
    if (text !== '') this.#add(name, jsonString(text));
  }

  #list(name: string, field: string): void {
    const text = this.#value(field);
    if (text !== '') this.#add(name, jsonStrings(words(text)));
  }

  /** `<name>_before`, when it is there and different, and `<name>_after`. */
  #change(name: string, field: string, print: (text: string) => string): void {
    const after = this.#value(field);
    const before = this.#value(`${field}_before`);
    if (before !== '' && before !== after) this.#add(`${name}_before`, print(before));
    if (after !== '') this.#add(`${name}_after`, print(after));
  }

  #permissions(): void {
    const after = this.#value('perm');
    const before = this.#value('perm_before');
    if (before !== '' && before !== after) this.#permission('before', before);
    if (after !== '') this.#permission('after', after);
  }

  /** A text with `|` is the Windows form, `user (type): right|right, ...`. */
  #permission(when: 'before' | 'after', text: string): void {
    if (text.includes('|')) this.#add(`win_perm_${when}`, windowsPermissions(text));
    else this.#add(`perm_${when}`, jsonString(text));
  }

  /** Local time of epoch seconds, without the zone. */
  #time(text: string): string {
    const seconds = Number(text);
    return jsonString(Number.isFinite(seconds) ? this.#clock.timestamp(seconds * 1000).slice(0, 19) : text);
  }

  #audit(): void {
    let json = '';
    for (const [name, members] of AUDIT) {
      let object = '';
      for (const [member, field] of members) {
        const text = this.#value(field);
        if (text !== '') object += `,"${member}":${jsonString(text)}`;
      }
      if (object !== '') json += `,"${name}":{${object.slice(1)}}`;
    }
    if (json !== '') this.#add('audit', `{${json.slice(1)}}`);
  }
}

function windowsPermissions(text: string): string {
  const users = new Map<string, string>();
  for (const entry of text.split(', ')) {
    const parts = /^(.*) \((\w+)\): (.*)$/s.exec(entry);
    if (parts === null) continue;
    const [, name = '', type = '', rights = ''] = parts;
    const list = `,${jsonString(type)}:${jsonStrings(rights.split('|').filter((right) => right !== ''))}`;
    users.set(name, (users.get(name) ?? '') + list);
  }
  return `[${[...users].map(([name, lists]) => `{"name":${jsonString(name)}${lists}}`).join(',')}]`;
}

/** A comma list, or the JSON array that the decoder kept as text. */
function words(text: string): string[] {
  if (text.startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(text);
      if (Array.isArray(parsed)) return parsed.map(String);
    } catch {
      // an ordinary text
    }
  }
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** The leading digits as they are: inodes have up to 64 bits, and are not cut to 32 (integrity-and-inventory.md 6.4). */
function wholeNumber(text: string): string {
  return /^0*(\d{1,20})/.exec(text)?.[1] ?? '0';
}
