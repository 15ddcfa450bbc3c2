import { groupName } from '../../../lib/bus/contracts/db-groups.js';
import { RECORD_SCHEMAS } from '../../../lib/cluster/record-kinds.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import type { LimitedLogger } from '../../../lib/log/logger.js';
import { DEFAULT_GROUP } from '../membership.js';
import type { GroupRecord } from '../registry-store.js';

/** Kinds of shared records that say which agents, groups and members there are. */
export const GROUP_RECORD_KINDS = ['agent', 'group', 'member'] as const;

/** Different lists of groups that are kept once; more are agents that have one each. */
const MAX_SHARED_LISTS = 20_000;
const DEFAULT_LIST: readonly string[] = [DEFAULT_GROUP];

/** What records were about. */
export type Touched = { readonly groups: ReadonlySet<string>; readonly members: ReadonlySet<number> };

/** @returns undefined for what is no id of an agent: 000 has no groups */
export function agentIdOf(key: string): number | undefined {
  return /^\d{3,8}$/.test(key) && Number(key) > 0 ? Number(key) : undefined;
}

/**
 * What the shared records say of groups and their members: whoever has the same records has the same groups, in whatever order
 * the records came. An agent without a record is in `default`, and so is one whose groups are all gone.
 */
export class GroupRecords {
  readonly groups = new Map<string, GroupRecord>();
  readonly #members = new Map<number, readonly string[]>();
  readonly #agents = new Set<number>();
  /** Agents whose records name groups that there are not. */
  readonly #odd = new Set<number>();
  readonly #lists = new Map<string, readonly string[]>();

  /** @param log is told of records that are none */
  constructor(private readonly log: Pick<LimitedLogger, 'warn'>) {}

  get memberCount(): number {
    return this.#members.size;
  }

  hasMember(id: number): boolean {
    return this.#members.has(id);
  }

  /** Agents whose groups depend on groups that may come yet. */
  get odd(): Iterable<number> {
    return this.#odd;
  }

  clear(): void {
    this.groups.clear();
    this.#members.clear();
    this.#agents.clear();
    this.#odd.clear();
  }

  /** Takes records over as they are now; null is a removed one. */
  take(records: Iterable<SharedRecord>): Touched {
    const touched = { groups: new Set<string>(), members: new Set<number>() };
    for (const record of records) {
      const isTaken =
        record.kind === 'group' ? this.#takeGroup(record, touched.groups) : this.#takeOfAgent(record, touched.members);
      if (!isTaken) this.log.warn(`Record '${record.kind} ${record.key}' of the cluster is none of this version's`);
    }
    return touched;
  }

  /** Groups of an agent by priority; never none. */
  groupsOf(id: number): readonly string[] {
    const listed = this.#members.get(id);
    if (listed === undefined) return DEFAULT_LIST;
    const there = listed.filter((name, at) => this.#isThere(name) && listed.indexOf(name) === at);
    if (there.length === listed.length) this.#odd.delete(id);
    else this.#odd.add(id);
    return there.length === 0 ? DEFAULT_LIST : there.length === listed.length ? listed : there;
  }

  /** Those that have one of these groups, with all that their records name. */
  *membersOf(groups: ReadonlySet<string>): Generator<[id: number, groups: readonly string[]]> {
    for (const member of this.#members) if (member[1].some((name) => groups.has(name))) yield member;
  }

  /** Whether there is a record of what groups an agent has that there is not. */
  isLeftOver(id: number): boolean {
    return this.#members.has(id) && !this.#agents.has(id);
  }

  leftOvers(): number[] {
    return [...this.#members.keys()].filter((id) => !this.#agents.has(id));
  }

  #isThere(name: string): boolean {
    return name === DEFAULT_GROUP || this.groups.has(name);
  }

  #takeGroup({ key, value }: SharedRecord, touched: Set<string>): boolean {
    // Names become names of folders.
    if (!groupName.safeParse(key).success) return false;
    touched.add(key);
    const record = value === null ? undefined : RECORD_SCHEMAS.group.safeParse(value);
    if (record?.success === true) this.groups.set(key, record.data);
    else this.groups.delete(key);
    return record?.success !== false;
  }

  #takeOfAgent({ kind, key, value }: SharedRecord, touched: Set<number>): boolean {
    const id = agentIdOf(key);
    // Of the agents' kind there is more than agents: which ids were given.
    if (id === undefined) return kind === 'agent';
    if (kind === 'agent') {
      if (value === null) this.#agents.delete(id);
      else this.#agents.add(id);
      return true;
    }
    touched.add(id);
    const record = value === null ? undefined : RECORD_SCHEMAS.member.safeParse(value);
    if (record?.success === true) {
      this.#members.set(id, this.#shared(record.data.groups));
    } else {
      this.#members.delete(id);
      this.#odd.delete(id);
    }
    return record?.success !== false;
  }

  /** One list for all agents that have the same. */
  #shared(groups: readonly string[]): readonly string[] {
    const key = groups.join(',');
    let list = this.#lists.get(key);
    if (list === undefined) {
      if (this.#lists.size >= MAX_SHARED_LISTS) this.#lists.clear();
      list = groups;
      this.#lists.set(key, list);
    }
    return list;
  }
}
