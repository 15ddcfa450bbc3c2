import { expect } from 'chai';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { RemotedServer } from '../../support/remoted/remoted-server.js';

const LIST = '/rootcheck/{agent_id}';
const LAST_SCAN = '/rootcheck/{agent_id}/last_scan';
const DAY = 86_400_000;
const STARTING = 'Starting rootcheck scan.';
const ENDING = 'Ending rootcheck scan.';
const HIDDEN = "File '/dev/x' present on /dev. Possible hidden file.";
const ROOTKIT = "Rootkit 'Demo' detected by the presence of file '/tmp/demo'.";
const AUDIT =
  'System Audit: CIS - Debian Linux - 1.4 - Robust partition scheme {CIS: 1.4 Debian Linux} {PCI_DSS: 2.2.4}.';

describe('rootcheck over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  let position = 0;

  const told = async (at: number, ...messages: readonly string[]) => {
    const operations = messages.map((text) => ({
      position: position++,
      agent: '001',
      kind: 'rootcheck' as const,
      at,
      message: Buffer.from(text),
    }));
    await db.stores.files.apply({ journal: 'one', operations, upTo: position });
  };

  beforeEach(async () => {
    position = 0;
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(60);
    await db.registry.edit((edit) => {
      edit.setAgent(1, { ...db.registry.agents.get(1)!.record, status: 'active' });
    });
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const list = (query = '') => lists.get(`/rootcheck/001${query}`, LIST);
  const logs = async (query: string) => (await list(query)).data.affected_items.map(({ log }) => log);
  const problem = async (method: string, path: string, template: string) => {
    const answer = await api.call(method, path);
    lists.checker.check(method, template, answer);
    const { error, detail } = answer.json() as { error: number; detail: string };
    return [answer.status, error, detail];
  };
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const iso = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  /** A scan three days ago that found two things, and one of today that found one of them and another one. */
  const fill = async () => {
    await told(api.now - 3 * DAY, STARTING, HIDDEN, AUDIT, ENDING);
    await told(api.now - 2000, STARTING);
    await told(api.now - 1000, AUDIT, ROOTKIT);
    await told(api.now, ENDING);
  };
  const never = () => db.registry.agents.byId().find(({ record }) => record.status === 'never_connected')!.idText;

  it('shows findings, the newest first, and what is solved', async () => {
    await fill();
    const answer = await list();
    expect(answer).to.deep.include({ message: 'All selected rootcheck information was returned', error: 0 });
    expect(answer.data.total_affected_items).to.equal(3);
    const items = answer.data.affected_items;
    expect(items.at(-1)).to.deep.equal({
      status: 'solved',
      log: HIDDEN,
      date_first: iso(api.now - 3 * DAY),
      date_last: iso(api.now - 3 * DAY),
    });
    expect(items.find(({ log }) => log === AUDIT)).to.deep.equal({
      status: 'outstanding',
      log: AUDIT,
      date_first: iso(api.now - 3 * DAY),
      date_last: iso(api.now - 1000),
      pci_dss: '2.2.4',
      cis: '1.4 Debian Linux',
    });
    expect(await logs('?status=solved')).to.deep.equal([HIDDEN]);
    expect(await logs('?status=Outstanding&sort=log')).to.deep.equal([ROOTKIT, AUDIT]);
    expect(await logs('?pci_dss=2.2.4')).to.deep.equal([AUDIT]);
    expect(await logs('?cis=1.4%20debian%20linux')).to.deep.equal([AUDIT]);
    expect(await logs('?cis=1.5')).to.deep.equal([]);
    expect(await logs('?search=ROOTKIT')).to.deep.equal([ROOTKIT]);
    expect(await logs('?q=date_last>1d')).to.deep.equal([HIDDEN]);
    expect(await logs('?q=cis=null;status=solved')).to.deep.equal([HIDDEN]);
    expect(await logs('?sort=log&offset=1&limit=1')).to.deep.equal([ROOTKIT]);
    expect((await list('?select=cis&distinct=true')).data.affected_items).to.deep.equal([{ cis: '1.4 Debian Linux' }]);
    expect(await list('?status=solved&search=Rootkit')).to.deep.include({
      message: 'No rootcheck information was returned',
      error: 0,
    });
  });

  it('refuses what it cannot answer', async () => {
    const refused = (query: string) => problem('GET', `/rootcheck/001?${query}`, LIST);
    expect(await refused('status=gone')).to.deep.equal([
      500,
      1603,
      'Invalid status. Valid statuses are: all, solved and outstanding',
    ]);
    const fields = 'cis, date_first, date_last, log, pci_dss, status';
    expect(await refused('select=file')).to.deep.equal([
      400,
      1724,
      `Not a valid select field: Allowed select fields: ${fields}. Fields: file`,
    ]);
    expect(await refused('sort=file')).to.deep.equal([
      400,
      1403,
      `Not a valid sort field: Allowed sort fields: ${fields}. Fields: file`,
    ]);
    expect((await refused('q=file=1')).slice(0, 2)).to.deep.equal([400, 1408]);
    expect((await problem('GET', '/rootcheck/999', LIST)).slice(0, 2)).to.deep.equal([404, 1701]);
    expect((await problem('GET', `/rootcheck/${never()}`, LIST)).slice(0, 2)).to.deep.equal([400, 2007]);
  });

  it('puts a long list together from several answers of svc-db', async () => {
    const count = 300;
    // More bytes than a message of the bus holds.
    const text = 'x'.repeat(60_000);
    for (let from = 0; from < count; from += 100) {
      await told(api.now, ...Array.from({ length: 100 }, (_none, index) => `Rootkit '${from + index}' ${text}`));
    }
    expect(new Set(await logs('?limit=1000')).size).to.equal(count);
  });

  it('says when the last scan was', async () => {
    const scan = async (id = '001') => {
      const answer = await lists.get(`/rootcheck/${id}/last_scan`, LAST_SCAN);
      expect(answer).to.include({ message: 'Last rootcheck scan of the agent was returned', error: 0 });
      return answer.data.affected_items;
    };
    expect(await scan()).to.deep.equal([{ start: null, end: null }]);
    await told(api.now, STARTING);
    expect(await scan()).to.deep.equal([{ start: iso(api.now), end: null }]);
    await told(api.now + 5000, ENDING);
    expect(await scan()).to.deep.equal([{ start: iso(api.now), end: iso(api.now + 5000) }]);
    await told(api.now + 9000, STARTING);
    expect(await scan()).to.deep.equal([{ start: iso(api.now + 9000), end: null }]);
    expect(await scan(never())).to.deep.equal([{ start: null, end: null }]);
    expect((await problem('GET', '/rootcheck/999/last_scan', LAST_SCAN)).slice(0, 2)).to.deep.equal([404, 1701]);
  });

  it('orders connected agents to scan', async () => {
    const remoted = await RemotedServer.start(api.home);
    try {
      const some = await lists.call('PUT', '/rootcheck?agents_list=001,999');
      expect(some).to.deep.include({ message: 'Rootcheck scan was not restarted on some agents', error: 2 });
      expect(some.data.affected_items).to.deep.equal(['001']);
      expect(failures(some)).to.deep.equal([[1701, '999']]);
      expect(remoted.sent.splice(0)).to.deep.equal([{ ids: ['001'], message: 'syscheck restart' }]);
      const all = await lists.call('PUT', '/rootcheck');
      expect(all).to.deep.include({ message: 'Rootcheck scan was restarted on returned agents', error: 0 });
      expect(remoted.sent[0]?.ids).to.deep.equal(all.data.affected_items);
      const none = await lists.call('PUT', `/rootcheck?agents_list=${never()}`);
      expect(none).to.deep.include({ message: 'No rootcheck scan was restarted', error: 1 });
      expect(failures(none)).to.deep.equal([[1707, never()]]);
    } finally {
      await remoted.stop();
    }
  });

  it('forgets findings', async () => {
    const clear = (id: string) => lists.call('DELETE', `/rootcheck/${id}`, { template: LIST });
    await fill();
    const none = await clear('999');
    expect(none).to.deep.include({ message: 'No rootcheck database was cleared', error: 1 });
    expect(failures(none)).to.deep.equal([[1701, '999']]);
    expect(await logs('')).to.have.length(3);
    const cleared = await clear('001');
    expect(cleared).to.deep.include({ message: 'Rootcheck database was cleared on returned agents', error: 0 });
    expect(cleared.data.affected_items).to.deep.equal(['001']);
    expect(await logs('')).to.deep.equal([]);
    await told(api.now, HIDDEN);
    expect(await logs('')).to.deep.equal([HIDDEN]);
  });

  it('is for those who may, agent by agent', async () => {
    const user = { name: 'someone', password: 'Other-42-password' };
    await addUser(api, user, [policy('allow', 'rootcheck:read,syscheck:run', 'agent:id:001')]);
    const token = await api.login(user.name, user.password);
    const call = async (method: string, path: string) => {
      const answer = await api.request(method, path, { headers: { authorization: `Bearer ${token}` } });
      return [answer.status, (answer.json() as { error: number }).error];
    };
    expect(await call('GET', '/rootcheck/001')).to.deep.equal([200, 0]);
    expect(await call('GET', '/rootcheck/001/last_scan')).to.deep.equal([200, 0]);
    expect(await call('GET', '/rootcheck/002')).to.deep.equal([403, 4000]);
    expect(await call('GET', '/rootcheck/002/last_scan')).to.deep.equal([403, 4000]);
    expect(await call('DELETE', '/rootcheck/001')).to.deep.equal([403, 4000]);
    expect(await call('PUT', '/rootcheck?agents_list=001')).to.deep.equal([403, 4000]);
    expect(await call('PUT', '/rootcheck'), 'nothing is allowed, and nobody is told').to.deep.equal([200, 0]);
  });
});
