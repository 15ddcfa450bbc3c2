import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';

const CONFIGURATION = `<manager_config>
  <ruleset>
    <decoder_dir>ruleset/decoders</decoder_dir>
    <decoder_dir>etc/decoders</decoder_dir>
    <decoder_exclude>0300-old_decoders.xml</decoder_exclude>
  </ruleset>
</manager_config>
`;
const SHIPPED = `<decoder name="sshd">
  <program_name>^sshd</program_name>
</decoder>
<decoder name="sshd-success">
  <parent>sshd</parent>
  <prematch>^Accepted</prematch>
  <regex offset="after_prematch">^ \\S+ for (\\S+)</regex>
  <regex> from (\\S+)</regex>
  <order>user, srcip</order>
</decoder>
`;

describe('decoders over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
    for (const directory of ['ruleset/decoders', 'etc/decoders']) {
      mkdirSync(api.home.path(directory), { recursive: true });
    }
    writeFileSync(api.home.path('etc/manager.conf'), CONFIGURATION);
    writeFileSync(api.home.path('ruleset/decoders/0310-ssh_decoders.xml'), SHIPPED);
    writeFileSync(api.home.path('ruleset/decoders/0300-old_decoders.xml'), '<decoder name="old"></decoder>');
    writeFileSync(
      api.home.path('etc/decoders/local_decoder.xml'),
      '<decoder name="own"><prematch>own</prematch></decoder>',
    );
    writeFileSync(api.home.path('etc/decoders/broken.xml'), '<decoder name="b">\n<regex></decoder>');
  });
  after(() => api.remove());

  const list = (path: string, template?: string) => lists.get(path, template);
  const names = async (query: string) =>
    (await list(`/decoders?${query}`)).data.affected_items.map(({ name }) => name as string);

  it('are listed by file and place with what they say', async () => {
    const answer = await list('/decoders');
    expect(answer.message).to.equal('All selected decoders were returned');
    expect(answer.data.affected_items.map(({ name }) => name)).to.deep.equal(['old', 'sshd', 'sshd-success', 'own']);
    expect(answer.data.affected_items[2]).to.deep.equal({
      filename: '0310-ssh_decoders.xml',
      relative_dirname: 'ruleset/decoders',
      status: 'enabled',
      name: 'sshd-success',
      position: 1,
      details: {
        parent: 'sshd',
        prematch: { pattern: '^Accepted' },
        regex: { pattern: '^ \\S+ for (\\S+) from (\\S+)' },
        order: 'user, srcip',
      },
    });
    expect(
      api.logger.lines.filter((line) => line.includes('Decoders cannot be listed: etc/decoders/broken.xml, line 2')),
    ).to.have.length(1);
  });

  it('meet every filter given', async () => {
    expect(await names('decoder_names=sshd,own')).to.deep.equal(['sshd', 'own']);
    expect(await names('filename=local_decoder.xml')).to.deep.equal(['own']);
    expect(await names('relative_dirname=etc/decoders')).to.deep.equal(['own']);
    expect(await names('status=disabled')).to.deep.equal(['old']);
    expect(await names('search=accepted')).to.deep.equal(['sshd-success']);
    expect(await names('q=details.parent=sshd')).to.deep.equal(['sshd-success']);
    expect(await names('sort=-name&limit=2')).to.deep.equal(['sshd-success', 'sshd']);
    const selected = await list('/decoders?select=name&decoder_names=own');
    expect(selected.data.affected_items).to.deep.equal([{ filename: 'local_decoder.xml', position: 0, name: 'own' }]);
  });

  it('without a parent are listed by themselves', async () => {
    const answer = await list('/decoders/parents?sort=name');
    expect(answer.data.affected_items.map(({ name }) => name)).to.deep.equal(['old', 'own', 'sshd']);
    expect(answer.message).to.equal('All selected decoders were returned');
  });

  it('that there are none of are named', async () => {
    const answer = await list('/decoders?decoder_names=sshd,nothing');
    expect([answer.error, answer.message]).to.deep.equal([2, 'Some decoders were not returned']);
    expect(answer.data.failed_items).to.deep.equal([
      {
        error: {
          code: 1504,
          message: 'The decoder does not exist or you do not have permission to see it',
          remediation: 'List the decoders with GET /decoders.',
        },
        id: ['nothing'],
      },
    ]);
    const none = await list('/decoders?decoder_names=nothing');
    expect([none.error, none.message]).to.deep.equal([1, 'No decoder was returned']);
  });

  it('list and show their files', async () => {
    const files = await list('/decoders/files?status=enabled&relative_dirname=etc/decoders');
    expect(files.message).to.equal('All decoder files were returned');
    expect(files.data.affected_items).to.deep.equal([
      { filename: 'broken.xml', relative_dirname: 'etc/decoders', status: 'enabled' },
      { filename: 'local_decoder.xml', relative_dirname: 'etc/decoders', status: 'enabled' },
    ]);
    const template = '/decoders/files/{filename}';
    const shown = await list('/decoders/files/local_decoder.xml', template);
    expect(shown.message).to.equal('Selected decoder was returned');
    expect(shown.data.affected_items).to.deep.equal([{ decoder: { '@name': 'own', prematch: 'own' } }]);
    const raw = await api.call('GET', '/decoders/files/0310-ssh_decoders.xml?raw=true');
    expect([raw.headers['content-type'], raw.text]).to.deep.equal(['application/xml; charset=utf-8', SHIPPED]);
    const code = async (name: string) =>
      (await list(`/decoders/files/${name}`, template)).data.failed_items as { error: { code: number } }[];
    expect((await code('absent.xml'))[0]?.error.code).to.equal(1503);
    expect((await code('broken.xml'))[0]?.error.code).to.equal(1501);
  });

  it('are limited to the files the caller may see', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'viewer', password }, [
      { actions: ['decoders:read'], resources: ['decoder:file:local_decoder.xml'], effect: 'allow' },
    ]);
    const headers = { authorization: `Bearer ${await api.login('viewer', password)}` };
    const get = (path: string) => api.request('GET', path, { headers });
    expect(((await get('/decoders')).json() as ApiList).data.affected_items.map(({ name }) => name)).to.deep.equal([
      'own',
    ]);
    const denied = await get('/rules');
    expect(denied.status).to.equal(403);
    api.forgetToken();
  });
});
