import { expect } from 'chai';
import { syscheckdContract } from '../../../lib/bus/contracts/syscheckd.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { DbServer } from '../../support/db/db-server.js';
import { RemotedServer } from '../../support/remoted/remoted-server.js';
import { fileAttributes, fimEvent } from '../../support/syscheckd/fim-kit.js';

const LIST = '/syscheck/{agent_id}';
const LAST_SCAN = '/syscheck/{agent_id}/last_scan';
const COUNT = 40;
const FIRST = 1_700_000_000;
/** `md5:sha1` and so on are those of the content `file 7`. */
const SEVENTH = fileAttributes({ content: 'file 7', mtime: FIRST + 7, inode: 107 });

type Problem = { error: number; detail: string; title: string };

describe('file integrity over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  let position = 0;

  const ids = (status: string) =>
    db.registry.agents
      .byId()
      .filter(({ record }) => record.status === status)
      .map(({ idText }) => idText)
      .filter((id) => id !== '000');
  const events = async (agent: string, messages: readonly string[]) => {
    const operations = messages.map((text) => ({
      position: position++,
      agent,
      kind: 'syscheck' as const,
      at: api.now,
      message: Buffer.from(text),
    }));
    await db.stores.files.apply({ journal: 'one', operations, upTo: position });
  };
  const added = (path: string, index: number) =>
    fimEvent('added', path, fileAttributes({ content: `file ${index}`, mtime: FIRST + index, inode: 100 + index }));
  const scanMark = (type: 'scan_start' | 'scan_end', timestamp: number) =>
    JSON.stringify({ type, data: { timestamp } });
  const setVersion = (id: number, version: string | undefined) =>
    db.registry.edit((edit) => {
      const { version: _before, ...record } = db.registry.agents.get(id)!.record;
      edit.setAgent(id, { ...record, status: 'active', ...(version === undefined ? {} : { version }) });
    });

  beforeEach(async () => {
    position = 0;
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(120);
    await setVersion(1, 'Wazuh v4.14.7');
    await setVersion(2, 'Wazuh v3.11.4');
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const list = (query = '', id = '001') => lists.get(`/syscheck/${id}${query}`, LIST);
  const files = async (query: string) => (await list(query)).data.affected_items.map(({ file }) => file);
  const problem = async (method: string, path: string, template: string) => {
    const answer = await api.call(method, path);
    lists.checker.check(method, template, answer);
    const { error, detail } = answer.json() as Problem;
    return [answer.status, error, detail];
  };
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const fill = () =>
    events(
      '001',
      Array.from({ length: COUNT }, (_none, index) => added(`/etc/file-${index}`, index)),
    );

  it('shows a record as the reference does', async () => {
    await events('001', [
      added('/etc/file-7', 7),
      fimEvent('modified', '/etc/file-7', fileAttributes({ content: 'x', mtime: FIRST, inode: 107 })),
      fimEvent('modified', '/etc/file-7', SEVENTH, FIRST + 600),
    ]);
    const answer = await list();
    expect(answer).to.deep.equal({
      data: {
        affected_items: [
          {
            file: '/etc/file-7',
            perm: 'rw-r--r--',
            sha1: SEVENTH['hash_sha1'],
            changes: 3,
            md5: SEVENTH['hash_md5'],
            inode: 107,
            size: 6,
            uid: '0',
            gname: 'root',
            mtime: '2023-11-14T22:13:27Z',
            sha256: SEVENTH['hash_sha256'],
            date: '2023-11-14T22:23:20Z',
            uname: 'root',
            type: 'file',
            gid: '0',
          },
        ],
        total_affected_items: 1,
        total_failed_items: 0,
        failed_items: [],
      },
      message: 'FIM findings of the agent were returned',
      error: 0,
    });
    const octal = fileAttributes({ content: 'y', mtime: 0, inode: 1, perm: '100644' });
    await events('001', [fimEvent('added', '/old', octal)]);
    expect((await list('?file=/OLD')).data.affected_items[0]).to.include({ perm: '100644', mtime: null });
  });

  it('finds records by each of their sums', async () => {
    await fill();
    for (const sum of ['hash_md5', 'hash_sha1', 'hash_sha256'].map((name) => String(SEVENTH[name]))) {
      expect(await files(`?hash=${sum}`)).to.deep.equal(['/etc/file-7']);
      expect(await files(`?hash=${sum.toUpperCase()}&q=size>5`)).to.deep.equal(['/etc/file-7']);
      expect(await files(`?hash=${sum}&q=size>6`)).to.deep.equal([]);
    }
    expect(await files(`?md5=${String(SEVENTH['hash_md5'])}`)).to.deep.equal(['/etc/file-7']);
    expect(await files(`?sha1=${String(SEVENTH['hash_sha1'])}`)).to.deep.equal(['/etc/file-7']);
    expect(await files(`?sha256=${String(SEVENTH['hash_sha256'])}`)).to.deep.equal(['/etc/file-7']);
    expect(await files(`?hash=${'0'.repeat(40)}`)).to.deep.equal([]);
    expect(await files(`?md5=${String(SEVENTH['hash_md5'])}&sha1=${'0'.repeat(40)}`)).to.deep.equal([]);
  });

  it('takes the list parameters', async () => {
    await fill();
    const all = Array.from({ length: COUNT }, (_none, index) => `/etc/file-${index}`);
    expect(await files(''), 'by the time of change').to.deep.equal(all);
    expect(await files('?sort=-mtime')).to.deep.equal(all.toReversed());
    expect(await files('?sort=%2Bfile')).to.deep.equal(all.toSorted());
    const page = await list('?offset=5&limit=3');
    expect(page.data.affected_items.map(({ file }) => file)).to.deep.equal(all.slice(5, 8));
    expect(page.data.total_affected_items).to.equal(COUNT);
    expect(await files('?search=FILE-1')).to.deep.equal(all.filter((file) => file.includes('file-1')));
    expect(await files('?search=-file-1')).to.deep.equal(all.filter((file) => !file.includes('file-1')));
    expect(await files('?q=inode=105,inode>137')).to.deep.equal([5, 38, 39].map((index) => `/etc/file-${index}`));
    expect(await files('?q=(inode=105,inode>137);file~9')).to.deep.equal(['/etc/file-39']);
    expect(await files('?q=mtime<1d')).to.deep.equal([]);
    expect(await files('?q=mtime>1d;inode<102')).to.deep.equal(all.slice(0, 2));
    expect(await files('?file=/etc/FILE-3')).to.deep.equal(['/etc/file-3']);
    expect(await files('?type=registry_key')).to.deep.equal([]);
    expect((await list('?select=size&limit=1')).data.affected_items).to.deep.equal([{ file: all[0], size: 6 }]);
    const distinct = await list('?select=size&distinct=true');
    expect(distinct.data.affected_items).to.deep.equal([{ size: 6 }, { size: 7 }]);
    const summary = (await list('?summary=true&limit=1')).data.affected_items[0]!;
    expect(Object.keys(summary)).to.have.members(['date', 'mtime', 'file']);
    const none = { message: 'No FIM information was returned', error: 0 };
    expect(await list('?file=/none')).to.deep.include(none);
    expect(await list('', '000')).to.deep.include(none);
  });

  it('shows registry keys and values with their access lists', async () => {
    const index = 'a'.repeat(40);
    const perm = { 'S-1-5-32-544': { name: 'Administrators', allowed: ['read_control'] } };
    const attributes = { type: 'registry_value', size: 4, value_type: 'REG_DWORD', hash_md5: 'b'.repeat(32) };
    const value = {
      component: 'fim_registry_value',
      type: 'state',
      data: {
        path: 'HKEY_LOCAL_MACHINE\\Software\\Demo',
        arch: '[x64]',
        value_name: 'Start',
        index,
        version: 3,
        timestamp: FIRST,
        attributes: { ...attributes, perm, checksum: 'c'.repeat(40), attributes: '' },
      },
    };
    await db.stores.files.sync.take('001', Buffer.from(JSON.stringify(value)));
    const expected = { file: value.data.path, arch: '[x64]', value: { name: 'Start', type: 'REG_DWORD' }, perm };
    for (const query of [
      '',
      '?arch=[x64]',
      '?value.name=start',
      '?value.type=REG_DWORD&type=registry_value',
      '?q=value.name~tar',
    ]) {
      expect((await list(query)).data.affected_items[0], query).to.deep.include(expected);
    }
    expect((await list('?arch=[x32]')).data.total_affected_items).to.equal(0);
    expect((await list('?select=value.name')).data.affected_items).to.deep.equal([
      { file: value.data.path, value: { name: 'Start' } },
    ]);
  });

  it('refuses what it cannot answer', async () => {
    await fill();
    const refused = (query: string) => problem('GET', `/syscheck/001?${query}`, LIST);
    const [, , selecting] = await refused('select=nonsense');
    expect(selecting).to.match(/^Not a valid select field: Allowed select fields: arch, .*, size, .*Fields: nonsense$/);
    expect((await refused('select=nonsense')).slice(0, 2)).to.deep.equal([400, 1724]);
    const [status, code, sorting] = await refused('sort=-size,nonsense');
    expect([status, code]).to.deep.equal([400, 1403]);
    expect(sorting).to.match(/^Not a valid sort field: Allowed sort fields: arch, .*Fields: nonsense$/);
    expect((await refused('q=nonsense=1')).slice(0, 2)).to.deep.equal([400, 1408]);
    expect((await refused('q=file')).slice(0, 2)).to.deep.equal([400, 1407]);
    expect((await refused('q=mtime>yesterday')).slice(0, 2)).to.deep.equal([400, 1412]);
    for (const query of ['limit=0', 'limit=100001', 'hash=abc', 'arch=x64', 'type=folder', 'summary=1', 'nonsense=1']) {
      expect((await refused(query))[0], query).to.equal(400);
    }
    const noDatabase = (id: string) => [
      400,
      2007,
      `Error retrieving data from Wazuh DB: There is no database for agent ${id}. ` +
        'Please check if the agent has connected to the manager',
    ];
    const [never] = ids('never_connected');
    expect(await problem('GET', `/syscheck/${never!}`, LIST)).to.deep.equal(noDatabase(never!));
    expect(await problem('GET', '/syscheck/999', LIST)).to.deep.equal(noDatabase('999'));
    expect((await problem('GET', '/syscheck/01', LIST))[0]).to.equal(400);
    await db.stop();
    const [down, error, detail] = await problem('GET', '/syscheck/001', LIST);
    expect([down, error]).to.deep.equal([500, 1017]);
    expect(detail).to.include('svc-db->stopped');
    db = await DbServer.start(api.home, () => api.now);
  });

  it('puts a long list together from several answers of svc-db', async () => {
    // More bytes than a message of the bus holds.
    const count = 10_000;
    const name = 'n'.repeat(1800);
    for (let from = 0; from < count; from += 2000) {
      await events(
        '001',
        Array.from({ length: 2000 }, (_none, index) => fimEvent('added', `/${name}/${from + index}`, SEVENTH)),
      );
    }
    for (const query of ['?limit=100000&select=file', '?limit=100000&select=file&distinct=true']) {
      const answer = await list(query);
      expect(answer.data.total_affected_items).to.equal(count);
      expect(answer.data.affected_items).to.have.length(count);
      expect(new Set(answer.data.affected_items.map(({ file }) => file)).size).to.equal(count);
    }
  }).timeout(60_000);

  it('says when the last scan was', async () => {
    const scan = async (id: string) => {
      const answer = await lists.get(`/syscheck/${id}/last_scan`, LAST_SCAN);
      expect(answer).to.include({ message: 'Last syscheck scan of the agent was returned', error: 0 });
      return answer.data.affected_items;
    };
    expect(await scan('001')).to.deep.equal([{ start: null, end: null }]);
    await events('001', [scanMark('scan_start', FIRST)]);
    expect(await scan('001')).to.deep.equal([{ start: '2023-11-14T22:13:20Z', end: null }]);
    await events('001', [scanMark('scan_end', FIRST + 60)]);
    expect(await scan('001')).to.deep.equal([{ start: '2023-11-14T22:13:20Z', end: '2023-11-14T22:14:20Z' }]);
    await events('001', [scanMark('scan_start', FIRST + 100)]);
    expect(await scan('001')).to.deep.equal([{ start: '2023-11-14T22:15:00Z', end: null }]);
    expect(await scan(ids('never_connected')[0]!)).to.deep.equal([{ start: null, end: null }]);
    expect(await problem('GET', '/syscheck/999/last_scan', LAST_SCAN)).to.deep.equal([
      404,
      1701,
      'Agent does not exist',
    ]);
  });

  it('orders connected agents to scan', async () => {
    const put = (query = '') => lists.call('PUT', `/syscheck${query}`);
    const [active, [disconnected]] = [ids('active'), ids('disconnected')];
    expect(await problem('PUT', '/syscheck?agents_list=001', '/syscheck')).to.include(1017);
    expect(await problem('PUT', '/syscheck', '/syscheck')).to.include(1017);
    const remoted = await RemotedServer.start(api.home);
    try {
      const all = await put();
      expect(all).to.deep.include({ message: 'Syscheck scan was restarted on returned agents', error: 0 });
      expect(all.data.affected_items).to.deep.equal(active);
      expect(remoted.sent.splice(0)).to.deep.equal([{ ids: active, message: 'syscheck restart' }]);
      remoted.unreachable.set('002', 'closed');
      expect((await put()).data.failed_items, 'hidden on all').to.deep.equal([]);
      remoted.sent.length = 0;

      const some = await put(`?agents_list=001,002,999,000,${disconnected!}`);
      expect(some).to.deep.include({ message: 'Syscheck scan was not restarted on some agents', error: 2 });
      expect(some.data.affected_items).to.deep.equal(['001']);
      expect(failures(some)).to.deep.equal([
        [1017, '000'],
        [1701, '999'],
        [1707, '002', disconnected],
      ]);
      expect(some.data.failed_items[0]?.error.message).to.include('svc-syscheckd->stopped');
      expect(remoted.sent).to.deep.equal([{ ids: ['001', '002'], message: 'syscheck restart' }]);
      const none = await put('?agents_list=999');
      expect(none).to.deep.include({ message: 'No syscheck scan was restarted', error: 1 });
    } finally {
      await remoted.stop();
    }
  });

  it('orders the manager itself to scan', async () => {
    const put = (query = '') => lists.call('PUT', `/syscheck${query}`);
    const taken: string[] = [];
    const order = ({ text }: { readonly text: string }): object => {
      taken.push(text);
      return {};
    };
    const remoted = await RemotedServer.start(api.home);
    const syscheckd = await serveContract(api.home, syscheckdContract, { order });
    try {
      const one = await put('?agents_list=000');
      expect(one).to.deep.include({ message: 'Syscheck scan was restarted on returned agents', error: 0 });
      expect(one.data.affected_items).to.deep.equal(['000']);
      expect(taken.splice(0)).to.deep.equal(['syscheck restart']);
      expect(remoted.sent, 'it is no agent').to.deep.equal([]);

      const all = await put();
      expect(all.data.affected_items).to.deep.equal(['000', ...ids('active')]);
      expect(all.data.failed_items).to.deep.equal([]);
      expect(taken.splice(0)).to.deep.equal(['syscheck restart']);

      const rootcheck = await lists.call('PUT', '/rootcheck?agents_list=000', { template: '/rootcheck' });
      expect(rootcheck.data.affected_items).to.deep.equal(['000']);
      expect(taken.splice(0)).to.deep.equal(['syscheck restart']);
    } finally {
      await syscheckd.stop();
      await remoted.stop();
    }
  });

  it('forgets the records of old agents only', async () => {
    const clear = (id: string) => lists.call('DELETE', `/syscheck/${id}`, { template: LIST });
    await events('001', [added('/a', 1)]);
    await events('002', [added('/a', 1), added('/b', 2)]);
    const refused = await clear('001');
    expect(refused).to.deep.include({ message: 'No syscheck database was cleared', error: 1 });
    expect(refused.data.failed_items).to.deep.equal([
      {
        error: {
          code: 1760,
          message:
            "Feature only available for older agent versions, it doesn't apply for more recent ones.: " +
            'Agent version should be < v3.12.0.',
        },
        id: ['001'],
      },
    ]);
    expect(failures(await clear('000'))).to.deep.equal([[1760, '000']]);
    expect(failures(await clear('999'))).to.deep.equal([[1701, '999']]);
    expect(failures(await clear(ids('never_connected')[0]!))[0]?.[0]).to.equal(1015);
    expect((await list('', '001')).data.total_affected_items).to.equal(1);
    expect((await list('', '002')).data.total_affected_items).to.equal(2);
    const cleared = await clear('002');
    expect(cleared).to.deep.include({ message: 'Syscheck database was cleared on returned agents', error: 0 });
    expect(cleared.data.affected_items).to.deep.equal(['002']);
    expect((await list('', '002')).data.total_affected_items).to.equal(0);
    expect((await list('', '001')).data.total_affected_items).to.equal(1);
    // These agents keep no database, whatever their numbers are.
    await setVersion(1, 'OSSEC HIDS v4.2.0');
    expect((await clear('001')).data.affected_items).to.deep.equal(['001']);
    expect((await list('', '001')).data.total_affected_items).to.equal(0);
  });

  it('is for those who may, agent by agent', async () => {
    await fill();
    const user = { name: 'someone', password: 'Other-42-password' };
    await addUser(api, user, [
      policy('allow', 'syscheck:read,syscheck:run,syscheck:clear', 'agent:id:*'),
      policy('deny', 'syscheck:read,syscheck:run,syscheck:clear', 'agent:id:001', 'agent:id:999'),
    ]);
    const token = await api.login(user.name, user.password);
    const call = async (method: string, path: string) => {
      const answer = await api.request(method, path, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: answer.json() as ApiList & Problem };
    };
    for (const [method, path] of [
      ['GET', '/syscheck/001'],
      ['GET', '/syscheck/999'],
      ['GET', '/syscheck/001/last_scan'],
      ['DELETE', '/syscheck/001'],
      ['PUT', '/syscheck?agents_list=001'],
    ] as const) {
      const { status, body } = await call(method, path);
      expect([status, body.error, body.detail], `${method} ${path}`).to.deep.equal([
        403,
        4000,
        'Permission denied: Resource type: agent:id',
      ]);
    }
    expect((await call('GET', '/syscheck/002')).status).to.equal(200);
    const remoted = await RemotedServer.start(api.home);
    try {
      const { body } = await call('PUT', '/syscheck?agents_list=001,002');
      expect(body.data.affected_items).to.deep.equal(['002']);
      expect(failures(body)).to.deep.equal([[4000, '001']]);
      const all = await call('PUT', '/syscheck');
      expect(all.body.data.affected_items).to.include('002').and.not.to.include('001');
      expect(remoted.sent.flatMap(({ ids: sent }) => sent)).not.to.include('001');
    } finally {
      await remoted.stop();
    }
  });
});
