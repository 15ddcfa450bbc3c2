import { createHash } from 'node:crypto';
import { compareKeys } from '../../../lib/fim/byte-order.js';
import type { SyncOutlet } from '../../../lib/sync/sync-outlet.js';

type Stored = { readonly checksum: string; readonly attributes: Readonly<Record<string, unknown>> };
type Check = {
  readonly begin: string;
  readonly end: string;
  readonly checksum: string;
  readonly id: number;
  readonly tail?: string;
};

/** The manager's side of the synchronisation of inventories (integrity-and-inventory.md 5.2), as simple as it can be. */
export class FakeInventoryManager {
  readonly tables = new Map<string, Map<string, Stored>>();
  readonly messages: string[] = [];
  /** Tables whose last global check found both sides equal. */
  readonly complete = new Set<string>();

  /** @param message a byte string @returns an order for the agent, a byte string */
  take(message: string): string | undefined {
    this.messages.push(message);
    const { component, type, data } = JSON.parse(Buffer.from(message, 'latin1').toString('utf8')) as {
      component: string;
      type: string;
      data: Check & { index: string; attributes: Record<string, unknown> };
    };
    const rows = this.tables.get(component) ?? new Map<string, Stored>();
    this.tables.set(component, rows);
    if (type === 'integrity_clear') {
      rows.clear();
      this.complete.add(component);
      return undefined;
    }
    if (type === 'state') {
      rows.set(data.index, { checksum: String(data.attributes['checksum']), attributes: data.attributes });
      return undefined;
    }
    const verdict = this.#check(rows, data);
    if (type === 'integrity_check_global') {
      remove(rows, (key) => compareKeys(key, data.begin) < 0 || compareKeys(key, data.end) > 0);
      if (verdict === undefined) this.complete.add(component);
      else this.complete.delete(component);
    }
    const { tail } = data;
    if (type === 'integrity_check_left' && tail !== undefined) {
      remove(rows, (key) => compareKeys(key, data.end) > 0 && compareKeys(key, tail) < 0);
    }
    if (verdict === undefined) return undefined;
    const order = { begin: data.begin, end: data.end, id: data.id };
    return Buffer.from(`${component} dbsync ${verdict} ${JSON.stringify(order)}`, 'utf8').toString('latin1');
  }

  /** The way to it: answers come later, as over a line. @param answered told each, a byte string */
  outlet(answered: (order: string) => void): SyncOutlet {
    return {
      lost: 0,
      send: (message) => {
        const order = this.take(message);
        if (order !== undefined) setImmediate(() => answered(order));
        return Promise.resolve();
      },
    };
  }

  #check(rows: ReadonlyMap<string, Stored>, { begin, end, checksum }: Check): 'no_data' | 'checksum_fail' | undefined {
    const hash = createHash('sha1');
    const keys = [...rows.keys()].filter((key) => compareKeys(key, begin) >= 0 && compareKeys(key, end) <= 0);
    if (keys.length === 0) return 'no_data';
    for (const key of keys.sort(compareKeys)) hash.update(rows.get(key)?.checksum ?? '');
    return hash.digest('hex') === checksum ? undefined : 'checksum_fail';
  }
}

function remove(rows: Map<string, Stored>, isGone: (key: string) => boolean): void {
  for (const key of [...rows.keys()]) if (isGone(key)) rows.delete(key);
}
