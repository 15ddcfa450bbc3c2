import { expect } from 'chai';
import { QueryStatistics } from '../../../../daemons/db/query-statistics.js';
import { dbContract } from '../../../../lib/bus/contracts/db.js';

describe('Statistics of svc-db', () => {
  it('count what is asked and the time it takes, by the tables it is about', async () => {
    let clock = 0;
    const statistics = new QueryStatistics({ startedAt: 5_000, now: () => 65_999, monotonic: () => clock });
    const took = (ms: number) => () => {
      clock += ms;
      return Promise.resolve();
    };
    const handlers = statistics.counting({
      'agents.list': took(7),
      'agents.membership': took(3),
      'agents.labels': took(0.4),
      'groups.sums': took(2),
      'fim.apply': took(20),
      'fim.sync': took(1),
      'fim.sync_all': took(2),
      'sca.apply': took(6),
      'sca.checks': took(5),
      'rootcheck.list': (): Promise<never> => {
        clock += 4;
        throw new Error('refused');
      },
      ping: took(1),
    });
    for (const name of ['agents.list', 'agents.list', 'agents.membership', 'agents.labels', 'groups.sums'] as const) {
      await handlers[name]();
    }
    for (const name of ['fim.apply', 'fim.sync', 'fim.sync_all', 'sca.apply', 'sca.checks', 'ping'] as const) {
      await handlers[name]();
    }
    const failure = await handlers['rootcheck.list']().catch((error: unknown) => error);
    expect(failure, 'it fails as before').to.be.an('error');

    const { metrics, ...rest } = statistics.report() as { metrics: object };
    expect(rest).to.deep.equal({ uptime: 5, timestamp: 65, name: 'wazuh-db' });
    const received = 'queries.received_breakdown.';
    const time = 'time.execution_breakdown.';
    for (const [path, value] of Object.entries({
      'queries.received': 12,
      [`${received}agent`]: 6,
      [`${received}agent_breakdown.tables.sca`]: 2,
      [`${received}agent_breakdown.tables.syscheck.apply`]: 1,
      [`${received}agent_breakdown.tables.rootcheck.list`]: 1,
      [`${received}agent_breakdown.tables.sync.dbsync`]: 2,
      [`${received}global`]: 5,
      [`${received}global_breakdown.tables.agent.list`]: 2,
      [`${received}global_breakdown.tables.agent.reset-connections`]: 0,
      [`${received}global_breakdown.tables.belongs.membership`]: 1,
      [`${received}global_breakdown.tables.group.sums`]: 1,
      [`${received}global_breakdown.tables.labels.labels`]: 1,
      [`${received}wazuhdb`]: 1,
      [`${received}wazuhdb_breakdown.ping`]: 1,
      [`${received}mitre`]: 0,
      'time.execution': 58,
      [`${time}agent`]: 38,
      [`${time}agent_breakdown.tables.sca`]: 11,
      [`${time}agent_breakdown.tables.syscheck.apply`]: 20,
      [`${time}agent_breakdown.tables.sync.dbsync`]: 3,
      [`${time}global_breakdown.tables.agent.list`]: 14,
    })) {
      expect(metrics, path).to.have.nested.property(path, value);
    }
    expect(metrics).to.have.nested.property(`${received}task_breakdown`).that.is.empty;
  });

  it('have a place for every method', () => {
    const statistics = new QueryStatistics({ startedAt: 0, now: () => 0, monotonic: () => 0 });
    const leaves = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, one) => sum + leaves(one), 0)
        : 1;
    const { metrics } = statistics.report() as { metrics: { queries: { received_breakdown: object } } };
    // Four methods of the synchronisation share one, so do three of backups and four of policies; five are the totals, thirteen are
    // never asked for.
    expect(leaves(metrics.queries.received_breakdown)).to.equal(Object.keys(dbContract.methods).length - 8 + 5 + 13);
    expect(metrics).to.have.deep.nested.property('queries.received_breakdown.agent_breakdown.db', {
      ...{ begin: 0, close: 0, commit: 0, get_fragmentation: 0, remove: 0, sleep: 0, sql: 0, vacuum: 0 },
    });
    expect(metrics).to.have.nested.property('queries.received_breakdown.global_breakdown.db.backup', 0);
  });
});
