import { FimMessageError } from './fim-message-error.js';
import { FIM_COMPONENTS, type FimMode } from './fim-messages.js';
import type { RangeCheck, SyncAnswer } from './range-sync.js';

/*
 * Reading the messages of file integrity monitoring (integrity-and-inventory.md 4). The order of keys is free and unknown
 * names are left alone; numbers where texts are meant, and the other way round, are taken as older agents send them.
 */

/** Longest message that is read, in characters: more than the wire lets through. */
const MAX_MESSAGE_LENGTH = 1024 * 1024;
/** Longest checksum: 40 digits are one, a little more is let through to be stored as it is. */
const MAX_CHECKSUM_LENGTH = 128;

type JsonObject = Readonly<Record<string, unknown>>;

/** Attributes as received: texts and numbers, by their names on the wire. */
export type ReceivedAttributes = {
  readonly size?: number;
  readonly mtime?: number;
  readonly perm?: string;
  readonly uid?: string;
  readonly gid?: string;
  readonly user_name?: string;
  readonly group_name?: string;
  readonly inode?: string;
  readonly hash_md5?: string;
  readonly hash_sha1?: string;
  readonly hash_sha256?: string;
  readonly attributes?: string;
  readonly symbolic_path?: string;
  readonly checksum: string;
  /** `file`, `registry_key` or `registry_value`. */
  readonly type: string;
};

/** A message of queue 5 that concerns integrity. */
export type ReceivedSync =
  | { readonly component: string; readonly type: 'integrity_clear'; readonly id: number }
  | {
      readonly component: string;
      readonly type: 'integrity_check_global' | 'integrity_check_left' | 'integrity_check_right';
      /** A left check always has its `tail`: without it everything around the range would be deleted (15.11). */
      readonly check: RangeCheck & { readonly tail?: string };
    }
  | {
      readonly component: string;
      readonly type: 'state';
      readonly index: string;
      /** Epoch seconds on the agent's clock. */
      readonly timestamp: number;
      readonly attributes: ReceivedAttributes;
    };

/** A message of queue 8. */
export type ReceivedFim =
  | { readonly type: 'scan_start' | 'scan_end'; readonly timestamp: number }
  | {
      readonly type: 'event';
      readonly path: string;
      readonly change: 'added' | 'modified' | 'deleted';
      readonly mode: FimMode;
      readonly timestamp: number;
      readonly attributes: ReceivedAttributes;
      readonly before?: ReceivedAttributes;
      readonly changed: readonly string[];
      readonly contentChanges?: string;
      readonly tags?: string;
    };

/**
 * Reads a message of queue 5 (4.3).
 * @param components those the caller knows
 * @throws FimMessageError
 */
export function readSyncMessage(text: string, components: readonly string[] = FIM_COMPONENTS): ReceivedSync {
  const message = parse(text);
  const component = textOf(message, 'component', '');
  if (!components.includes(component)) {
    throw new FimMessageError('unknown_component', `Unknown component '${component.slice(0, 64)}'`, 'component');
  }
  const type = textOf(message, 'type', '');
  const data = objectOf(message, 'data', '');
  switch (type) {
    case 'integrity_clear':
      return { component, type, id: integerOf(data, 'id', 'data.') };
    case 'integrity_check_global':
    case 'integrity_check_right':
      return { component, type, check: checkOf(data) };
    case 'integrity_check_left':
      return { component, type, check: { ...checkOf(data), tail: textOf(data, 'tail', 'data.') } };
    case 'state':
      return {
        component,
        type,
        index: keyOf(data, 'index', 'data.'),
        timestamp: integerOf(data, 'timestamp', 'data.'),
        attributes: attributesOf(objectOf(data, 'attributes', 'data.'), 'data.attributes.'),
      };
    default:
      throw badField('type', 'is none of the synchronisation');
  }
}

/**
 * Reads the JSON behind `dbsync checksum_fail` and `dbsync no_data` (4.4).
 * @throws FimMessageError
 */
export function readSyncAnswer(verb: string, json: string): SyncAnswer {
  if (verb !== 'checksum_fail' && verb !== 'no_data') throw badField('verb', 'is neither checksum_fail nor no_data');
  const data = parse(json);
  return { verb, begin: textOf(data, 'begin', ''), end: textOf(data, 'end', ''), id: integerOf(data, 'id', '') };
}

/**
 * Reads a message of queue 8 in JSON (4.1, 4.2).
 * @throws FimMessageError
 */
export function readFimMessage(text: string): ReceivedFim {
  const message = parse(text);
  const type = textOf(message, 'type', '');
  const data = objectOf(message, 'data', '');
  const timestamp = integerOf(data, 'timestamp', 'data.');
  if (type === 'scan_start' || type === 'scan_end') return { type, timestamp };
  if (type !== 'event') throw badField('type', 'is no message of file integrity monitoring');
  const change = textOf(data, 'type', 'data.');
  if (change !== 'added' && change !== 'modified' && change !== 'deleted') throw badField('data.type', 'is no change');
  const mode = textOf(data, 'mode', 'data.');
  if (mode !== 'scheduled' && mode !== 'realtime' && mode !== 'whodata') throw badField('data.mode', 'is no mode');
  const before = data['old_attributes'] === undefined ? undefined : objectOf(data, 'old_attributes', 'data.');
  const contentChanges = optionalText(data, 'content_changes', 'data.');
  const tags = optionalText(data, 'tags', 'data.');
  return {
    type,
    path: keyOf(data, 'path', 'data.'),
    change,
    mode,
    timestamp,
    attributes: attributesOf(objectOf(data, 'attributes', 'data.'), 'data.attributes.'),
    ...(before && { before: attributesOf(before, 'data.old_attributes.') }),
    changed: namesOf(data, 'changed_attributes', 'data.'),
    ...(contentChanges !== undefined && { contentChanges }),
    ...(tags !== undefined && { tags }),
  };
}

function checkOf(data: JsonObject): RangeCheck {
  const checksum = textOf(data, 'checksum', 'data.');
  if (checksum.length > MAX_CHECKSUM_LENGTH) throw badField('data.checksum', 'is too long');
  return {
    begin: textOf(data, 'begin', 'data.'),
    end: textOf(data, 'end', 'data.'),
    checksum,
    id: integerOf(data, 'id', 'data.'),
  };
}

const TEXT_ATTRIBUTES = [
  'perm',
  'uid',
  'gid',
  'user_name',
  'group_name',
  'inode',
  'hash_md5',
  'hash_sha1',
  'hash_sha256',
  'attributes',
] as const;

function attributesOf(object: JsonObject, parent: string): ReceivedAttributes {
  const texts: Partial<Record<(typeof TEXT_ATTRIBUTES)[number] | 'symbolic_path', string>> = {};
  for (const name of TEXT_ATTRIBUTES) {
    const value = looseText(object, name, parent);
    if (value !== undefined) texts[name] = value;
  }
  // Events and saved states name it differently.
  const link = looseText(object, 'symbolic_path', parent) ?? looseText(object, 'symlink_path', parent);
  if (link !== undefined) texts.symbolic_path = link;
  return {
    ...texts,
    ...(object['size'] !== undefined && { size: integerOf(object, 'size', parent) }),
    ...(object['mtime'] !== undefined && { mtime: integerOf(object, 'mtime', parent) }),
    checksum: textOf(object, 'checksum', parent),
    type: textOf(object, 'type', parent),
  };
}

/** Inodes of older agents are numbers, and longer ones would not be exact as such: they become texts before the parse. */
const LONG_INODE = /"inode":\s*(\d{16,20})(?=\s*[,}])/g;

function parse(text: string): JsonObject {
  if (text.length > MAX_MESSAGE_LENGTH) throw new FimMessageError('malformed', 'The message is too long');
  let value: unknown;
  try {
    // In valid JSON these bytes can only be a key: a quote inside of a text is escaped.
    value = JSON.parse(text.replace(LONG_INODE, '"inode":"$1"'));
  } catch {
    throw new FimMessageError('malformed', 'The message is no JSON');
  }
  if (!isObject(value)) throw new FimMessageError('malformed', 'The message is no JSON object');
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(object: JsonObject, name: string, parent: string): JsonObject {
  const value = object[name];
  if (!isObject(value)) throw badField(parent + name, 'is no object');
  return value;
}

function textOf(object: JsonObject, name: string, parent: string): string {
  const value = object[name];
  if (typeof value !== 'string') throw badField(parent + name, 'is no text');
  return value;
}

/** A path or an index: with something in it, and nothing a path cannot have. */
function keyOf(object: JsonObject, name: string, parent: string): string {
  const value = textOf(object, name, parent);
  if (value === '' || value.includes('\0')) throw badField(parent + name, 'is empty or has a zero byte');
  return value;
}

function optionalText(object: JsonObject, name: string, parent: string): string | undefined {
  return object[name] === undefined ? undefined : textOf(object, name, parent);
}

function looseText(object: JsonObject, name: string, parent: string): string | undefined {
  const value = object[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw badField(parent + name, 'is neither text nor number');
}

function integerOf(object: JsonObject, name: string, parent: string): number {
  const value = object[name];
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw badField(parent + name, 'is no whole number');
  return number;
}

function namesOf(object: JsonObject, name: string, parent: string): readonly string[] {
  const value = object[name];
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw badField(parent + name, 'is no list of texts');
  }
  return value;
}

function badField(field: string, what: string): FimMessageError {
  return new FimMessageError('bad_field', `Field '${field}' ${what}`, field);
}
