import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { RECORD_KINDS, type RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import { encodeValue } from '../../../lib/store/store-table.js';

/** A page of `changes` is cut behind so many bytes: a message of the bus holds 16 MiB. */
const PAGE_BYTES = 6 * 1024 * 1024;
const REVISION_BYTES = 8;

const row = z.object({
  revision: z.number().int(),
  /** Of the value, encoded. */
  bytes: z.number().int(),
  /** Null: removed. */
  value: z.unknown(),
});
const state = z.object({
  /** Name of the cluster that the records are of. */
  cluster: z.string().optional(),
  /** Time at which the stream was made, as NATS says it: another one is another stream. */
  stream: z.string().optional(),
  revision: z.number().int(),
  /** Whether the copy was whole once. */
  whole: z.boolean(),
  /** Daemons that have brought what this node had. */
  seeded: z.array(z.string()),
  /** This home, whatever it is called. */
  instance: z.string(),
  /** Text of `JOINED_FILE` when this home was accepted as a node; there is none before. */
  joined: z.string().optional(),
  /** The joining after which the cluster has forgotten this home: it stays so until it joins anew. */
  forgotten: z.string().optional(),
  /** How far this node's alerts are in the stream of all nodes; null: they do not come into it. */
  alerts: z.object({ file: z.string(), offset: z.number().int() }).nullable().optional(),
});
export type CopyState = z.output<typeof state>;

/** Revisions of which it is known who wrote them: more than come while a commit is waited for. */
const MOST_WRITERS = 10_000;

export type RecordsPage = { readonly changes: SharedRecord[]; readonly through: number; readonly more: boolean };

/** Keys by revision within a kind. */
function orderKey(kind: RecordKind, revision: number): Buffer {
  const key = Buffer.alloc(kind.length + 1 + REVISION_BYTES);
  key.write(kind, 'latin1');
  key.writeBigUInt64BE(BigInt(revision), kind.length + 1);
  return key;
}

const revisionOf = (key: Buffer): number => Number(key.readBigUInt64BE(key.length - REVISION_BYTES));

/**
 * This node's copy of all shared records, `queue/cluster`: what a node starts from, and lives on while there is no NATS. It
 * has the last change of each record, in the order of revisions, those that were removed among them.
 */
export class RecordCopy {
  readonly #store: LmdbStore;
  readonly #records;
  readonly #order;
  readonly #states;
  readonly #latest = new Map<RecordKind, number>();
  readonly #watchers = new Set<() => void>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #writers = new Map<number, string>();
  #state: CopyState;

  private constructor(store: LmdbStore, instance: string) {
    this.#store = store;
    this.#records = store.table<string, z.output<typeof row>>('records', row);
    this.#order = store.binaryTable('order');
    this.#states = store.table<string, CopyState>('state', state);
    this.#state = this.#states.get('state') ?? { revision: 0, whole: false, seeded: [], instance };
  }

  /**
   * Opens the copy of a cluster's records. What is there of another cluster is removed: nothing of it is to count here, least of all
   * that this node has brought what it has.
   * @param instance a random name of this home, if it has none yet @throws StoreError
   */
  static async open(directory: string, instance: string, cluster: string): Promise<RecordCopy> {
    const options = { directory, tables: ['records', 'state'], binaryTables: ['order'] };
    let copy = new RecordCopy(await LmdbStore.open(options), instance);
    if (copy.state.cluster !== undefined && copy.state.cluster !== cluster) {
      await copy.close();
      for (const name of ['data.mdb', 'lock.mdb']) rmSync(join(directory, name), { force: true });
      copy = new RecordCopy(await LmdbStore.open(options), instance);
    }
    await copy.note({ instance: copy.state.instance, cluster });
    return copy;
  }

  get broken(): Promise<StoreError> {
    return this.#store.broken;
  }

  get state(): CopyState {
    return this.#state;
  }

  get revision(): number {
    return this.#state.revision;
  }

  /** Keeps a part of the state, by what it is when it is this one's turn. @throws StoreError */
  note(change: Partial<CopyState> | ((state: CopyState) => Partial<CopyState>)): Promise<void> {
    return this.#inTurn(async () => {
      const part = typeof change === 'function' ? change(this.#state) : change;
      const next = { ...this.#state, ...part };
      await this.#store.commit([this.#states.put('state', next)]);
      this.#state = next;
    });
  }

  /** One after the other: each begins with the state that the one before has left on the disk. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Notes with which id a revision was written, as the stream says: it begins with that of the commit, and a dot. */
  noteWriter(revision: number, messageId: string): void {
    this.#writers.set(revision, messageId);
    const [oldest] = this.#writers.keys();
    if (this.#writers.size > MOST_WRITERS && oldest !== undefined) this.#writers.delete(oldest);
  }

  /** The commit that a revision was written by; undefined when that was long ago, or before the start. */
  writerOf(revision: number): string | undefined {
    return this.messageIdOf(revision)?.split('.')[0];
  }

  /** The id that a revision was written with; undefined as that of the commit. */
  messageIdOf(revision: number): string | undefined {
    return this.#writers.get(revision);
  }

  /** The record as it is now, removed ones too. */
  get(kind: RecordKind, key: string): SharedRecord | undefined {
    const found = this.#records.get(`${kind} ${key}`);
    return found === undefined ? undefined : { kind, key, revision: found.revision, value: found.value };
  }

  /** Whether the cluster has forgotten a node: it had one of this name, and has none now. */
  isForgotten(node: string): boolean {
    return this.get('node', node)?.value === null;
  }

  /** Revision of the last change of these kinds; 0 when there was none. */
  latest(kinds: readonly RecordKind[]): number {
    return Math.max(0, ...kinds.map((kind) => this.#latestOf(kind)));
  }

  /** Those that were changed last, the newest first, removed ones too. */
  newest(limit: number): SharedRecord[] {
    const found = RECORD_KINDS.flatMap((kind) => {
      const range = { from: orderKey(kind, 0), to: orderKey(kind, Number.MAX_SAFE_INTEGER), limit, reverse: true };
      return [...this.#order.entries(range)].flatMap(({ value }) => this.get(kind, value.toString()) ?? []);
    });
    return found.sort((one, other) => other.revision - one.revision).slice(0, limit);
  }

  #latestOf(kind: RecordKind): number {
    const known = this.#latest.get(kind);
    if (known !== undefined) return known;
    const range = { from: orderKey(kind, 0), to: orderKey(kind, Number.MAX_SAFE_INTEGER), limit: 1, reverse: true };
    const [entry] = this.#order.entries(range);
    const latest = entry === undefined ? 0 : revisionOf(entry.key);
    this.#latest.set(kind, latest);
    return latest;
  }

  /** As `records.changes` of the contract. */
  changes(kinds: readonly RecordKind[], after: number, limit: number): RecordsPage {
    const found = kinds.flatMap((kind) => [...this.#behind(kind, after, limit + 1)]);
    found.sort((one, other) => one.revision - other.revision);
    const changes: SharedRecord[] = [];
    let bytes = 0;
    let through = after;
    // Of each kind there is one more than is looked at: what is looked at has no gap.
    for (const { kind, revision, key } of found.slice(0, limit)) {
      if (bytes > PAGE_BYTES) return { changes, through, more: true };
      const record = this.#records.get(`${kind} ${key}`);
      through = revision;
      if (record === undefined || (after === 0 && record.value === null)) continue;
      bytes += record.bytes;
      changes.push({ kind, key, revision, value: record.value });
    }
    return found.length > limit ? { changes, through, more: true } : { changes, through: this.revision, more: false };
  }

  *#behind(
    kind: RecordKind,
    after: number,
    limit: number,
  ): Generator<{ kind: RecordKind; revision: number; key: string }> {
    const to = orderKey(kind, Number.MAX_SAFE_INTEGER);
    for (const { key, value } of this.#order.entries({ from: orderKey(kind, after + 1), to, limit })) {
      yield { kind, revision: revisionOf(key), key: value.toString() };
    }
  }

  /**
   * Takes changes over, ascending by revision; those behind the last of them are not known yet.
   * @param through all up to here is known then @throws StoreError
   */
  apply(changes: readonly SharedRecord[], through: number): Promise<void> {
    return this.#inTurn(() => this.#apply(changes, through));
  }

  async #apply(changes: readonly SharedRecord[], through: number): Promise<void> {
    const last = new Map<string, SharedRecord>();
    for (const change of changes) last.set(`${change.kind} ${change.key}`, change);
    const writes = [];
    for (const [name, { kind, key, revision, value }] of last) {
      const old = this.#records.get(name);
      if (old !== undefined) writes.push(this.#order.remove(orderKey(kind, old.revision)));
      const bytes = encodeValue(value).length;
      writes.push(this.#records.put(name, { revision, bytes, value }));
      writes.push(this.#order.put(orderKey(kind, revision), Buffer.from(key)));
    }
    const next = { ...this.#state, revision: through };
    await this.#store.commit([...writes, this.#states.put('state', next)]);
    this.#state = next;
    for (const { kind, revision } of last.values()) this.#latest.set(kind, Math.max(this.#latestOf(kind), revision));
    for (const wake of [...this.#watchers]) wake();
  }

  /** Waits until something was taken over, or so many milliseconds. */
  changed(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        this.#watchers.delete(end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.#watchers.add(end);
      signal?.addEventListener('abort', end, { once: true });
      if (signal?.aborted === true) end();
    });
  }

  close(): Promise<void> {
    for (const wake of [...this.#watchers]) wake();
    return this.#store.close();
  }
}
