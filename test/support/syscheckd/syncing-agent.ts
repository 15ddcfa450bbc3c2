import { FIM_FILE, type FimRow, syncMessage } from '../../../lib/events/fim/fim-messages.js';
import { readSyncAnswer } from '../../../lib/events/sync/read-sync-answer.js';
import { RangeSync } from '../../../lib/sync/range-sync.js';
import { syncRow, SyncRows } from './sync-rows.js';

/** Path, as a byte string, and checksum of a file. */
export type SyncEntry = { readonly path: string; readonly checksum: string };

/** The agent's side of the synchronisation, over a table that does not change. Messages and orders are byte strings. */
export class SyncingAgent {
  readonly #sync: RangeSync<FimRow>;

  constructor(entries: readonly SyncEntry[]) {
    const source = new SyncRows(entries.map(({ path, checksum }) => syncRow(path, checksum)));
    this.#sync = new RangeSync(source);
  }

  /** First message of a round. */
  async start(id: number): Promise<string> {
    return syncMessage(FIM_FILE, await this.#sync.start(id));
  }

  /** Messages an order of the manager is answered with: `fim_file dbsync no_data {..}`. */
  async answer(order: string): Promise<string[]> {
    const [, , verb = '', ...rest] = order.split(' ');
    const messages: string[] = [];
    for await (const step of this.#sync.answer(readSyncAnswer(verb, rest.join(' ')))) {
      messages.push(syncMessage(FIM_FILE, step));
    }
    return messages;
  }
}
