import { setMaxListeners } from 'node:events';
import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { pause } from '../../../lib/async/pause.js';
import type { KeyRegistry } from '../key-registry.js';
import type { AgentView } from './agent-view.js';

/** Pauses after failures, milliseconds: the last is repeated. */
const RETRY_MS = [500, 1000, 5000];
/** What nobody waits for, as it was decided at another node, shares the write of what comes within this time, milliseconds. */
const GATHER_MS = 50;

export type KeyFileViewParts = {
  readonly registry: KeyRegistry;
  readonly view: AgentView;
  /** Whether removed agents leave no line. */
  readonly purge: () => boolean;
};

export type FileTurn = {
  /** Agents whose lines may not be as the view has them. */
  readonly ids: Iterable<string>;
  /** Those of them that leave no line, whatever is configured. */
  readonly purged?: ReadonlySet<string>;
  /** Done once it is on the disk. */
  readonly then?: () => void;
};

/** How many lines of the file were not as the cluster has them. */
export type FileDifference = { readonly missing: number; readonly changed: number; readonly surplus: number };

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void };

/**
 * The key file as a view of the cluster's agents: it follows them, and what cannot be written is tried again until it is.
 * Changes that come while it is written share the next write.
 */
export class KeyFileView {
  readonly #parts: KeyFileViewParts;
  readonly #stopped = new AbortController();
  #ids = new Set<string>();
  #purged = new Set<string>();
  #whole = false;
  #then: (() => void)[] = [];
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  /** Ends the time in which changes are gathered. */
  #gathered: (() => void) | undefined;
  #failure: Error | undefined;
  #failures = 0;

  constructor(parts: KeyFileViewParts) {
    this.#parts = parts;
    setMaxListeners(0, this.#stopped.signal);
  }

  /** Why the file is not as it should be, while it cannot be written. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  changed({ ids, purged, then }: FileTurn): void {
    for (const id of ids) this.#ids.add(id);
    for (const id of purged ?? []) this.#purged.add(id);
    if (then !== undefined) this.#then.push(then);
    this.#start();
  }

  /**
   * Holds all lines against the view. A file that was not there, or not whole, is written anew.
   * @param except ids that are looked at later
   */
  compareAll(except: ReadonlySet<string>, then: () => void): FileDifference {
    const { registry, view } = this.#parts;
    const difference = { missing: 0, changed: 0, surplus: 0 };
    const ids: string[] = [];
    for (const { agent } of view.agents) {
      const line = registry.byId(agent.id);
      if (line?.equals(agent) === true) continue;
      difference[line === undefined ? 'missing' : 'changed'] += 1;
      ids.push(agent.id);
    }
    for (const { id } of registry.agents) {
      if (view.byId(id) !== undefined || except.has(id)) continue;
      difference.surplus += 1;
      ids.push(id);
    }
    this.#whole ||= !registry.complete || view.removedUpTo > registry.highestId;
    this.changed({ ids, then });
    return difference;
  }

  /** Settles when everything that was told is on the disk. @throws what kept it from being written, at the first failure */
  written(): Promise<void> {
    if (this.#running === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#gathered?.();
    });
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#gathered?.();
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  get #isWanted(): boolean {
    return this.#whole || this.#ids.size > 0 || this.#then.length > 0 || this.#waiting.length > 0;
  }

  async #run(): Promise<void> {
    // What is told in the same turn goes along.
    await Promise.resolve();
    while (this.#isWanted && !this.#stopped.signal.aborted) {
      if (this.#waiting.length === 0) await this.#gather();
      await this.#write();
    }
    const closed = new Error('svc-authd stops');
    for (const { reject } of this.#waiting.splice(0)) reject(closed);
  }

  #gather(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#gathered = undefined;
        resolve();
      };
      const timer = setTimeout(end, GATHER_MS);
      this.#gathered = end;
    });
  }

  async #write(): Promise<void> {
    const [ids, purged, whole] = [this.#ids, this.#purged, this.#whole];
    const [then, waiting] = [this.#then.splice(0), this.#waiting.splice(0)];
    [this.#ids, this.#purged, this.#whole] = [new Set(), new Set(), false];
    try {
      await this.#bring(ids, purged, whole);
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      for (const id of ids) this.#ids.add(id);
      for (const id of purged) this.#purged.add(id);
      this.#whole ||= whole;
      this.#then.unshift(...then);
      for (const { reject } of waiting) reject(this.#failure);
      await pause(RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 0, this.#stopped.signal);
      this.#failures += 1;
      return;
    }
    this.#failure = undefined;
    this.#failures = 0;
    for (const done of then) done();
    for (const { resolve } of waiting) resolve();
  }

  async #bring(ids: ReadonlySet<string>, purged: ReadonlySet<string>, whole: boolean): Promise<void> {
    const { registry, view, purge } = this.#parts;
    const remove: string[] = [];
    const erase: string[] = [];
    const add: AgentKey[] = [];
    for (const id of ids) {
      const [line, agent] = [registry.byId(id), view.byId(id)];
      if (line !== undefined && agent?.equals(line) === true) continue;
      if (line !== undefined) (purged.has(id) ? erase : remove).push(id);
      if (agent !== undefined) add.push(agent);
    }
    if (remove.length + erase.length + add.length === 0 && !whole) return;
    const lastId = view.removedUpTo;
    // In one turn: they share one write.
    const written = erase.length === 0 ? [] : [registry.change({ remove: erase, purge: true, lastId })];
    if (remove.length + add.length > 0 || whole) {
      written.push(registry.change({ remove, add, purge: purge(), lastId, ...(whole ? { whole } : {}) }));
    }
    await Promise.all(written);
  }
}
