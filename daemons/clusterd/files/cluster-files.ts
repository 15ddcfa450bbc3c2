import { setTimeout as delay } from 'node:timers/promises';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallResult } from '../../../lib/bus/contract.js';
import type { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import type { FilesFacts } from '../../../lib/cluster/record-kinds.js';
import { type ClusterdClient, type RecordChange, SharedRecords } from '../../../lib/cluster/shared-records.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { BlobStore } from './blob-store.js';
import { DueSets } from './due-sets.js';
import { FILE_KINDS, FileRecords } from './file-records.js';
import { FileSet } from './file-set.js';
import { FileWatches } from './file-watches.js';
import { GroupTable, type GroupTableParts } from './group-table.js';
import { KeptVersions } from './kept-versions.js';
import { namedContents } from './named-contents.js';
import type { RulesetEngine } from './ruleset-engine.js';
import { RulesetSet } from './ruleset-set.js';
import { RulesetStore } from './ruleset-store.js';
import { SetBases } from './set-base.js';
import { SetChanges } from './set-changes.js';
import { SetContents } from './set-contents.js';
import { groupFolders, groupKey, groupsOf, placeOf, RULESET, type SetPlace, SHARED } from './set-place.js';
import { sweepStaged } from './set-writer.js';

/** Changes that no watch told of are found so often, milliseconds. */
const CHECK_MS = 20_000;
/** A change that a watch tells of is looked at after so long: several often come together, milliseconds. */
const NOTICE_MS = 50;
const SETTLE_POLL_MS = 100;

export type ClusterFilesParts = {
  readonly home: Home;
  readonly logger: Logger;
  /** Name of this node. */
  readonly self: string;
  readonly client: ClusterdClient;
  readonly blobs: BlobStore;
  readonly engine: RulesetEngine;
  readonly db: GroupTableParts['db'];
  /** Milliseconds; tests look more often. */
  readonly checkMs?: number;
  /** Whether folders are watched (default). */
  readonly watch?: boolean;
};

type Settled = CallResult<typeof clusterdContract, 'ruleset.settle'>;

/**
 * Files that are one in the cluster: folders of groups, and the ruleset of the user. Each set is a manifest in a record and
 * contents that all nodes reach; the folders of this node are a view of them, in which anybody may go on working.
 */
export class ClusterFiles {
  readonly #parts: ClusterFilesParts;
  readonly #records = new FileRecords();
  readonly #shared: SharedRecords;
  readonly #bases: SetBases;
  readonly #contents: SetContents;
  readonly #kept: KeptVersions;
  readonly #sets = new Map<string, FileSet>();
  readonly #ruleset: RulesetSet;
  readonly #due: DueSets;
  readonly #watches: FileWatches;
  readonly #groups: GroupTable;
  readonly #changes: SetChanges;
  readonly #log: LimitedLogger;
  #timer: NodeJS.Timeout | undefined;
  #described = '';

  constructor(parts: ClusterFilesParts) {
    this.#parts = parts;
    const { home, logger, self, client, blobs, engine, db } = parts;
    this.#log = logger.limited();
    this.#bases = new SetBases(home.path('queue', 'cluster', 'files'));
    this.#contents = new SetContents(blobs, self);
    this.#kept = new KeptVersions(home);
    this.#shared = new SharedRecords({
      client,
      daemon: 'svc-clusterd',
      kinds: FILE_KINDS,
      logger,
      owner: {
        seed: (records) => {
          this.#records.load(records);
          return this.#seed();
        },
        load: (records) => {
          this.#records.load(records);
          // A cluster without any set is another one than that which this node has files of.
          if (this.#records.sets().length === 0) this.#forgetBases();
          this.#lookAtAll();
          return Promise.resolve();
        },
        apply: (changes) => {
          this.#records.apply(changes);
          for (const { kind, key } of changes) this.#due.due(kind === 'files' ? key : RULESET);
          return Promise.resolve();
        },
      },
    });
    this.#groups = new GroupTable({ db, logger, groups: () => groupsOf(this.#records.sets()) });
    this.#changes = new SetChanges({
      records: this.#records,
      shared: this.#shared,
      contents: this.#contents,
      groups: this.#groups,
      logger,
    });
    this.#ruleset = new RulesetSet({
      self,
      logger,
      engine,
      place: this.#placeOf(RULESET),
      contents: this.#contents,
      store: new RulesetStore(home, this.#contents),
      records: () => this.#records.ruleset(),
      // What is not to be done any more is looked at again.
      change: (decide) => this.#shared.change(() => ({ changes: decide(), result: undefined, isUnbinding: true })),
      present: async () =>
        (await client.call('cluster.view', {})).nodes.flatMap(({ name, present }) => (present ? [name] : [])),
      leaseHeld: () => this.#leaseHeld(),
    });
    this.#due = new DueSets({
      look: (key) => this.#look(key),
      failed: (key, error) => {
        this.#log.warn(`Files of the cluster (${key}) are not the same here yet: ${describeError(error)}`);
      },
    });
    this.#watches = new FileWatches(home, logger, (key) => {
      this.#due.due(key, NOTICE_MS);
    });
  }

  start(): void {
    for (const folder of ['shared', 'rules', 'decoders', 'lists']) {
      ifPresentSync(() => {
        sweepStaged(this.#parts.home.path('etc', folder), true);
      });
    }
    if (this.#parts.watch !== false) this.#watches.start();
    this.#shared.start();
    this.#check();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#watches.stop();
    await this.#shared.close();
    await this.#due.stop();
    await this.#groups.stop();
  }

  /** Contents that sets in force and candidates name. @throws BusError, ManifestError, MissingContentError */
  named(): Promise<ReadonlySet<string>> {
    if (!this.#shared.loaded) throw new BusError('cluster_unavailable', 'the sets of the cluster are not known yet');
    return namedContents(this.#records, this.#contents, (key) => placeOf(this.#parts.home, key));
  }

  /** Brings contents again that the cluster has lost. @param there those that it has @throws BusError, ScanError */
  async mend(there: ReadonlySet<string>): Promise<void> {
    for (const set of this.#sets.values()) {
      if (await set.mend(there)) {
        this.#parts.logger.warn(`${set.place.shown}: files that the cluster had lost were brought again from here.`);
      }
    }
  }

  /** How it stands with files on this node. */
  facts(): FilesFacts {
    const keys = this.#records.sets().filter((key) => key !== RULESET);
    const synced = keys.filter((key) => this.#sets.get(key)?.synced === true).length;
    return { ruleset: this.#ruleset.facts(), groups: { synced, waiting: keys.length - synced } };
  }

  /** Whether nothing is being looked at, nor due at once. */
  get isIdle(): boolean {
    return this.#due.busy === 0;
  }

  /** `ruleset.settle`: has what is in etc proposed now, and waits for what becomes of it. */
  async settle(waitMs: number): Promise<Settled> {
    const deadline = performance.now() + waitMs;
    const view = await this.#parts.client.call('cluster.view', {});
    if (!view.writable || !this.#shared.loaded) {
      return { state: 'unavailable', problems: [view.problem ?? 'the records of the cluster are not known yet'] };
    }
    this.#ruleset.force();
    const before = this.#ruleset.looks;
    this.#due.due(RULESET);
    for (;;) {
      const { state, problems, revision } = this.#ruleset.facts();
      const isDone = state !== 'waiting' && state !== 'proposed' && this.#ruleset.looks > before;
      const doubt = isDone && state === 'in_force' ? await this.#doubtOf(revision) : undefined;
      if (typeof doubt === 'string') return { state: 'unavailable', problems: [doubt] };
      if (isDone && doubt !== true) return { state, problems };
      if (performance.now() >= deadline) return { state: 'pending', problems };
      await delay(SETTLE_POLL_MS);
    }
  }

  /** Whether all nodes have another ruleset by now than this one has read, or why that cannot be known. */
  async #doubtOf(revision: number): Promise<boolean | string> {
    try {
      return await this.#shared.change(() => {
        const latest = this.#records.inForce(RULESET)?.revision ?? 0;
        return { changes: [], result: latest !== revision };
      });
    } catch (error) {
      return describeError(error);
    }
  }

  async #seed(): Promise<RecordChange[]> {
    this.#forgetBases();
    const changes: RecordChange[] = [];
    for (const key of [SHARED, ...groupFolders(this.#parts.home).map(groupKey)]) {
      if (this.#records.inForce(key) !== undefined) continue;
      const record = await this.#set(key)?.seed();
      if (record !== undefined) changes.push({ kind: 'files', key, value: record });
    }
    return changes;
  }

  #forgetBases(): void {
    this.#bases.clear();
    for (const set of this.#sets.values()) set.forget();
  }

  async #look(key: string): Promise<number | undefined> {
    if (!this.#shared.loaded) return undefined;
    const set = this.#set(key);
    if (set === undefined) return undefined;
    try {
      const again = key === RULESET ? await this.#ruleset.look() : await set.look();
      const isGone = set.base === undefined && set.localId === undefined;
      if (isGone && this.#records.inForce(key) === undefined) this.#forget(key);
      return again;
    } finally {
      await this.#describe();
    }
  }

  #forget(key: string): void {
    this.#sets.delete(key);
    this.#due.forget(key);
  }

  #set(key: string): FileSet | undefined {
    const known = this.#sets.get(key);
    const place = placeOf(this.#parts.home, key);
    if (known !== undefined || place === undefined) return known;
    const set: FileSet = new FileSet({
      place,
      bases: this.#bases,
      contents: this.#contents,
      kept: this.#kept,
      logger: this.#parts.logger,
      inForce: () => this.#records.inForce(key),
      publish: (change) => (key === RULESET ? this.#ruleset.publish(change) : this.#changes.bring(set, change)),
      publishRemoval: (group, revision) => this.#changes.bringRemoval(key, group, revision),
    });
    this.#sets.set(key, set);
    if (key === RULESET) this.#ruleset.follow(set);
    return set;
  }

  async #leaseHeld(): Promise<boolean> {
    return (await this.#parts.client.call('lease.check', {})).held;
  }

  #lookAtAll(): void {
    const keys = [...this.#records.sets(), ...this.#sets.keys(), ...groupFolders(this.#parts.home).map(groupKey)];
    for (const key of new Set([SHARED, RULESET, ...keys])) this.#due.due(key);
  }

  #check(): void {
    this.#timer = setTimeout(() => {
      this.#lookAtAll();
      if (this.#shared.loaded) void this.#compareGroups();
      this.#check();
    }, this.#parts.checkMs ?? CHECK_MS);
  }

  async #compareGroups(): Promise<void> {
    try {
      if (await this.#leaseHeld()) await this.#groups.compare();
    } catch (error) {
      this.#log.debug(`Groups were not compared with those of svc-db: ${describeError(error)}`);
    }
  }

  #placeOf(key: string): SetPlace {
    const place = placeOf(this.#parts.home, key);
    if (place === undefined) throw new TypeError(`${key} is no set`);
    return place;
  }

  async #describe(): Promise<void> {
    const facts = this.facts();
    const text = JSON.stringify(facts);
    if (text === this.#described) return;
    this.#described = text;
    try {
      await this.#parts.client.call('node.describe', { daemon: 'svc-clusterd', facts: { files: facts } });
    } catch (error) {
      this.#described = '';
      this.#log.debug(`Other nodes were not told of files here: ${describeError(error)}`);
    }
  }
}
