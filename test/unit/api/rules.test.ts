import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser } from '../../support/api/rbac-user.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';

const CONFIGURATION = `<manager_config>
  <ruleset>
    <rule_dir>ruleset/rules</rule_dir>
    <rule_dir>etc/rules</rule_dir>
    <rule_exclude>0900-old_rules.xml</rule_exclude>
  </ruleset>
</manager_config>
`;
const SHIPPED = `<group name="sshd,">
  <rule id="5700" level="0"><decoded_as>sshd</decoded_as><description>sshd messages.</description></rule>
  <rule id="5710" level="5">
    <if_sid>5700</if_sid><match>illegal user</match>
    <group>authentication_failed,pci_dss_10.2.4,gdpr_IV_35.7.d,nist_800_53_AU.14,tsc_CC6.1,</group>
    <mitre><id>T1110</id></mitre><description>sshd: unknown user.</description>
  </rule>
</group>
`;
const OWN = `<group name="local,">
  <rule id="100001" level="10"><if_sid>5710</if_sid><srcip>192.0.2.1</srcip><description>Known Attacker</description></rule>
</group>
`;

describe('rules over the API', () => {
  const checker = new ResponseChecker();
  let api: TestApi;
  let lists: ListCaller;
  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
    for (const directory of ['ruleset/rules', 'etc/rules', 'etc/rules/deep']) {
      mkdirSync(api.home.path(directory), { recursive: true });
    }
    writeFileSync(api.home.path('etc', 'manager.conf'), CONFIGURATION);
    writeFileSync(api.home.path('ruleset', 'rules', '0095-sshd_rules.xml'), SHIPPED);
    writeFileSync(
      api.home.path('ruleset', 'rules', '0900-old_rules.xml'),
      '<group name="old,"><rule id="900" level="3"><description>Old</description></rule></group>',
    );
    writeFileSync(api.home.path('ruleset', 'rules', 'local_rules.xml'), '<group name="x,"></group>');
    writeFileSync(api.home.path('etc', 'rules', 'local_rules.xml'), OWN);
    writeFileSync(
      api.home.path('etc', 'rules', 'broken_rules.xml'),
      '<group name="b,">\n<rule id="1" level="1"></group>',
    );
  });
  after(() => api.remove());

  const list = (path: string, template?: string) => lists.get(path, template);
  const ids = async (query: string) =>
    (await list(`/rules?${query}`)).data.affected_items.map((item) => item['id'] as number);
  const refusal = async (path: string) => {
    const answer = await api.call('GET', path);
    expect(answer.status).to.equal(400);
    return answer.json() as { detail: string; remediation?: string; error?: number; dapi_errors?: object };
  };

  it('are listed by id with everything they say', async () => {
    const answer = await list('/rules');
    expect(answer.message).to.equal('All selected rules were returned');
    expect(answer.data.affected_items.map(({ id }) => id)).to.deep.equal([900, 5700, 5710, 100001]);
    expect(answer.data.affected_items[2]).to.deep.equal({
      filename: '0095-sshd_rules.xml',
      relative_dirname: 'ruleset/rules',
      id: 5710,
      level: 5,
      status: 'enabled',
      details: { if_sid: '5700', match: { pattern: 'illegal user' } },
      pci_dss: ['10.2.4'],
      gpg13: [],
      gdpr: ['IV_35.7.d'],
      hipaa: [],
      nist_800_53: ['AU.14'],
      tsc: ['CC6.1'],
      mitre: ['T1110'],
      groups: ['authentication_failed', 'sshd'],
      description: 'sshd: unknown user.',
    });
    expect(api.logger.lines.filter((line) => line.includes('broken_rules.xml'))).to.have.length(1);
    await list('/rules');
    expect(
      api.logger.lines.filter((line) => line.includes('broken_rules.xml')),
      'once',
    ).to.have.length(1);
  });

  it('meet every filter given', async () => {
    expect(await ids('rule_ids=5710,900')).to.deep.equal([900, 5710]);
    expect(await ids('rule_ids=5710&rule_ids=900')).to.deep.equal([900, 5710]);
    expect(await ids('group=sshd')).to.deep.equal([5700, 5710]);
    expect(await ids('group=ssh')).to.deep.equal([]);
    expect(await ids('level=5')).to.deep.equal([5710]);
    expect(await ids('level=4-10')).to.deep.equal([5710, 100001]);
    expect(await ids('status=disabled')).to.deep.equal([900]);
    expect(await ids('status=ALL')).to.deep.equal([900, 5700, 5710, 100001]);
    expect(await ids('filename=local_rules.xml,0900-old_rules.xml')).to.deep.equal([900, 100001]);
    expect(await ids('relative_dirname=etc/rules')).to.deep.equal([100001]);
    expect(await ids('pci_dss=10.2.4')).to.deep.equal([5710]);
    expect(await ids('gdpr=IV_35.7.d&mitre=T1110')).to.deep.equal([5710]);
    expect(await ids('nist-800-53=AU.14&tsc=CC6.1')).to.deep.equal([5710]);
    expect(await ids('hipaa=x')).to.deep.equal([]);
    expect(await ids('search=attacker')).to.deep.equal([100001]);
    expect(await ids('search=-sshd&sort=-id')).to.deep.equal([100001, 900]);
    expect(await ids('q=level%3E3;groups=local')).to.deep.equal([100001]);
    expect(await ids('q=id=900,id=5700')).to.deep.equal([900, 5700]);
    expect((await refusal('/rules?nist_800_53=x')).detail).to.equal('Extra query parameter(s) nist_800_53 not in spec');
    expect((await refusal('/rules?level=1-2-3')).detail).to.match(/^'1-2-3' is not a 'range'/);
    const tooWide = await refusal('/rules?level=100');
    expect([tooWide.error, tooWide.detail]).to.deep.equal([1203, "Error in argument 'level': 100"]);
  });

  it('come in pages, sorted and cut to fields', async () => {
    const page = await list('/rules?limit=1&offset=1&sort=-level&select=level,details.if_sid');
    expect(page.data).to.deep.include({
      total_affected_items: 4,
      affected_items: [{ id: 5710, level: 5, details: { if_sid: '5700' } }],
    });
    const distinct = await list('/rules?select=status&distinct=true');
    expect(distinct.data.affected_items).to.deep.equal([{ status: 'disabled' }, { status: 'enabled' }]);
    const sort = await refusal('/rules?sort=foo');
    expect(sort).to.deep.include({ error: 1403, detail: 'Not a valid sort field' });
    expect(sort.remediation).to.equal(
      'Please, use only allowed sort fields: Allowed sort fields: filename, relative_dirname, description, id, level, status. Wrong fields: foo',
    );
    expect(sort.dapi_errors).to.deep.equal({ node01: { error: 'Not a valid sort field' } });
    expect(await refusal('/rules?select=foo,id')).to.deep.include({
      error: 1724,
      detail: 'Not a valid select field: foo, id',
    });
    expect(await refusal('/rules?q=level')).to.deep.include({
      error: 1407,
      detail: "Query does not match expected format: Parameter 'q' is not valid: 'level'",
    });
  });

  it('name the ids that no rule has', async () => {
    const some = await list('/rules?rule_ids=5710,99999,7');
    expect(some.error).to.equal(2);
    expect(some.message).to.equal('Some rules were not returned');
    expect(some.data.failed_items).to.deep.equal([
      {
        error: {
          code: 1208,
          message: 'The rule does not exist or you do not have permission to see it',
          remediation: 'List the rules with GET /rules.',
        },
        id: [7, 99999],
      },
    ]);
    expect(some.data.total_failed_items).to.equal(2);
    const none = await list('/rules?rule_ids=7');
    expect([none.error, none.message]).to.deep.equal([1, 'No rule was returned']);
    const empty = await list('/rules?search=nothing%20like%20that');
    expect([empty.error, empty.message]).to.deep.equal([0, 'No rule was returned']);
  });

  it('list their groups and requirements', async () => {
    expect((await list('/rules/groups')).data.affected_items).to.deep.equal([
      'authentication_failed',
      'local',
      'old',
      'sshd',
    ]);
    expect((await list('/rules/groups?search=o&sort=-&limit=2')).data).to.deep.include({
      affected_items: ['old', 'local'],
      total_affected_items: 3,
    });
    const requirement = async (name: string) =>
      (await list(`/rules/requirement/${name}`, '/rules/requirement/{requirement}')).data.affected_items;
    expect(await requirement('pci_dss')).to.deep.equal(['10.2.4']);
    expect(await requirement('NIST-800-53')).to.deep.equal(['AU.14']);
    expect(await requirement('hipaa')).to.deep.equal([]);
    expect((await refusal('/rules/requirement/nist_800_53')).detail).to.match(/^'nist_800_53' is not one of \[/);
  });

  it('list their files', async () => {
    const names = async (query: string) =>
      (await list(`/rules/files?${query}`)).data.affected_items.map(
        (item) => `${item['relative_dirname']}/${item['filename']}`,
      );
    expect(await names('')).to.deep.equal([
      'ruleset/rules/0095-sshd_rules.xml',
      'ruleset/rules/0900-old_rules.xml',
      'etc/rules/broken_rules.xml',
      'ruleset/rules/local_rules.xml',
      'etc/rules/local_rules.xml',
    ]);
    expect(await names('status=disabled')).to.deep.equal(['ruleset/rules/0900-old_rules.xml']);
    expect(await names('relative_dirname=etc/rules&filename=local_rules.xml')).to.deep.equal([
      'etc/rules/local_rules.xml',
    ]);
    expect(await names('relative_dirname=etc/rules/d')).to.deep.equal([]);
    expect((await refusal('/rules/files?relative_dirname=etc/../etc')).detail).to.match(/is not a 'get_dirnames_path'/);
  });

  it('show a file, raw or as JSON', async () => {
    const file = (query: string) => list(query, '/rules/files/{filename}');
    const shown = await file('/rules/files/local_rules.xml');
    expect(shown.message).to.equal('Selected rule was returned');
    expect(shown.data.affected_items).to.deep.equal([
      {
        group: {
          '@name': 'local,',
          rule: {
            '@id': '100001',
            '@level': '10',
            if_sid: '5710',
            srcip: '192.0.2.1',
            description: 'Known Attacker',
          },
        },
      },
    ]);
    const shipped = await file('/rules/files/local_rules.xml?relative_dirname=ruleset/rules');
    expect(shipped.data.affected_items).to.deep.equal([{ group: { '@name': 'x,' } }]);
    const raw = await api.call('GET', '/rules/files/local_rules.xml?raw=true');
    expect(raw.headers['content-type']).to.equal('application/xml; charset=utf-8');
    expect(raw.text).to.equal(OWN);
    const absent = await file('/rules/files/absent.xml?raw=true');
    expect(absent.message).to.equal('No rule was returned');
    expect(absent.data.failed_items).to.deep.equal([
      {
        error: {
          code: 1415,
          message: 'Rules file not found: absent.xml',
          remediation: 'GET /rules/files lists the files there are.',
        },
        id: ['absent.xml'],
      },
    ]);
    const broken = await file('/rules/files/broken_rules.xml');
    expect(broken.data.failed_items).to.have.nested.property('[0].error.code', 1413);
  });

  it('show nothing that a link leads to, on any level', async () => {
    const secret = api.home.path('secret');
    mkdirSync(secret);
    writeFileSync(`${secret}/link.xml`, OWN.replace('100001', '100009'));
    const link = api.home.path('etc', 'rules', 'link.xml');
    symlinkSync(`${secret}/link.xml`, link);
    const raw = async () => {
      // What was seen a moment ago holds no more.
      api.elapsed += 1000;
      const answer = await list('/rules/files/link.xml?raw=true', '/rules/files/{filename}');
      expect(answer.data.failed_items).to.have.nested.property('[0].error.code', 1414);
    };
    await raw();
    expect(await ids('rule_ids=100009')).to.deep.equal([]);
    rmSync(link);
    // The directory itself taken away, and a link put in its place.
    const [directory, aside] = [api.home.path('etc', 'rules'), api.home.path('etc', 'aside')];
    renameSync(directory, aside);
    symlinkSync(secret, directory);
    await raw();
    expect(await ids('rule_ids=100009')).to.deep.equal([]);
    rmSync(directory);
    renameSync(aside, directory);
    rmSync(secret, { recursive: true });
    api.elapsed += 1000;
  });

  it('carry an ETag for as long as nothing changes, by which unchanged ones are not sent again', async () => {
    const first = await api.call('GET', '/rules?limit=2');
    const etag = first.headers.etag ?? '';
    expect(etag).to.match(/^"[\w-]{27}"$/);
    const conditional = (path: string, value: string, method = 'GET') =>
      api.call(method, path, undefined, { 'if-none-match': value });
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await conditional('/rules?limit=2', value);
      expect([same.status, same.text, same.headers.etag], value).to.deep.equal([304, '', etag]);
      expect(same.headers['cache-control']).to.equal('no-store');
      expect(same.headers).not.to.have.any.keys('content-type', 'content-length');
    }
    const other = await conditional('/rules?limit=2', '"other"');
    expect([other.status, other.text]).to.deep.equal([200, first.text]);
    expect((await conditional('/rules?limit=3', etag)).status, 'another page').to.equal(200);
    const pretty = await conditional('/rules?limit=2&pretty=true', etag);
    expect([pretty.status, pretty.text.includes('\n   ')]).to.deep.equal([200, true]);
    expect(pretty.json()).to.deep.equal(first.json());
    expect((await conditional('/rules?limit=2&pretty=true', pretty.headers.etag ?? '')).status).to.equal(304);

    const head = await api.call('HEAD', '/rules?limit=2');
    expect([head.status, head.text, head.headers.etag]).to.deep.equal([200, '', etag]);
    expect(head.headers['content-length']).to.equal(first.headers['content-length']);
    expect((await conditional('/rules?limit=2', etag, 'HEAD')).status).to.equal(304);
    expect((await conditional('/rules?limit=0', etag)).status, 'a refusal').to.equal(400);
    expect((await api.request('GET', '/rules?limit=2', { headers: { 'if-none-match': '*' } })).status).to.equal(401);

    const file = api.home.path('etc', 'rules', 'local_rules.xml');
    writeFileSync(file, OWN.replace('Known Attacker', 'Well Known'));
    api.elapsed += 1000;
    const all = await api.call('GET', '/rules?rule_ids=100001');
    expect(all.text).to.include('Well Known');
    writeFileSync(file, OWN);
    api.elapsed += 1000;
    const back = await conditional('/rules?rule_ids=100001', all.headers.etag ?? '');
    expect([back.status, back.text.includes('Known Attacker')]).to.deep.equal([200, true]);
    expect((await conditional('/rules?limit=2', etag)).status, 'other files, the same page').to.equal(304);
  });

  it('are limited to the files the caller may see', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'viewer', password }, [
      { actions: ['rules:read'], resources: ['rule:file:*'], effect: 'allow' },
      { actions: ['rules:read'], resources: ['rule:file:0095-sshd_rules.xml'], effect: 'deny' },
    ]);
    const token = await api.login('viewer', password);
    const get = (path: string) => api.request('GET', path, { headers: { authorization: `Bearer ${token}` } });
    // Whoever sees everything asks the same first.
    const whole = await api.call('GET', '/rules?rule_ids=900,5710');
    expect((whole.json() as ApiList).data.total_affected_items).to.equal(2);
    const answer = await api.request('GET', '/rules?rule_ids=900,5710', {
      headers: { authorization: `Bearer ${token}`, 'if-none-match': whole.headers.etag ?? '' },
    });
    expect(answer.status).to.equal(200);
    const rules = answer.json() as ApiList;
    expect((await get('/rules?rule_ids=900,5710')).text).to.equal(answer.text);
    expect(rules.data.affected_items.map(({ id }) => id)).to.deep.equal([900]);
    expect(rules.data.failed_items).to.have.nested.property('[0].id').that.deep.equals([5710]);
    expect(((await get('/rules?search=sshd')).json() as ApiList).data.total_affected_items).to.equal(0);
    expect(((await get('/rules/groups')).json() as ApiList).data.affected_items).to.deep.equal(['local', 'old']);
    const file = await get('/rules/files/0095-sshd_rules.xml?raw=true');
    expect([file.status, (file.json() as { detail: string }).detail]).to.deep.equal([
      403,
      'Permission denied: Resource type: rule:file',
    ]);
    const status = await get('/manager/status');
    expect(status.status).to.equal(403);
    expect(status.json()).to.deep.equal({
      title: 'Permission Denied',
      detail: 'Permission denied: Resource type: *:*',
      remediation: 'Ask an administrator for a role whose policies allow this action on this resource.',
      dapi_errors: { 'unknown-node': { error: 'Permission denied: Resource type: *:*' } },
      error: 4000,
    });
    checker.check('GET', '/manager/status', status);
  });

  it('are refused whole when nothing may be seen, or the configuration is broken', async () => {
    const password = 'Secret-43-password';
    await addUser(api, { name: 'stranger', password, roles: [3] });
    const token = await api.login('stranger', password);
    const denied = await api.request('GET', '/rules', { headers: { authorization: `Bearer ${token}` } });
    expect(denied.status).to.equal(403);
    expect((denied.json() as { detail: string }).detail).to.equal('Permission denied: Resource type: rule:file');
    writeFileSync(api.home.path('etc', 'manager.conf'), '<manager_config><ruleset><rule_dir></manager_config>');
    const broken = await refusal('/rules');
    expect(broken.error).to.equal(1200);
    expect(broken.detail).to.match(/etc\/manager\.conf/);
    writeFileSync(api.home.path('etc', 'manager.conf'), CONFIGURATION);
    expect((await list('/rules')).data.total_affected_items).to.equal(4);
  });
});
