import { PIECE_RECORDS } from '../../../lib/cluster/change-pieces.js';
import {
  type ClusterdClient,
  type RecordChange,
  type RecordsOwner,
  type SharedRecord,
  SharedRecords,
} from '../../../lib/cluster/shared-records.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { agentIdText, MANAGER_ID } from '../agent-record.js';
import { DEFAULT_GROUP, requireGroups } from '../membership.js';
import type { Registry } from '../registry.js';
import type { GroupAuthority } from './group-authority.js';
import {
  type ChangedGroup,
  type ChangedMember,
  type GroupChange,
  type GroupDecision,
  type GroupView,
  isSameList,
  type Member,
} from './group-decisions.js';
import { GROUP_RECORD_KINDS, GroupRecords, type Touched } from './group-records.js';
import { makeTrue } from './make-true.js';
import { registryView } from './registry-view.js';
import { seedGroups } from './seed-groups.js';

export type SharedGroupsParts = {
  readonly registry: Registry;
  readonly client: ClusterdClient;
  readonly logger: Logger;
};

/** Rows that are changed in one transaction at a start: so long others wait. */
const ROWS_AT_ONCE = 5000;

/**
 * Groups and members that all nodes of a cluster have in common: a decision is made on this node's registry, and comes true
 * with the records, here as everywhere. What the records say is brought to the registry, which is what all others ask.
 */
export class SharedGroups implements GroupAuthority {
  readonly mostChanges = PIECE_RECORDS;
  readonly isShared = true;
  readonly #parts: SharedGroupsParts;
  readonly #said: GroupRecords;
  readonly #records: SharedRecords;
  readonly #view: GroupView;
  /** Members of agents that were gone when it was looked last. */
  #leftOvers: ReadonlySet<number> = new Set();

  constructor(parts: SharedGroupsParts) {
    const { registry, client, logger } = parts;
    this.#parts = parts;
    this.#said = new GroupRecords(logger.limited());
    this.#view = registryView(registry, (groups) => this.#strangers(groups));
    const owner: RecordsOwner = {
      seed: (records) => this.#seed(records),
      load: (records) => this.#load(records),
      apply: (changes) => this.#apply(changes),
    };
    this.#records = new SharedRecords({
      client,
      daemon: 'svc-db',
      kinds: GROUP_RECORD_KINDS,
      decidesBy: ['group', 'member'],
      // Which agents are the cluster's is known then.
      seedsAfter: ['svc-authd'],
      owner,
      logger,
    });
  }

  start(): void {
    this.#records.start();
  }

  close(): Promise<void> {
    return this.#records.close();
  }

  stats(): Record<string, unknown> {
    const { revision, loaded } = this.#records;
    return { shared_groups: { revision, loaded, groups: this.#said.groups.size, members: this.#said.memberCount } };
  }

  decide<T>(decide: (view: GroupView) => GroupDecision<T>, isWanted?: () => boolean): Promise<T> {
    return this.#records.change(() => {
      const { changes, wanted, result, isUnbinding = false } = decide(this.#view);
      this.#parts.registry.groupUses.note(wanted);
      return { changes: changes.map(recordChange), result, isUnbinding };
    }, isWanted);
  }

  async prepare(id: number, groups: readonly string[] = []): Promise<void> {
    const wanted = [...new Set(groups)];
    if (id === MANAGER_ID || wanted.length === 0 || isSameList(wanted, [DEFAULT_GROUP])) return;
    await this.decide((view) => {
      const isKnown = this.#said.hasMember(id) || view.groupsOf(id) !== undefined;
      // The records have the say, whatever they are by now: nobody waits for a promise.
      if (isKnown) return { changes: [], wanted: [], result: undefined, isUnbinding: true };
      requireGroups(view.groups, wanted);
      return { changes: [{ kind: 'member', id, groups: wanted }], wanted, result: undefined };
    });
  }

  ofNewAgent(id: number): readonly string[] {
    return this.#said.groupsOf(id);
  }

  /**
   * Removes records of members that are no agents any more: who removed the agent left them. Only what was so the last time, too,
   * since the records of an agent and of its groups may come one after the other. Never throws.
   */
  async tidy(): Promise<void> {
    if (!this.#records.loaded) return;
    const now = this.#said.leftOvers();
    const gone = now.filter((id) => this.#leftOvers.has(id)).slice(0, this.mostChanges);
    this.#leftOvers = new Set(now);
    if (gone.length === 0) return;
    try {
      await this.#records.change(() => {
        const left = gone.filter((id) => this.#said.isLeftOver(id));
        const changes = left.map((id) => ({ kind: 'member', key: agentIdText(id), value: null }) as const);
        return { changes, result: undefined, isUnbinding: true };
      });
    } catch (error) {
      this.#parts.logger.debug(`Groups of removed agents stay in the records for now: ${describeError(error)}`);
    }
  }

  #seed(records: readonly SharedRecord[]): readonly RecordChange[] {
    this.#said.clear();
    this.#said.take(records);
    return seedGroups(this.#parts.registry, this.#said, records);
  }

  /** New groups first and those that are gone last, so that each of its transactions leaves a registry that could be. */
  async #load(records: readonly SharedRecord[]): Promise<void> {
    const { registry } = this.#parts;
    this.#said.clear();
    this.#said.take(records);
    const names = new Set([...registry.groups.keys(), ...this.#said.groups.keys()]);
    await this.#make(this.#groupChanges(names).filter(({ record }) => record !== null));
    let changes: GroupChange[] = [];
    for (const { id } of registry.agents.byId()) {
      changes.push(...this.#memberChange(id));
      if (changes.length < ROWS_AT_ONCE) continue;
      await this.#make(changes);
      changes = [];
    }
    await this.#make(changes);
    await this.#make(this.#groupChanges(names));
  }

  async #apply(records: readonly SharedRecord[]): Promise<void> {
    const touched = this.#said.take(records);
    if (touched.groups.size + touched.members.size > 0) await this.#make(this.#differences(touched));
  }

  #make(changes: readonly GroupChange[]): Promise<void> {
    const { registry } = this.#parts;
    return registry.edit((edit) => {
      makeTrue(registry, edit, changes);
    });
  }

  /** What of the registry is not as the records say, of what they were about. */
  #differences({ groups, members }: Touched): GroupChange[] {
    const { byGroup } = this.#parts.registry.agents;
    const changed = this.#groupChanges(groups);
    const gone = changed.filter(({ record }) => record === null);
    const others = gone.flatMap(({ name }) => Array.from(byGroup.get(name), ({ id }) => id));
    const odd = changed.length > gone.length ? this.#said.odd : [];
    const ids = new Set([...members, ...others, ...odd]);
    return [
      ...changed.filter(({ record }) => record !== null),
      ...[...ids].flatMap((id) => this.#memberChange(id)),
      ...gone,
    ];
  }

  #groupChanges(names: Iterable<string>): ChangedGroup[] {
    const { groups } = this.#parts.registry;
    return [...names].flatMap((name) => {
      const now = groups.get(name);
      const record = this.#said.groups.get(name) ?? null;
      const isRight = record === null ? now === undefined || name === DEFAULT_GROUP : now?.dateAdd === record.dateAdd;
      return isRight ? [] : [{ kind: 'group', name, record }];
    });
  }

  /** Asked for agents that are not registered, too: what their records name is looked at then. */
  #memberChange(id: number): ChangedMember[] {
    const groups = this.#said.groupsOf(id);
    const now = id === MANAGER_ID ? undefined : this.#parts.registry.agents.get(id)?.record.groups;
    return now === undefined || isSameList(now, groups) ? [] : [{ kind: 'member', id, groups }];
  }

  #strangers(groups: ReadonlySet<string>): Member[] {
    const { agents } = this.#parts.registry;
    const members: Member[] = [];
    for (const [id, listed] of this.#said.membersOf(groups)) {
      if (agents.get(id) === undefined) members.push({ id, groups: listed, isRegistered: false });
    }
    return members;
  }
}

function recordChange(change: GroupChange): RecordChange {
  if (change.kind === 'group') return { kind: 'group', key: change.name, value: change.record };
  return { kind: 'member', key: agentIdText(change.id), value: { groups: [...change.groups] } };
}
