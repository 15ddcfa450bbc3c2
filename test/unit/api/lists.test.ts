import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';

describe('CDB lists over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
    mkdirSync(api.home.path('etc/lists/clouds'), { recursive: true });
    const file = (name: string, text: string) => writeFileSync(api.home.path('etc/lists', name), text);
    file('hosts', '# TEMPLATE of a list\n192.0.2.1:good\n192.0.2.2:\n"a:b":"c:d"\n"x y":z\n192.0.2.1:second\n');
    file('clouds/keys', '__proto__:evil\nconstructor:"a b"\r\n');
    file('hosts.cdb', 'compiled');
    file('hosts~', 'old:1');
    file('.hosts.swp', 'swap');
    file('bad', 'one:1\n\ntwo:2\n');
    writeFileSync(api.home.path('etc/client.keys'), '001:secret\n');
    symlinkSync('/etc/passwd', api.home.path('etc/lists/passwd'));
    symlinkSync(api.home.path('etc/lists'), api.home.path('etc/lists/loop'));
    symlinkSync('../client.keys', api.home.path('etc/lists/keyfile'));
    symlinkSync('clouds/keys', api.home.path('etc/lists/inside'));
  });
  after(() => api.remove());

  const list = (path: string, template?: string) => lists.get(path, template);

  it('are listed with their entries; one that cannot be read does not hide the others', async () => {
    const answer = await list('/lists');
    expect([answer.message, answer.error]).to.deep.equal(['Some lists were not returned', 2]);
    expect(answer.data.affected_items.map((item) => `${item['relative_dirname']}/${item['filename']}`)).to.deep.equal([
      'etc/lists/hosts',
      'etc/lists/clouds/keys',
    ]);
    expect(answer.data.affected_items[0]).to.deep.equal({
      items: [
        { key: '192.0.2.1', value: 'good' },
        { key: '192.0.2.2', value: '' },
        { key: 'a:b', value: 'c:d' },
        { key: 'x y', value: 'z' },
      ],
      relative_dirname: 'etc/lists',
      filename: 'hosts',
    });
    expect(answer.data.failed_items).to.deep.equal([
      { error: { code: 1800, message: 'Bad format in CDB list etc/lists/bad: line 2' }, id: ['etc/lists/bad'] },
    ]);
  });

  it('meet the filters and come in pages', async () => {
    const one = await list('/lists?filename=hosts&select=filename');
    expect(one.message).to.equal('All specified lists were returned');
    expect(one.data.affected_items).to.deep.equal([{ relative_dirname: 'etc/lists', filename: 'hosts' }]);
    const deep = await list('/lists?relative_dirname=etc/lists/clouds');
    expect(deep.data.affected_items.map(({ filename }) => filename)).to.deep.equal(['keys']);
    const found = await list('/lists?q=items.value=c:d');
    expect(found.data.affected_items.map(({ filename }) => filename)).to.deep.equal(['hosts']);
    const none = await list('/lists?filename=nothing');
    expect([none.message, none.error]).to.deep.equal(['No list was returned', 0]);
    const files = await list('/lists/files?sort=-filename&limit=2');
    expect(files.message).to.equal('All specified paths were returned');
    expect(files.data.total_affected_items).to.equal(3);
    expect(files.data.affected_items).to.deep.equal([
      { relative_dirname: 'etc/lists/clouds', filename: 'keys' },
      { relative_dirname: 'etc/lists', filename: 'hosts' },
    ]);
    const sort = await api.call('GET', '/lists?sort=items');
    expect(sort.json()).to.include({ error: 1403 });
  });

  it('are shown one by one, raw or as an object', async () => {
    const template = '/lists/files/{filename}';
    const hosts = await list('/lists/files/hosts', template);
    expect(hosts.message).to.equal('CDB list was returned');
    expect(hosts.data.affected_items).to.deep.equal([
      { '192.0.2.1': 'good', '192.0.2.2': '', 'a:b': 'c:d', 'x y': 'z' },
    ]);
    const keys = await api.call('GET', '/lists/files/keys');
    expect(keys.text).to.include('{"__proto__": "evil", "constructor": "a b"}');
    const raw = await api.call('GET', '/lists/files/bad?raw=true');
    expect(raw.headers['content-type']).to.match(/^text\/plain/);
    expect(raw.text).to.equal('one:1\n\ntwo:2\n');
    const failed = async (name: string) => (await list(`/lists/files/${name}`, template)).data.failed_items[0]?.error;
    expect(await failed('bad')).to.include({ code: 1800 });
    expect(await failed('absent')).to.include({ code: 1802, message: 'Lists file not found' });
    expect(await failed('clouds')).to.include({ code: 1804 });
    expect(await failed('passwd'), 'leads elsewhere').to.include({ code: 1802 });
    for (const name of ['hosts.cdb', '..', '%2e%2e', 'a%00b', 'hosts~']) {
      expect((await api.call('GET', `/lists/files/${name}`)).status, name).to.be.oneOf([400, 404]);
    }
  });

  it('are limited to the files the caller may see', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'viewer', password }, [
      { actions: ['lists:read'], resources: ['list:file:keys'], effect: 'allow' },
    ]);
    const headers = { authorization: `Bearer ${await api.login('viewer', password)}` };
    const get = (path: string) => api.request('GET', path, { headers });
    const names = ((await get('/lists/files')).json() as ApiList).data.affected_items.map(({ filename }) => filename);
    expect(names).to.deep.equal(['keys']);
    const denied = await get('/lists/files/hosts');
    expect(denied.status).to.equal(403);
    expect(denied.json()).to.include({ detail: 'Permission denied: Resource type: list:file', error: 4000 });
  });
});
