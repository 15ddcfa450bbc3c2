import type { FileAttributes } from '../../../events/fim/file-attributes.js';
import { AUDIT_NAMES, changeOfName, INDEXED_VERSION } from '../../../events/fim/fim-names.js';
import type { AgentKnowledge } from '../../agents/agent-knowledge.js';
import type { Diagnostics, EngineEvent } from '../../event.js';
import { integerText, objectMember, stringMember, stringsMember } from '../json/json-values.js';
import { type JsonObject, type JsonValue, parseJsonObject } from '../json/parse-json.js';
import { FIM_DECODERS, type FimKind } from './fim-decoder-names.js';
import { fimLog } from './fim-log.js';
import {
  addField,
  type Identities,
  type InternalDecoder,
  type InternalOutcome,
  setDecoder,
} from './internal-decoder.js';
import { LegacyFimDecoder } from './legacy-fim-decoder.js';

/** Attributes and the fields they become; each also has a `<field>_before` from the old attributes. */
const ATTRIBUTES = [
  ['size', 'size'],
  ['perm', 'perm'],
  ['uid', 'uid'],
  ['gid', 'gid'],
  ['hash_md5', 'md5'],
  ['hash_sha1', 'sha1'],
  ['user_name', 'uname'],
  ['group_name', 'gname'],
  ['mtime', 'mtime'],
  ['inode', 'inode'],
  ['hash_sha256', 'sha256'],
  ['attributes', 'win_attributes'],
] as const satisfies readonly (readonly [keyof FileAttributes, string])[];

/**
 * File integrity events (queue `8`; integrity-and-inventory.md 6): those in JSON; the text form of older agents is another
 * decoder's.
 */
export class FimDecoder implements InternalDecoder {
  readonly #legacy: LegacyFimDecoder;
  readonly #identities: Identities;
  readonly #diagnostics: Diagnostics;

  constructor(identities: Identities, memory: AgentKnowledge, diagnostics: Diagnostics) {
    this.#legacy = new LegacyFimDecoder(identities, memory, diagnostics);
    this.#identities = identities;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent): InternalOutcome {
    if (!event.log.startsWith('{')) return this.#legacy.decode(event);
    const message = parseJsonObject(event.log);
    if (message === undefined) {
      this.#diagnostics.error('Malformed FIM JSON event');
      return 'done';
    }
    const data = objectMember(message, 'data');
    const type = stringMember(message, 'type');
    if (data !== undefined && (type === 'scan_start' || type === 'scan_end')) return 'done';
    if (data === undefined || type !== 'event') {
      this.#diagnostics.error('Invalid FIM event');
      return 'done';
    }
    return this.#decodeChange(event, data);
  }

  #decodeChange(event: EngineEvent, data: JsonObject): InternalOutcome {
    const attributes = objectMember(data, 'attributes');
    const kind = attributes && readKind(stringMember(attributes, 'type'));
    const change = changeOfName(stringMember(data, 'type'));
    const path = stringMember(data, 'path');
    const index = stringMember(data, 'index');
    const indexed = kind !== 'file' && Number(scalar(data.get('version'))) >= INDEXED_VERSION;
    if (
      attributes === undefined ||
      kind === undefined ||
      change === undefined ||
      path === undefined ||
      (indexed && index === undefined)
    ) {
      this.#diagnostics.error(`Can't generate fim alert for event: '${event.log}'`);
      return 'done';
    }
    setDecoder(event, this.#identities(FIM_DECODERS[kind][change]));
    const old = objectMember(data, 'old_attributes');
    const fields = readFields(data, attributes, old);
    for (const [name, value] of fields) {
      addField(event, name, value);
    }
    event.fullLog = fimLog({ kind, change, fields });
    event.log = event.fullLog;
    return 'rules';
  }
}

/** Field names and values in the order of decoding.md 4.11, those that have a value. */
function readFields(data: JsonObject, attributes: JsonObject, old: JsonObject | undefined): Map<string, string> {
  const fields = new Map<string, string>();
  const put = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') {
      fields.set(name, value);
    }
  };
  put('file', stringMember(data, 'path'));
  put('hard_links', stringsMember(data, 'hard_links')?.join(','));
  put('mode', stringMember(data, 'mode'));
  for (const [attribute, field] of ATTRIBUTES) {
    put(field, attributeText(attributes.get(attribute)));
    put(`${field}_before`, attributeText(old?.get(attribute)));
  }
  put('changed_content', stringMember(data, 'content_changes'));
  put('changed_fields', stringsMember(data, 'changed_attributes')?.join(','));
  const audit = objectMember(data, 'audit');
  for (const name of AUDIT_NAMES) {
    put(name, integerText(audit?.get(name)));
  }
  put('tag', stringMember(data, 'tags'));
  put('symbolic_path', stringMember(attributes, 'symbolic_path') ?? stringMember(data, 'symbolic_path'));
  put('arch', stringMember(data, 'arch'));
  put('value_name', stringMember(data, 'value_name'));
  put('value_type', stringMember(attributes, 'value_type'));
  put('hash_full_path', stringMember(data, 'index') ?? stringMember(attributes, 'hash_full_path'));
  put('entry_type', stringMember(attributes, 'type'));
  put('event_type', stringMember(data, 'type'));
  return fields;
}

function attributeText(value: JsonValue | undefined): string | undefined {
  return value instanceof Map ? windowsPermissions(value) : integerText(value);
}

/** `{"<sid>":{"name","allowed":[],"denied":[]}}` as `name (allowed): A|B, name (denied): C`. */
function windowsPermissions(users: JsonObject): string {
  const parts: string[] = [];
  for (const [sid, user] of users) {
    if (!(user instanceof Map)) {
      continue;
    }
    for (const type of ['allowed', 'denied']) {
      const rights = stringsMember(user, type);
      if (rights !== undefined && rights.length > 0) {
        const list = rights.join('|').replace(/[a-z]+/g, (letters) => letters.toUpperCase());
        parts.push(`${stringMember(user, 'name') ?? sid} (${type}): ${list}`);
      }
    }
  }
  return parts.join(', ');
}

function scalar(value: JsonValue | undefined): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '';
}

function readKind(type: string | undefined): FimKind | undefined {
  // Old agents say `registry` for what is handled like a file.
  return type === 'file' || type === 'registry'
    ? 'file'
    : type === 'registry_key' || type === 'registry_value'
      ? type
      : undefined;
}
