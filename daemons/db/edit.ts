import { createHash } from 'node:crypto';
import type { Change } from '../../lib/store/commit-queue.js';
import type { AgentRecord, AgentRow } from './agent-record.js';
import type { AgentSet } from './agent-set.js';
import type { GroupRecord, Labels, RegistryTables } from './registry-store.js';
import type { Removal, RemovalLog } from './removal-log.js';

/** Sees the rows of agents change. */
export interface RowObserver {
  /** The record to put in place of another one. */
  stamped(before: AgentRecord, next: AgentRecord): AgentRecord;
  /** The record of an agent whose labels have changed. */
  relabelled(record: AgentRecord): AgentRecord;
  /** The records of these agents, or their labels, are on disk now. */
  committed(agents: ReadonlySet<number>): void;
}

/** What of the registry is in memory. Labels are only while they are on their way to disk. */
export type RegistryMemory = {
  /** Set in a cluster. */
  readonly observer: RowObserver | undefined;
  readonly agents: AgentSet;
  readonly groups: Map<string, GroupRecord>;
  readonly unwrittenLabels: Map<number, Labels>;
  readonly removals: RemovalLog;
};

/**
 * One transaction of the registry: each step changes memory at once, and remembers what goes to disk and how it is
 * taken back.
 */
export class Edit {
  readonly changes: Change[] = [];
  readonly #memory: RegistryMemory;
  readonly #tables: RegistryTables;
  readonly #undo: (() => void)[] = [];
  readonly #removals: Removal[] = [];
  readonly #labels: { readonly id: number; readonly labels: Labels }[] = [];
  readonly #changedAgents = new Set<number>();

  constructor(memory: RegistryMemory, tables: RegistryTables) {
    this.#memory = memory;
    this.#tables = tables;
  }

  /** Adds an agent or replaces its record. */
  setAgent(id: number, record: AgentRecord): AgentRow {
    const { agents, observer } = this.#memory;
    const before = agents.get(id)?.record;
    const row = agents.set(
      id,
      before === undefined || observer === undefined ? record : observer.stamped(before, record),
    );
    if (row.record === before) return row;
    this.#changedAgents.add(id);
    this.#undo.push(() => {
      if (before === undefined) agents.delete(id);
      else agents.set(id, before);
    });
    this.changes.push(this.#tables.agents.put(id, withoutUndefined(row.record)));
    return row;
  }

  /** @param time epoch seconds */
  setKeepAlive(row: AgentRow, time: number): void {
    const before = row.lastKeepAlive;
    if (before === time) return;
    const { agents } = this.#memory;
    agents.setKeepAlive(row, time);
    this.#undo.push(() => {
      const now = agents.get(row.id);
      if (now !== undefined) agents.setKeepAlive(now, before);
    });
    this.changes.push(this.#tables.keepAlives.put(row.id, time));
  }

  /** With everything that belongs to it. */
  deleteAgent(row: AgentRow): void {
    const { agents, unwrittenLabels, removals } = this.#memory;
    const { id, record, lastKeepAlive } = row;
    const removal = removals.next(id);
    const crowdedOut = removals.crowdedOutBy(this.#removals.length);
    if (crowdedOut !== undefined) this.changes.push(this.#tables.removed.remove(crowdedOut.sequence));
    this.#removals.push(removal);
    const labels = unwrittenLabels.get(id);
    agents.delete(id);
    unwrittenLabels.delete(id);
    this.#undo.push(() => {
      agents.setKeepAlive(agents.set(id, record), lastKeepAlive);
      if (labels !== undefined) unwrittenLabels.set(id, labels);
    });
    this.changes.push(
      this.#tables.agents.remove(id),
      this.#tables.keepAlives.remove(id),
      this.#tables.labels.remove(id),
      this.#tables.removed.put(removal.sequence, id),
    );
  }

  setLabels(id: number, labels: Labels): void {
    const { unwrittenLabels, agents, observer } = this.#memory;
    const row = agents.get(id);
    if (row !== undefined && observer !== undefined) this.setAgent(id, observer.relabelled(row.record));
    const before = unwrittenLabels.get(id);
    unwrittenLabels.set(id, labels);
    this.#labels.push({ id, labels });
    this.#changedAgents.add(id);
    this.#undo.push(() => {
      if (before === undefined) unwrittenLabels.delete(id);
      else unwrittenLabels.set(id, before);
    });
    this.changes.push(this.#tables.labels.put(id, labels));
  }

  /** Adds a group or replaces its record. */
  setGroup(name: string, record: GroupRecord): void {
    const { groups } = this.#memory;
    const before = groups.get(name);
    groups.set(name, record);
    this.#undo.push(() => {
      if (before === undefined) groups.delete(name);
      else groups.set(name, before);
    });
    this.changes.push(this.#tables.groups.put(name, record));
  }

  deleteGroup(name: string): void {
    const { groups } = this.#memory;
    const before = groups.get(name);
    if (before === undefined) return;
    groups.delete(name);
    this.#undo.push(() => groups.set(name, before));
    this.changes.push(this.#tables.groups.remove(name));
  }

  /** @param md5 of the merged file for these groups; undefined when there is none */
  setMergedSum(groups: string, md5: string | undefined): void {
    const { agents } = this.#memory;
    const before = agents.mergedSums.get(groups);
    if (before === md5) return;
    agents.setMergedSum(groups, md5);
    this.#undo.push(() => agents.setMergedSum(groups, before));
    const key = createHash('sha256').update(groups).digest('hex');
    const { sums } = this.#tables;
    this.changes.push(md5 === undefined ? sums.remove(key) : sums.put(key, { groups: groups.split(','), md5 }));
  }

  /** Memory as it was before the first step. */
  undo(): void {
    for (const step of this.#undo.splice(0).toReversed()) step();
  }

  /** All of it is on disk: what only had to be remembered until then is forgotten. */
  done(): void {
    const { unwrittenLabels, removals, observer } = this.#memory;
    if (this.#removals.length > 0) removals.committed(this.#removals);
    for (const { id, labels } of this.#labels) if (unwrittenLabels.get(id) === labels) unwrittenLabels.delete(id);
    observer?.committed(this.#changedAgents);
  }
}

/** msgpack would store them as null. */
function withoutUndefined(record: AgentRecord): AgentRecord {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as AgentRecord;
}
