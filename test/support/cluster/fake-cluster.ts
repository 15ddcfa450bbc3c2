import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallParams, CallResult, MethodName } from '../../../lib/bus/contract.js';
import type { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import type { ClusterdClient, RecordChange, SharedRecord } from '../../../lib/cluster/shared-records.js';

type Contract = typeof clusterdContract;

/**
 * The records of a cluster in memory, for tests of daemons that have some in force: as many nodes as clients are made, all
 * of one log. What svc-clusterd itself does is tested with real NATS servers.
 */
export class FakeCluster {
  readonly records = new Map<string, SharedRecord>();
  /** What was told to all nodes: `nodes.tell`. */
  readonly told: {
    readonly node: string;
    readonly daemon: string;
    readonly method: string;
    readonly params: unknown;
  }[] = [];
  /** Brings what is told to the others, or loses it. */
  onTell: (told: FakeCluster['told'][number]) => void = () => {};
  /** Whether there is a way from a node to another one that is heard. */
  hears: (node: string, other: string) => boolean = () => true;
  /** Who holds the lease. */
  master: string | undefined;
  /** Answers `nodes.ask`. */
  onAsk: (asked: CallParams<Contract, 'nodes.ask'>, asker?: string) => unknown = () => {
    throw new BusError('unknown_node', 'no such node');
  };
  /** Records of a page at most. */
  pageSize = 5000;
  /** How many changes of a commit are made before somebody else writes between them; undefined for all. */
  interrupt: (changes: readonly RecordChange[]) => number | undefined = () => undefined;
  /** While it is set, records cannot be changed. */
  unwritable: string | undefined;
  /** Sees what a node has committed before it is answered. */
  committed: (commit: CallParams<Contract, 'records.commit'>) => void = () => {};
  /** Sees that what a node has decided rests on something old. */
  overtaken: () => void = () => {};
  /** While it is set, calls fail with it. */
  unavailable: string | undefined;
  /** Nodes whose NATS is away: they go on with the records they have. */
  readonly away = new Set<string>();
  /** Nodes that are heard no more. */
  readonly unheard = new Set<string>();
  revision = 0;
  /** How often nodes have asked for their turn. */
  turns = 0;
  readonly #nodes = new Set<string>();
  #wakers = new Set<() => void>();
  /** All changes, also those that later ones have replaced. */
  readonly #log: SharedRecord[] = [];
  readonly #latest = new Map<string, number>();
  /** What nodes know that hear nothing new. */
  readonly #heldAt = new Map<string, number>();

  /** Changes records as another node would. */
  commit(changes: readonly RecordChange[]): number {
    for (const { kind, key, value } of changes) {
      this.revision += 1;
      const record = { kind, key, revision: this.revision, value };
      this.records.set(`${kind} ${key}`, record);
      this.#log.push(record);
      this.#latest.set(kind, this.revision);
    }
    this.wake();
    return this.revision;
  }

  /** A node hears nothing new from now on, and what it decides rests on that. */
  hold(node: string): void {
    this.#heldAt.set(node, this.revision);
  }

  release(node: string): void {
    this.#heldAt.delete(node);
    this.wake();
  }

  value(kind: string, key: string): unknown {
    return this.records.get(`${kind} ${key}`)?.value ?? undefined;
  }

  /** svc-clusterd of a node. @param seeded daemons that have brought what they had */
  client(node: string, seeded: readonly string[] = []): ClusterdClient {
    const marks = new Set(seeded);
    this.#nodes.add(node);
    const answer = async (method: string, params: never, signal?: AbortSignal): Promise<unknown> => {
      if (this.unavailable !== undefined) throw new BusError('cluster_unavailable', this.unavailable);
      if (this.away.has(node)) return this.#answerAway(node, method, params, signal);
      return this.#answer(node, marks, method, params, signal);
    };
    return {
      call: async <K extends MethodName<Contract>>(
        method: K,
        params: CallParams<Contract, K>,
        options: { readonly signal?: AbortSignal } = {},
      ) => (await answer(method, params as never, options.signal)) as CallResult<Contract, K>,
    };
  }

  /** What a node says whose NATS is away. */
  async #answerAway(node: string, method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (method === 'cluster.view') {
      return { ...this.#view(node), connected: false, writable: false, problem: 'no NATS' };
    }
    if (method === 'lease.check') return { held: false, term: 1, leftMs: 0 };
    if (method === 'node.describe') return {};
    const { after, waitMs = 0 } = params as CallParams<Contract, 'records.changes'>;
    if (method !== 'records.changes' || after === 0) throw new BusError('cluster_unavailable', 'no NATS');
    await this.#wait(waitMs, signal);
    signal?.throwIfAborted();
    return { changes: [], through: after, more: false };
  }

  #view(self: string) {
    const heard = (name: string): boolean =>
      name === self || (!this.away.has(name) && !this.unheard.has(name) && this.hears(self, name));
    return {
      cluster: 'test',
      self,
      connected: true,
      problem: null,
      writable: true,
      master: this.master ?? null,
      revision: this.revision,
      nodes: [...this.#nodes].map((name) => ({
        name,
        type: name === this.master ? ('master' as const) : ('worker' as const),
        version: '',
        ip: '',
        self: name === self,
        present: heard(name),
        heardAt: null,
        revision: this.revision,
        facts: {},
      })),
    };
  }

  /** Ends the waiting of all: what they are told may be another thing now. */
  wake(): void {
    const wakers = [...this.#wakers];
    this.#wakers.clear();
    for (const wake of wakers) wake();
  }

  async #answer(
    node: string,
    marks: Set<string>,
    method: string,
    params: unknown,
    signal?: AbortSignal,
  ): Promise<unknown> {
    switch (method) {
      case 'records.commit': {
        const { basis, kinds, changes } = params as CallParams<Contract, 'records.commit'>;
        const newer = kinds.some((kind) => (this.#latest.get(kind) ?? 0) > basis);
        if (this.unwritable !== undefined) throw new BusError('cluster_unavailable', this.unwritable);
        if (newer) {
          this.overtaken();
          throw new BusError('stale', 'something has changed');
        }
        const made = changes.map(({ kind, key, value = null }) => ({ kind, key, value }));
        const before = this.interrupt(made);
        if (before !== undefined) {
          this.commit(made.slice(0, before));
          throw new BusError('stale', 'somebody else was faster');
        }
        const revision = this.commit(made);
        this.committed({ basis, kinds, changes });
        return { revision };
      }
      case 'records.turn': {
        const { kinds } = params as CallParams<Contract, 'records.turn'>;
        this.turns += 1;
        return { revision: Math.max(0, ...kinds.map((kind) => this.#latest.get(kind) ?? 0)) };
      }
      case 'records.changes': {
        const { kinds, after, limit = 5000, waitMs = 0 } = params as CallParams<Contract, 'records.changes'>;
        const known = () => this.#heldAt.get(node) ?? this.revision;
        const found = () =>
          this.#behind(after).filter(
            ({ kind, value, revision }) =>
              kinds.includes(kind) && !(after === 0 && value === null) && revision <= known(),
          );
        if (found().length === 0 && waitMs > 0) await this.#wait(waitMs, signal);
        signal?.throwIfAborted();
        const all = found();
        const changes = all.slice(0, Math.min(limit, this.pageSize));
        const more = all.length > changes.length;
        return { changes, through: more ? (changes.at(-1)?.revision ?? after) : Math.max(after, known()), more };
      }
      case 'records.seeded': {
        const { mark } = params as CallParams<Contract, 'records.seeded'>;
        if (mark !== undefined) marks.add(mark);
        return { seeded: [...marks] };
      }
      case 'lease.check':
        return { held: this.master === node, term: 1, leftMs: 5000 };
      case 'nodes.ask':
        return { result: await this.onAsk(params as CallParams<Contract, 'nodes.ask'>, node) };
      case 'nodes.tell': {
        const told = params as CallParams<Contract, 'nodes.tell'>;
        const said = { node, daemon: told.daemon, method: told.method, params: told.params };
        this.told.push(said);
        this.onTell(said);
        return {};
      }
      case 'node.describe':
        return {};
      case 'cluster.view':
        return this.#view(node);
      default:
        throw new BusError('unknown_method', method);
    }
  }

  /** Records as they are now that have changed behind a revision. */
  #behind(after: number): SharedRecord[] {
    // Each revision is one change.
    return this.#log.slice(after).filter((record) => this.records.get(`${record.kind} ${record.key}`) === record);
  }

  #wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#wakers.add(end);
      signal?.addEventListener('abort', end, { once: true });
    });
  }
}
