import * as z from 'zod';
import { AGENT_STATUSES, agentOs } from '../../lib/bus/contracts/db-agents.js';
import type { GroupList } from './group-lists.js';
import { ownText } from './own-text.js';

/**
 * An agent as it is stored (agents-and-groups.md 10.5). The last keepalive has a table of its own; `group_config_status`
 * is not stored, see {@link AgentRow.groupConfigStatus}.
 */
export const agentRecord = z.object({
  name: z.string(),
  /** Address of the last full keepalive. */
  ip: z.string().optional(),
  registerIP: z.string(),
  os: agentOs.omit({ uname: true }).optional(),
  /** Apart from the rest of the system, which many agents share: this one names the host. */
  uname: z.string().optional(),
  version: z.string().optional(),
  configSum: z.string().optional(),
  mergedSum: z.string().optional(),
  manager: z.string().optional(),
  nodeName: z.string(),
  /** Epoch seconds. */
  dateAdd: z.number().int(),
  /** By priority. */
  groups: z.array(z.string()).readonly(),
  status: z.enum(AGENT_STATUSES),
  statusCode: z.number().int(),
  /** Epoch seconds, 0 for none. */
  disconnectionTime: z.number().int(),
  /** In a cluster: what the row of the agent is told from older ones by (daemons/db/presence/row-version.ts). */
  claim: z.number().int().optional(),
  revision: z.number().int().optional(),
});

export type AgentRecord = Readonly<z.output<typeof agentRecord>>;
export type AgentOs = NonNullable<AgentRecord['os']>;

/** Number of the manager itself. */
export const MANAGER_ID = 0;

/** `001` */
export function agentIdText(id: number): string {
  return String(id).padStart(3, '0');
}

/** An agent of which nothing is known but its key. @param dateAdd epoch seconds */
export function newAgent(name: string, registerIP: string, dateAdd: number, groups: readonly string[]): AgentRecord {
  return {
    name,
    registerIP,
    nodeName: 'unknown',
    dateAdd,
    groups,
    status: 'never_connected',
    statusCode: 0,
    disconnectionTime: 0,
  };
}

/** An agent in memory. Its record is replaced whole, so that the one before can be put back. */
export class AgentRow {
  record: AgentRecord;
  /** Epoch seconds; undefined when it never connected. */
  lastKeepAlive: number | undefined;
  /** Its groups, those of the record. */
  groupList: GroupList;
  /** In a cluster: when this node has heard it last, as `Ownership` counts; 0: not since it became this node's. */
  heard = 0;
  /** In a cluster: whether another node had it, and it has not told all of itself here yet. */
  partial = false;
  /** In a cluster: the batch in which this process told the row to other nodes last; 0: in none. */
  toldAt = 0;
  /** In a cluster: the batch of its node that the row came with, or a later one. */
  heardAt = 0;

  /** @param slot place of the agent in arrays that hold something for each */
  constructor(
    readonly id: number,
    readonly slot: number,
    record: AgentRecord,
    groupList: GroupList,
  ) {
    this.record = record;
    this.groupList = groupList;
  }

  get idText(): string {
    return agentIdText(this.id);
  }

  /** The reported address, else the registered one. */
  get address(): string {
    return this.record.ip ?? this.record.registerIP;
  }

  /**
   * Whether it has the merged file of its groups (agents-and-groups.md 6.7), as it told with its last keepalive; it has not
   * while that of several groups is still to be made. Worked out when asked for: a new file of a group with very many
   * agents changes no agent.
   */
  get groupConfigStatus(): 'synced' | 'not synced' {
    if (this.record.status === 'never_connected') return 'not synced';
    return this.groupList.isInStep(this.record.mergedSum) ? 'synced' : 'not synced';
  }
}

const ANY_ADDRESS = 'any';
const STATUSES = new Map(AGENT_STATUSES.map((status) => [status, status] as const));

/** Different values of one kind that are kept at most; more are agents that make them up. */
const MAX_SHARED = 20_000;

/** Lets the agents share what many of them have: systems, versions and sums; GroupLists does so with their groups. */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #systems = new Map<string, AgentOs>();

  /**
   * The same record with shared values in it, and with texts of its own where they are not shared.
   * @param groups its groups as they are shared
   * @param before what the agent had, whose texts are taken where they are equal
   */
  share(record: AgentRecord, groups: readonly string[], before?: AgentRecord): AgentRecord {
    const text = (value: string | undefined) =>
      value === undefined ? undefined : shared(this.#texts, value, () => ownText(value));
    const own = (value: string, old: string | undefined) => (value === old ? old : ownText(value));
    return {
      // Always the same members in the same order: one hidden class for all agents.
      name: own(record.name, before?.name),
      ip: record.ip === undefined ? undefined : own(record.ip, before?.ip),
      registerIP: record.registerIP === ANY_ADDRESS ? ANY_ADDRESS : own(record.registerIP, before?.registerIP),
      os: record.os === undefined ? undefined : this.#system(record.os),
      uname: record.uname === undefined ? undefined : own(record.uname, before?.uname),
      version: text(record.version),
      configSum: text(record.configSum),
      mergedSum: text(record.mergedSum),
      manager: text(record.manager),
      nodeName: text(record.nodeName) ?? record.nodeName,
      dateAdd: record.dateAdd,
      groups,
      status: STATUSES.get(record.status) ?? record.status,
      statusCode: record.statusCode,
      disconnectionTime: record.disconnectionTime,
      claim: record.claim,
      revision: record.revision,
    };
  }

  #system(os: AgentOs): AgentOs {
    return shared(this.#systems, JSON.stringify(os), () => JSON.parse(JSON.stringify(os)) as AgentOs);
  }
}

function shared<T>(known: Map<string, T>, key: string, make: () => T): T {
  let value = known.get(key);
  if (value === undefined) {
    if (known.size >= MAX_SHARED) known.clear();
    value = make();
    known.set(ownText(key), value);
  }
  return value;
}
