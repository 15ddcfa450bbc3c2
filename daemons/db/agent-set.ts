import { AGENT_FIELDS, type AgentField } from './agent-fields.js';
import { type AgentRecord, AgentRow, SharedValues } from './agent-record.js';
import { type GroupList, GroupLists } from './group-lists.js';
import { Lookup } from './lookup.js';
import { MembershipLog } from './membership-log.js';
import { type RowSource, SortedIndex } from './sorted-index.js';

const LAST_KEEPALIVE = 'lastKeepAlive';
const GROUP_CONFIG_STATUS = 'group_config_status';

/** Fields of the API that a member of a record decides. */
const FIELDS_OF_MEMBER: { readonly [M in keyof AgentRecord]-?: readonly string[] } = {
  name: ['name'],
  ip: ['ip'],
  registerIP: ['registerIP', 'ip'],
  os: [...AGENT_FIELDS.keys()].filter((name) => name.startsWith('os.') && name !== 'os.uname'),
  uname: ['os.uname'],
  version: ['version'],
  configSum: ['configSum'],
  mergedSum: ['mergedSum', GROUP_CONFIG_STATUS],
  manager: ['manager'],
  nodeName: ['node_name'],
  dateAdd: ['dateAdd'],
  groups: ['group', GROUP_CONFIG_STATUS],
  status: ['status', GROUP_CONFIG_STATUS],
  statusCode: ['status_code'],
  disconnectionTime: ['disconnection_time'],
  claim: [],
  revision: [],
};
const MEMBERS = Object.keys(FIELDS_OF_MEMBER) as (keyof AgentRecord)[];

/** All agents in memory, with the indexes that lists and look-ups are served from. It knows no disk. */
export class AgentSet {
  /** By name in lower case. */
  readonly byName = new Lookup();
  /** By current address in lower case. */
  readonly byAddress = new Lookup();
  /** By registered address in lower case, without its mask. */
  readonly byRegisteredAddress = new Lookup();
  readonly byGroup = new Lookup();
  readonly memberships: MembershipLog;
  readonly #lists = new GroupLists();
  readonly #rows = new Map<number, AgentRow>();
  readonly #shared = new SharedValues();
  readonly #freeSlots: number[] = [];
  #slots = 0;
  #byId: AgentRow[] | undefined;
  readonly #indexes: ReadonlyMap<string, SortedIndex>;

  constructor(memberships = new MembershipLog()) {
    this.memberships = memberships;
    const source: RowSource = {
      byId: () => this.byId(),
      slots: () => this.#slots,
      has: (row) => this.#rows.get(row.id) === row,
    };
    this.#indexes = new Map(
      [...AGENT_FIELDS.values()].map(({ name, sortKey }) => [name, new SortedIndex(source, sortKey)]),
    );
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: number): AgentRow | undefined {
    return this.#rows.get(id);
  }

  values(): Iterable<AgentRow> {
    return this.#rows.values();
  }

  /** In order of their ids. */
  byId(): readonly AgentRow[] {
    this.#byId ??= [...this.#rows.values()].sort((a, b) => a.id - b.id);
    return this.#byId;
  }

  sorted(field: AgentField): SortedIndex {
    const index = this.#indexes.get(field.name);
    if (index === undefined) throw new TypeError(`agents have no field '${field.name}'`);
    return index;
  }

  /** Adds an agent or replaces its record. */
  set(id: number, given: AgentRecord): AgentRow {
    const row = this.#rows.get(id);
    const list = row?.record.groups === given.groups ? row.groupList : this.#lists.of(given.groups);
    const record = this.#shared.share(given, list.names, row?.record);
    if (row === undefined) return this.#insert(id, record, list);
    const before = row.record;
    const changed = MEMBERS.filter((member) => before[member] !== record[member]);
    if (changed.length === 0) return row;
    this.#unlink(row);
    if (list !== row.groupList) this.memberships.note(id);
    row.record = record;
    row.groupList = list;
    this.#link(row);
    for (const member of changed) {
      for (const field of FIELDS_OF_MEMBER[member]) this.#indexes.get(field)?.touch(row);
    }
    return row;
  }

  /** @param time epoch seconds */
  setKeepAlive(row: AgentRow, time: number | undefined): void {
    if (row.lastKeepAlive === time) return;
    row.lastKeepAlive = time;
    this.#indexes.get(LAST_KEEPALIVE)?.touch(row);
  }

  /** Sums of the merged files there are, by their groups joined by `,`. */
  get mergedSums(): ReadonlyMap<string, string> {
    return this.#lists.sums;
  }

  /** The lists of groups that agents have. */
  get groupLists(): Iterable<GroupList> {
    return this.#lists.values();
  }

  /** @param md5 of the merged file for these groups; undefined when there is none */
  setMergedSum(groups: string, md5: string | undefined): void {
    this.#lists.setSum(groups, md5);
    this.#indexes.get(GROUP_CONFIG_STATUS)?.reset();
  }

  delete(id: number): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    this.#byId = undefined;
    this.#unlink(row);
    this.memberships.note(id);
    this.#freeSlots.push(row.slot);
    for (const index of this.#indexes.values()) index.touch(row);
  }

  #insert(id: number, record: AgentRecord, list: GroupList): AgentRow {
    const row = new AgentRow(id, this.#freeSlots.pop() ?? this.#slots++, record, list);
    this.#rows.set(id, row);
    // Ids mostly grow, and then the order need not be made anew.
    const last = this.#byId?.at(-1);
    if (last !== undefined && last.id < id) this.#byId?.push(row);
    else this.#byId = undefined;
    this.#link(row);
    this.memberships.note(id);
    for (const index of this.#indexes.values()) index.touch(row);
    return row;
  }

  #link(row: AgentRow): void {
    const { name, registerIP, groups } = row.record;
    this.byName.add(name.toLowerCase(), row);
    this.byAddress.add(row.address.toLowerCase(), row);
    this.byRegisteredAddress.add(withoutMask(registerIP), row);
    this.#lists.take(row.groupList);
    for (const group of groups) this.byGroup.add(group, row);
  }

  #unlink(row: AgentRow): void {
    const { name, registerIP, groups } = row.record;
    this.byName.delete(name.toLowerCase(), row);
    this.byAddress.delete(row.address.toLowerCase(), row);
    this.byRegisteredAddress.delete(withoutMask(registerIP), row);
    this.#lists.release(row.groupList);
    for (const group of groups) this.byGroup.delete(group, row);
  }
}

/** `10.0.0.0/8` -> `10.0.0.0` */
export function withoutMask(address: string): string {
  const end = address.indexOf('/');
  return (end < 0 ? address : address.slice(0, end)).toLowerCase();
}
