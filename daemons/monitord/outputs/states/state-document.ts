import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { StateField } from './state-field.js';
import type { StateTable } from './state-tables.js';
import { addressOf, type StateRow, type StateValue, textOf } from './state-values.js';

/** Whose states these are, as `wazuh.cluster` says it (indexer.md 1.2, 3.1). */
export type StateOrigin = {
  /** Name of the cluster, or of this host. */
  readonly cluster: string;
  /** Of this node; undefined when there is no cluster. */
  readonly node: string | undefined;
};

/** What documents say of an agent. */
export type StateAgent = {
  readonly id: string;
  readonly name: string;
  /** `v4.14.7` */
  readonly version?: string;
  readonly ip?: string;
};

const SCHEMA_VERSION = '1.0';
/** Longest id of a document that servers take, bytes. */
const MAX_ID_BYTES = 512;
/** Hosts that do not tell their serial have this for a key. */
const UNKNOWN_KEY = Buffer.from(' ');
const VERSION = /v\d.*$/;

/** What documents say of an agent, from what svc-db says of it (indexer.md 3.1). */
export function stateAgent(item: Readonly<Record<string, unknown>>): StateAgent {
  const text = (name: string): string => {
    const value = item[name];
    return typeof value === 'string' ? value : '';
  };
  const [version] = VERSION.exec(text('version')) ?? [];
  // Agents that may have any address, or one of a network, are where they connect from.
  const ip = addressOf(text('registerIP')) ?? addressOf(text('ip'));
  return {
    id: text('id'),
    name: text('name'),
    ...(version === undefined ? {} : { version }),
    ...(ip === undefined ? {} : { ip }),
  };
}

/**
 * Id of the document of a row (indexer.md 3.1): `<agent>_<key>`. A key that is too long, or that is no text, stands by its hash.
 * @returns undefined for a row that has no key where it needs one
 */
export function stateId(agent: string, { emptyKey }: StateTable, key: Uint8Array): string | undefined {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  if (emptyKey !== undefined && (bytes.length === 0 || bytes.equals(UNKNOWN_KEY))) return `${agent}_${emptyKey}`;
  if (bytes.length === 0) return undefined;
  const isLong = agent.length + 1 + bytes.length > MAX_ID_BYTES;
  return `${agent}_${isLong || !isUtf8(bytes) ? hash('sha256', bytes) : bytes.toString()}`;
}

/** Whether a row may be a document (indexer.md 3.13, 3.14). */
function isComplete({ needsOneOf }: StateTable, row: StateRow): boolean {
  return needsOneOf === undefined || needsOneOf.some((column) => textOf(row, column) !== undefined);
}

/** Makes documents of rows (indexer.md 3.1 to 3.14): the same text of the same row. */
export class StateDocuments {
  readonly #wazuh: string;
  /** What all documents of the last agent begin with. */
  #agent: StateAgent | undefined;
  #head = '';

  constructor({ cluster, node }: StateOrigin) {
    this.#wazuh = JSON.stringify({
      cluster: { name: cluster, ...(node === undefined ? {} : { node }) },
      schema: { version: SCHEMA_VERSION },
    });
  }

  /** @returns JSON text; undefined for a row that lacks what it needs */
  make(table: StateTable, agent: StateAgent, row: StateRow): string | undefined {
    if (!isComplete(table, row)) return undefined;
    const document: Tree = {};
    for (const { path, write } of table.fields) if (write !== undefined) put(document, path, write(row));
    const text = JSON.stringify(document);
    return `${this.#headOf(agent)}${text === '{}' ? '}' : `,${text.slice(1)}`}`;
  }

  #headOf(agent: StateAgent): string {
    if (agent === this.#agent) return this.#head;
    const { ip, ...rest } = agent;
    const shown = { ...rest, ...(ip === undefined ? {} : { host: { ip } }) };
    this.#agent = agent;
    this.#head = `{"agent":${JSON.stringify(shown)},"wazuh":${this.#wazuh}`;
    return this.#head;
  }
}

type Tree = { [name: string]: StateValue | Tree };

function put(document: Tree, path: StateField['path'], value: StateValue): void {
  if (value === undefined) return;
  let at = document;
  for (let level = 0; level < path.length - 1; level += 1) at = (at[path[level] ?? ''] ??= {}) as Tree;
  at[path.at(-1) ?? ''] = value;
}
