import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ApiSettings } from '../../../api/api-settings.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { API_YAML, parseApiConfig } from '../../../lib/config/load-api-config.js';
import { ListCaller } from '../../support/api/api-list.js';
import { TestApi } from '../../support/api/test-api.js';
import { serveContract } from '../../support/bus/serve-contract.js';

const LOG = `2026/05/08 10:00:00 svc-analysisd: INFO: started
2026/05/08 10:00:01 svc-analysisd: ERROR: odd
2026/05/08 10:00:02 svc-remoted: INFO: started
2026/05/08 10:00:03 rootcheck: INFO: scan
2026/05/08 10:00:04 other: INFO: svc-remoted was seen
`;

describe('names of daemons in answers', () => {
  let api: TestApi;
  let lists: ListCaller;
  const start = async (daemonNames: ApiSettings['daemonNames']) => {
    api = await new TestApi().start({ daemonNames });
    lists = new ListCaller(api);
    mkdirSync(api.home.path('logs'), { recursive: true });
    writeFileSync(api.home.path('logs', 'manager.log'), LOG);
  };
  afterEach(() => api.remove());

  const tags = async (query = '') =>
    (await lists.get(`/manager/logs${query}`)).data.affected_items.map(({ tag }) => tag).sort();
  const summary = async () =>
    (await lists.get('/manager/logs/summary')).data.affected_items.map((item) => Object.keys(item)[0]);
  const status = async () => Object.keys((await lists.get('/manager/status')).data.affected_items[0]!);
  const statistics = async (query = '') => {
    const { data } = await lists.get(`/manager/daemons/stats${query}`);
    return [data.affected_items.map(({ name }) => name), data.failed_items.flatMap(({ id }) => id)];
  };
  /** svc-db counts, and the two others do not run. */
  const withDb = async (work: () => Promise<void>) => {
    const counted = { uptime: 0, timestamp: 1, name: 'wazuh-db', metrics: {} };
    const db = await serveContract(api.home, dbContract, { 'statistics.read': () => counted });
    try {
      await work();
    } finally {
      await db.stop();
    }
  };

  it('are those of the reference when api.yaml says so, in state, counters and logs', async () => {
    await start('wazuh');
    const names = await status();
    expect(names).to.have.length(11);
    expect(names.filter((name) => !name.startsWith('wazuh-'))).to.deep.equal([]);
    expect(names).to.include.members(['wazuh-execd', 'wazuh-modulesd']);
    expect(await tags()).to.deep.equal([
      'other',
      'wazuh-analysisd',
      'wazuh-analysisd',
      'wazuh-remoted',
      'wazuh-rootcheck',
    ]);
    expect(await summary()).to.deep.equal(['other', 'wazuh-analysisd', 'wazuh-remoted', 'wazuh-rootcheck']);
    for (const filter of ['tag=wazuh-analysisd', 'tag=svc-analysisd', 'q=tag=wazuh-analysisd', 'search=wazuh-anal']) {
      expect(await tags(`?${filter}`), filter).to.deep.equal(['wazuh-analysisd', 'wazuh-analysisd']);
    }
    expect(await tags('?q=tag=svc-analysisd')).to.deep.equal([]);
    await withDb(async () => {
      expect(await statistics()).to.deep.equal([['wazuh-db'], ['wazuh-analysisd', 'wazuh-remoted']]);
      expect(await statistics('?daemons_list=wazuh-db,svc-remoted')).to.deep.equal([['wazuh-db'], ['wazuh-remoted']]);
    });
  });

  it('are our own else, and parameters take both', async () => {
    await start('svc');
    expect((await status()).filter((name) => !name.startsWith('svc-'))).to.deep.equal([]);
    for (const filter of ['tag=wazuh-analysisd', 'tag=svc-analysisd']) {
      expect(await tags(`?${filter}`), filter).to.deep.equal(['svc-analysisd', 'svc-analysisd']);
    }
    expect(await summary()).to.deep.equal(['other', 'svc-analysisd', 'svc-remoted', 'svc-rootcheck']);
    await withDb(async () => {
      expect(await statistics('?daemons_list=wazuh-db')).to.deep.equal([['svc-db'], []]);
    });
  });

  it('include svc-monitord and svc-execd when they are named, by either name', async () => {
    await start('wazuh');
    const counted = { uptime: 0, timestamp: 1, metrics: { outputs: [] } };
    const monitord = await serveContract(api.home, monitordContract, { 'statistics.read': () => counted });
    try {
      expect(await statistics('?daemons_list=svc-execd,wazuh-monitord')).to.deep.equal([
        ['wazuh-monitord'],
        ['wazuh-execd'],
      ]);
      expect(await statistics()).to.deep.equal([[], ['wazuh-analysisd', 'wazuh-db', 'wazuh-remoted']]);
    } finally {
      await monitord.stop();
    }
  });

  it('are one of two words in api.yaml', async () => {
    await start('svc');
    const read = (text: string) => parseApiConfig(text, API_YAML).config.compatibility.daemon_names;
    expect(read('')).to.equal('svc');
    expect(read('compatibility:\n  daemon_names: Wazuh\n')).to.equal('wazuh');
    expect(() => read('port: 1\ncompatibility:\n  daemon_names: ossec\n')).to.throw(
      "'compatibility.daemon_names': must be svc or wazuh (line 3)",
    );
    expect(() => read('compatibility:\n  names: svc\n')).to.throw("'compatibility.names' is not known (line 2)");
  });
});
