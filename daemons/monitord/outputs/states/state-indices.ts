import { isObject } from '../../../../lib/json/is-object.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { errorOf } from '../indexer/indexer-answers.js';
import type { IndexerAnswer } from '../indexer/indexer-client.js';
import type { IndexerConnection, IndexerQuestion } from '../indexer/indexer-connection.js';
import {
  compareMappings,
  OLDER_TYPES,
  stateIndex,
  stateMapping,
  stateTemplate,
  type TypeFallbacks,
} from './state-mapping.js';
import { objectOf } from './state-requests.js';
import { STATE_TABLES, type StateTable } from './state-tables.js';
import type { StatesStore } from './states-store.js';

export type StateIndicesParts = {
  readonly ask: IndexerConnection['ask'];
  readonly store: StatesStore;
  /** `<c>` of the names of indices (indexer.md 1.2). */
  readonly suffix: string;
  readonly logger: Logger;
};

const NO_TYPE = /No handler for type \[(match_only_text|unsigned_long)\]/;
const FORBIDDEN = 403;
const NOT_FOUND = 404;

/**
 * The indices of states (indexer.md 4.5): templates and indices are made where they are missing, fields added, nothing is ever
 * deleted. An index that is new, or another one than before, is noted as one that all rows are to be copied to.
 */
export class StateIndices {
  readonly #parts: StateIndicesParts;
  /** Told once each. */
  readonly #told = new Set<string>();
  #fallbacks: TypeFallbacks = new Map();
  #hasTemplates = false;
  /** Compared since the start, by kind. */
  readonly #compared = new Map<string, string>();

  constructor(parts: StateIndicesParts) {
    this.#parts = parts;
  }

  nameOf({ kind }: StateTable): string {
    return `wazuh-states-inventory-${kind}-${this.#parts.suffix}`;
  }

  /** Sees to it that all are there. @returns whether one is to be copied from now on @throws Error, StoreError: it is to be tried again */
  async check(signal: AbortSignal): Promise<boolean> {
    if (!this.#hasTemplates) {
      for (const table of STATE_TABLES) await this.#putTemplate(table, signal);
      this.#hasTemplates = true;
    }
    let isNew = false;
    for (const table of STATE_TABLES) isNew = (await this.#checkIndex(table, signal)) || isNew;
    return isNew;
  }

  async #putTemplate(table: StateTable, signal: AbortSignal): Promise<void> {
    const path = `/_index_template/${this.nameOf(table)}_template`;
    const answer = await this.#put(path, () => stateTemplate(table, this.#fallbacks), signal);
    const { type, reason, shown } = errorOf(answer);
    const isOthers =
      type === 'illegal_argument_exception' && /multiple .*templates.*same priority|same priority/.test(reason);
    if (answer.status === 200 || isOthers) return;
    if (answer.status === FORBIDDEN) {
      this.#tellOnce('template', `Index templates of inventories are not put, for the account may not: ${shown}`);
      return;
    }
    throw new Error(`the template of '${this.nameOf(table)}' was not taken: ${shown}`);
  }

  async #checkIndex(table: StateTable, signal: AbortSignal): Promise<boolean> {
    const { store, ask } = this.#parts;
    const name = this.nameOf(table);
    const known = store.index(table.kind);
    const found = await this.#uuid(name, signal);
    const isNew = found === undefined || found !== known?.uuid;
    let uuid = found ?? '';
    if (found === undefined) {
      // Before it is made: who is killed in between would take it for one that is filled.
      await store.commit([store.putIndex(table.kind, { uuid: '', copyAfter: '' })]);
      const answer = await this.#put(`/${name}`, () => stateIndex(table, this.#fallbacks), signal);
      const { type, shown } = errorOf(answer);
      if (answer.status !== 200 && type !== 'resource_already_exists_exception') {
        throw new Error(`the index '${name}' could not be made: ${shown}`);
      }
      this.#parts.logger.info(`IndexerConnector initialized successfully for index: ${name}.`);
      uuid = (await this.#uuid(name, signal)) ?? '';
      await store.commit([store.putIndex(table.kind, { uuid, copyAfter: '' })]);
    } else if (isNew) {
      await store.commit([store.putIndex(table.kind, { uuid, copyAfter: '' })]);
    }
    if (this.#compared.get(name) !== uuid) {
      await this.#compare(table, await ask({ method: 'GET', path: `/${name}/_mapping`, signal }), signal);
      this.#compared.set(name, uuid);
    }
    return isNew;
  }

  /** Undefined: there is no such index; empty: who asks may not know. */
  async #uuid(name: string, signal: AbortSignal): Promise<string | undefined> {
    const path = `/${name}/_settings`;
    const answer = await this.#parts.ask({ method: 'GET', path, signal });
    if (answer.status === NOT_FOUND) return undefined;
    if (answer.status === FORBIDDEN) return this.#isThere(name, errorOf(answer).shown, signal);
    const settings = memberOf(memberOf(objectOf(answer, path)[name], 'settings'), 'index');
    const uuid = memberOf(settings, 'uuid');
    return typeof uuid === 'string' ? uuid : '';
  }

  async #isThere(name: string, shown: string, signal: AbortSignal): Promise<string | undefined> {
    this.#tellOnce(
      'settings',
      `Indices that are made anew by others are not noticed, for settings may not be read: ${shown}`,
    );
    const { status } = await this.#parts.ask({ method: 'GET', path: `/${name}/_mapping`, signal });
    return status === NOT_FOUND ? undefined : '';
  }

  /** Adds what the mapping of an index lacks. */
  async #compare(table: StateTable, answer: IndexerAnswer, signal: AbortSignal): Promise<void> {
    const name = this.nameOf(table);
    const mappings = memberOf(objectOf(answer, `/${name}/_mapping`)[name], 'mappings');
    const { properties } = stateMapping(table, this.#fallbacks);
    const { missing, conflicts } = compareMappings(properties, memberOf(mappings, 'properties'));
    if (conflicts.length > 0) {
      this.#parts.logger.warn(
        `Fields of '${name}' have other types than ours, so that documents may be refused: ${conflicts.join(', ')}`,
      );
    }
    if (Object.keys(missing).length === 0) return;
    const path = `/${name}/_mapping`;
    const body = JSON.stringify({ properties: missing });
    const added = await this.#parts.ask({ method: 'PUT', path, body, signal });
    if (added.status === 200) return;
    this.#parts.logger.warn(`Fields could not be added to '${name}': ${errorOf(added).shown}`);
  }

  /** Puts what a server takes: an older one is given older types. */
  async #put(path: string, make: () => object, signal: AbortSignal): Promise<IndexerAnswer> {
    const question = (): IndexerQuestion => ({ method: 'PUT', path, body: JSON.stringify(make()), signal });
    const answer = await this.#parts.ask(question());
    if (answer.status !== 400 || this.#fallbacks.size > 0 || !NO_TYPE.test(answer.text)) return answer;
    this.#fallbacks = OLDER_TYPES;
    return this.#parts.ask(question());
  }

  #tellOnce(what: string, message: string): void {
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.#parts.logger.warn(message);
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
