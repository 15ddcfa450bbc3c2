import { compareKeys } from '../../lib/fim/byte-order.js';
import { FIM_FILE, syncMessage, type FimRow } from '../../lib/fim/fim-messages.js';
import { RangeSync, type RangeSource } from '../../lib/fim/range-sync.js';
import { readSyncAnswer } from '../../lib/fim/read-fim-messages.js';

/** Path, as a byte string, and checksum of a file. */
export type SyncEntry = { readonly path: string; readonly checksum: string };

/** The agent's side of the synchronisation, over a table that does not change. Messages and orders are byte strings. */
export class SyncingAgent {
  readonly #sync: RangeSync<FimRow>;

  constructor(entries: readonly SyncEntry[]) {
    const rows = entries
      .map(({ path, checksum }): FimRow => {
        return { key: path, checksum, attributes: { checksum }, inode: '1', lastEvent: 5 };
      })
      .sort((one, other) => compareKeys(one.key, other.key));
    const source: RangeSource<FimRow> = {
      first: () => rows[0],
      last: () => rows.at(-1),
      range: (begin, end) => rows.filter(({ key }) => compareKeys(key, begin) >= 0 && compareKeys(key, end) <= 0),
    };
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
