import { dbContract } from '../../lib/bus/contracts/db.js';

/** What is counted of one method. @property ms from its call to its answer, milliseconds: those at once count side by side */
type CallTally = { received: number; ms: number };
type Tree = { [name: string]: number | Tree };

const zeros = (...names: readonly string[]): Tree => Object.fromEntries(names.map((name) => [name, 0]));

/** What the reference counts and nobody can ask for here: scripts find it at 0. */
const NEVER_ASKED: Tree = {
  agent: {
    db: zeros('begin', 'close', 'commit', 'get_fragmentation', 'remove', 'sleep', 'sql', 'vacuum'),
    tables: zeros('ciscat'),
  },
  global: { db: zeros('backup', 'get_fragmentation', 'sleep', 'sql', 'vacuum') },
};

type AnyMethod = (params: never) => unknown;

export type QueryStatisticsParts = {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number;
};

/** Methods that are not of the part that their first word says: the membership of agents has a table of its own. */
const OTHER_TABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['agents.labels', ['labels']],
  ['agents.membership', ['belongs']],
  ['agents.memberships', ['belongs']],
]);
/** Messages of the synchronisation are one number there. */
const SYNC_METHODS: ReadonlySet<string> = new Set([
  ...['fim.sync', 'fim.sync_all', 'inventory.sync', 'inventory.sync_all'],
]);

/** Counts the calls of svc-db and the time they take, for the statistics of daemons (daemons-and-config.md 11.3). */
export class QueryStatistics {
  readonly #parts: QueryStatisticsParts;
  readonly #tallies = new Map<string, CallTally>(
    Object.keys(dbContract.methods).map((method) => [method, { received: 0, ms: 0 }]),
  );

  constructor(parts: QueryStatisticsParts) {
    this.#parts = parts;
  }

  /** The handlers with a count of each call, also of one that fails. */
  counting<H extends object>(handlers: H): H {
    const counted = Object.entries(handlers).map(([name, handle]) => [name, this.#counted(name, handle as AnyMethod)]);
    // The same names, and for each what it answered before.
    return Object.fromEntries(counted) as H;
  }

  /** Answer of `statistics.read`, with the tree that the reference has. What this version has not is 0 or empty. */
  report(): Record<string, unknown> {
    const queries = this.#tree(({ received }) => received);
    const time = this.#tree(({ ms }) => ms);
    return {
      uptime: Math.floor(this.#parts.startedAt / 1000),
      timestamp: Math.floor(this.#parts.now() / 1000),
      name: 'wazuh-db',
      metrics: {
        queries: { received: queries.total, received_breakdown: queries.breakdown },
        time: { execution: time.total, execution_breakdown: time.breakdown },
      },
    };
  }

  #counted(name: string, handle: AnyMethod): AnyMethod {
    const tally = this.#tallies.get(name) ?? { received: 0, ms: 0 };
    this.#tallies.set(name, tally);
    return async (params) => {
      const startedAt = this.#parts.monotonic();
      tally.received += 1;
      try {
        return await handle(params);
      } finally {
        tally.ms += this.#parts.monotonic() - startedAt;
      }
    };
  }

  #tree(read: (tally: CallTally) => number): { total: number; breakdown: Tree } {
    const parts: Tree = structuredClone(NEVER_ASKED);
    const totals = { agent: 0, global: 0, mitre: 0, task: 0, wazuhdb: 0 };
    for (const [method, tally] of this.#tallies) {
      const { part, path } = placeOf(method);
      const value = Math.round(read(tally));
      totals[part] += value;
      add(parts, [part, ...path], value);
    }
    const breakdown: Tree = {};
    for (const [part, total] of Object.entries(totals)) {
      breakdown[part] = total;
      breakdown[`${part}_breakdown`] = parts[part] ?? {};
    }
    return { total: Object.values(totals).reduce((sum, value) => sum + value, 0), breakdown };
  }
}

/** Where a method stands in the tree. */
function placeOf(method: string): { part: 'agent' | 'global' | 'wazuhdb'; path: readonly string[] } {
  const [subject = '', name = ''] = method.split('.');
  const leaf = name.replaceAll('_', '-');
  if (SYNC_METHODS.has(method)) return { part: 'agent', path: ['tables', 'sync', 'dbsync'] };
  const table = OTHER_TABLES.get(method);
  if (table !== undefined) return { part: 'global', path: ['tables', ...table, leaf] };
  if (subject === 'backups') return { part: 'global', path: ['db', 'backup'] };
  if (subject === 'fim') return { part: 'agent', path: ['tables', 'syscheck', leaf] };
  if (subject === 'rootcheck') return { part: 'agent', path: ['tables', 'rootcheck', leaf] };
  if (subject === 'inventory') return { part: 'agent', path: ['tables', 'syscollector', leaf] };
  if (subject === 'sca') return { part: 'agent', path: ['tables', 'sca'] };
  if (subject === 'agents') return { part: 'global', path: ['tables', 'agent', leaf] };
  if (subject === 'groups') return { part: 'global', path: ['tables', 'group', leaf] };
  return { part: 'wazuhdb', path: [leaf === '' ? subject : method.replaceAll('.', '-')] };
}

function add(tree: Tree, path: readonly string[], value: number): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  const below = tree[name];
  if (rest.length === 0) {
    tree[name] = value + (typeof below === 'number' ? below : 0);
    return;
  }
  const branch = typeof below === 'object' ? below : {};
  tree[name] = branch;
  add(branch, rest, value);
}
