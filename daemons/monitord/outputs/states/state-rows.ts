import type { StateAgents, StatesSource } from './state-agents.js';
import { type StateDocuments, stateId } from './state-document.js';
import type { StateIndices } from './state-indices.js';
import type { StateTable } from './state-tables.js';
import type { StateRow } from './state-values.js';
import type { StateWriter } from './state-writer.js';

export type StateRowsParts = {
  readonly db: StatesSource;
  readonly agents: Pick<StateAgents, 'get'>;
  readonly documents: StateDocuments;
  readonly indices: Pick<StateIndices, 'nameOf'>;
  readonly writer: StateWriter;
  /** Documents that are sent at a time. */
  readonly batchSize: number;
};

/** Rows on their way from svc-db to the writer of documents. */
export class StateRows {
  readonly #parts: StateRowsParts;

  constructor(parts: StateRowsParts) {
    this.#parts = parts;
  }

  /** @param row undefined: it is gone @returns id of its document; undefined for a row that cannot have one */
  put(agent: string, table: StateTable, key: Uint8Array, row: StateRow | undefined): string | undefined {
    const { writer, indices, agents, documents } = this.#parts;
    const id = stateId(agent, table, key);
    if (id === undefined) {
      if (row !== undefined) {
        writer.refuse(`A row of the inventory has no key and is not sent (${agent}, ${table.table})`);
      }
      return undefined;
    }
    const known = agents.get(agent);
    // An agent that is gone loses its documents, and its rows in svc-db.
    const text = row === undefined || known === undefined ? undefined : documents.make(table, known, row);
    if (row !== undefined && known !== undefined && text === undefined) {
      writer.refuse(`A row of the inventory lacks what it needs and is not sent ('${id}', ${table.table})`);
    }
    writer.put(indices.nameOf(table), id, text);
    return text === undefined ? undefined : id;
  }

  /**
   * Puts all rows that an agent has in a table.
   * @param most rows that are enough, for who is told of those that come later
   * @returns ids of their documents
   * @throws BusError, Error of a request
   */
  async putAll(agent: string, table: StateTable, signal: AbortSignal, most = Infinity): Promise<Set<string>> {
    const { db, writer, batchSize } = this.#parts;
    const ids = new Set<string>();
    let read = 0;
    for (let after: Uint8Array | undefined; ;) {
      const params = { agent, table: table.table, limit: batchSize, ...(after === undefined ? {} : { after }) };
      const { rows } = await db.call('inventory.rows', params, { signal });
      for (const { key, row } of rows) {
        const id = this.put(agent, table, key, row);
        if (id !== undefined) ids.add(id);
      }
      if (writer.size >= batchSize) await writer.flush(signal);
      after = rows.at(-1)?.key;
      read += rows.length;
      if (after === undefined || read >= most) return ids;
    }
  }
}
