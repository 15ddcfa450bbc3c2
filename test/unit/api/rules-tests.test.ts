import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { RulesetTests } from '../../../api/ruleset/tests/ruleset-tests.js';
import type { TestsReport } from '../../../api/ruleset/tests/tests-order.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';
import { eventually } from '../../support/eventually.js';

const CONFIGURATION = `<manager_config>
  <ruleset>
    <rule_dir>etc/rules</rule_dir>
    <decoder_dir>etc/decoders</decoder_dir>
    <list>etc/lists/bad-words</list>
  </ruleset>
</manager_config>
`;
const DECODERS = '<decoder name="shop"><program_name>^shop$</program_name></decoder>\n';
const FIRST =
  '<group name="syslog,"><rule id="1" level="0" noalert="1"><category>syslog</category><description>all</description></rule></group>';
const rules = (level: number) =>
  `<group name="shop,">\n<rule id="100100" level="${String(level)}"><decoded_as>shop</decoded_as>` +
  '<description>order</description></rule>\n</group>\n';
const TESTS = `- name: an order
  log: 'Nov 21 10:00:09 web1 shop[77]: order'
  expect: { rule: 100100, level: 5 }
- name: another day
  log: x
  skip: not yet
  expect: { rule: none }
`;

describe('tests of the ruleset over the API', function () {
  this.timeout(60_000);
  const checker = new ResponseChecker();
  let api: TestApi;
  let lists: ListCaller;

  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
    for (const directory of ['etc/rules', 'etc/decoders', 'etc/lists', 'ruleset/mitre']) {
      mkdirSync(api.home.path(directory), { recursive: true });
    }
    const shipped = new URL('etc/', productRoot());
    for (const name of ['internal_options.conf', 'local_internal_options.conf']) {
      copyFileSync(fileURLToPath(new URL(name, shipped)), api.home.path('etc', name));
    }
    write('ruleset/mitre/attack.json', readFileSync(new URL('ruleset/mitre/attack.json', shipped), 'utf8'));
    write('etc/manager.conf', CONFIGURATION);
    write('etc/decoders/shop.xml', DECODERS);
    write('etc/rules/first.xml', FIRST);
    write('etc/rules/shop.xml', rules(5));
    write('etc/lists/bad-words', 'a:b\n');
  });
  after(() => api.remove());

  const write = (path: string, text: string) => writeFileSync(api.home.path(path), text);
  const run = async (body: unknown): Promise<TestsReport> => {
    const answer = await api.call('PUT', '/rules/tests?wait_for_complete=true', body);
    checker.check('PUT', '/rules/tests', answer);
    expect(answer.status, answer.text).to.equal(200);
    return (answer.json() as { data: TestsReport }).data;
  };
  const put = async (name: string, text: string, query = ''): Promise<ApiList> => {
    const headers = { 'content-type': 'application/octet-stream' };
    const answer = await api.call('PUT', `/rules/tests/files/${name}${query}`, text, headers);
    checker.check('PUT', '/rules/tests/files/{filename}', answer);
    return answer.json() as ApiList;
  };

  const remove = (name: string) =>
    lists.call('DELETE', `/rules/tests/files/${name}`, { template: '/rules/tests/files/{filename}' });

  it('keep files of their own', async () => {
    expect((await lists.call('GET', '/rules/tests/files')).data.affected_items).to.deep.equal([]);
    expect((await put('shop.yml', TESTS)).data.affected_items).to.deep.equal(['etc/tests/shop.yml']);
    expect((await put('shop.yml', TESTS)).data.failed_items[0]?.error.code).to.equal(1905);
    expect((await put('shop.yml', TESTS, '?overwrite=true')).message).to.equal('File of tests was stored');
    const bad = await put('bad.yml', '- name: x\n  nonsense: 1\n');
    expect(bad.data.failed_items[0]?.error).to.include({ code: 8009 });
    expect(bad.data.failed_items[0]?.error.message).to.include('etc/tests/bad.yml:1');
    const files = [{ filename: 'shop.yml', relative_dirname: 'etc/tests' }];
    expect((await lists.call('GET', '/rules/tests/files')).data.affected_items).to.deep.equal(files);
    const read = await api.call('GET', '/rules/tests/files/shop.yml');
    checker.check('GET', '/rules/tests/files/{filename}', read);
    expect(read.text).to.equal(TESTS);
    expect((await api.call('GET', '/rules/tests/files/none.yml')).status).to.equal(404);
    await put('gone.ini', '[a]\nlog 1 pass = x\nrule = 1\nalert = 1\ndecoder =\n');
    expect((await remove('gone.ini')).data.total_affected_items).to.equal(1);
    expect((await remove('gone.ini')).data.failed_items[0]?.error.code).to.equal(1906);
  });

  it('run on the ruleset as it is, and as it would be; nothing is written', async () => {
    const before = await run({});
    expect(before).to.include({ loads: true, total: 2, passed: 1, failed: 0, skipped: 1 });
    const after = await run({ files: [{ path: 'etc/rules/shop.xml', content: rules(7) }] });
    expect(after).to.include({ loads: true, passed: 0, failed: 1, skipped: 1 });
    const [failed] = after.results;
    expect(failed).to.deep.include({ name: 'an order', file: 'etc/tests/shop.yml', line: 1, status: 'failed' });
    expect(failed?.problems).to.deep.equal([
      { what: 'level', expected: '5', actual: '7', text: 'level: expected 5, got 7' },
    ]);
    expect(failed?.explanation.join('\n')).to.include('matched: 1 > 100100');
    const without = await run({ files: [{ path: 'etc/rules/shop.xml' }] });
    expect(without.results[0]?.problems[0]).to.include({ what: 'rule', expected: '100100', actual: 'none' });
    const added = await run({ files: [{ path: 'etc/tests/new.yml', content: TESTS.replace('5', '6') }] });
    expect(added).to.include({ total: 4, failed: 1 });
    expect(readFileSync(api.home.path('etc/rules/shop.xml'), 'utf8')).to.equal(rules(5));
  });

  it('say what is wrong with files, with the line, and run nothing then', async () => {
    const open = await run({ files: [{ path: 'etc/rules/shop.xml', content: '<group name="x,">\n<rule id="1">\n' }] });
    expect(open).to.include({ loads: false, total: 0 });
    expect(open.messages[0]).to.include({ severity: 'error', file: 'etc/rules/shop.xml' });
    expect(open.messages[0]?.line).to.be.at.least(1);
    const wrong = rules(5).replace('level="5"', 'level="x"');
    const level = await run({ files: [{ path: 'etc/rules/shop.xml', content: wrong }], tests: 'none' });
    expect(level.loads).to.equal(false);
    expect(level.messages[0]).to.include({ severity: 'error', file: 'etc/rules/shop.xml', line: 2 });
    const list = await run({ files: [{ path: 'etc/lists/bad-words', content: 'a:b\nno colon\n' }], tests: 'none' });
    expect(list.messages[0]).to.include({ file: 'etc/lists/bad-words', line: 2 });
    const test = await run({ files: [{ path: 'etc/tests/x.yml', content: '- name: x\n  log: 1\n' }], tests: 'none' });
    expect(test).to.include({ loads: true, total: 0 });
    expect(test.messages[0]).to.include({ file: 'etc/tests/x.yml', line: 1 });
  });

  it('are bounded in time', async () => {
    const slow = new RulesetTests(1);
    const order = { home: api.home.root, files: [], tests: 'own' as const };
    const signal = new AbortController().signal;
    const error = await slow.run(order, { user: 1, signal }).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 8007 });
  });

  it('are not behind a link', async () => {
    renameSync(api.home.path('etc/tests'), api.home.path('elsewhere'));
    symlinkSync(api.home.path('elsewhere'), api.home.path('etc/tests'));
    try {
      expect((await lists.call('GET', '/rules/tests/files')).data.affected_items).to.deep.equal([]);
      expect((await api.call('GET', '/rules/tests/files/shop.yml')).status).to.equal(404);
      expect((await put('shop.yml', TESTS, '?overwrite=true')).data.failed_items[0]?.error.code).to.equal(1006);
      expect((await remove('shop.yml')).data.failed_items[0]?.error.code).to.equal(1006);
      expect(readFileSync(api.home.path('elsewhere/shop.yml'), 'utf8')).to.equal(TESTS);
    } finally {
      rmSync(api.home.path('etc/tests'));
      renameSync(api.home.path('elsewhere'), api.home.path('etc/tests'));
    }
  });

  it('of a user one run waits, the latest', async () => {
    const tests = new RulesetTests();
    const order = { home: api.home.root, files: [], tests: 'none' as const };
    const caller = { user: 1, signal: new AbortController().signal };
    const [first, second, third, other] = await Promise.allSettled([
      tests.run(order, caller),
      tests.run(order, caller),
      tests.run(order, caller),
      tests.run(order, { ...caller, user: 2 }),
    ]);
    expect([first?.status, third?.status, other?.status]).to.deep.equal(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(second).to.have.nested.property('reason.status', 503);
  });

  it('of the body paths and sizes are logged', async () => {
    await run({ files: [{ path: 'etc/lists/bad-words', content: 'not-to-be-logged:b\n' }], tests: 'none' });
    const line = await eventually('the line of the access log', () =>
      readFileSync(api.home.path('logs', 'api.log'), 'utf8')
        .split('\n')
        .findLast((one) => one.includes('bad-words') && one.includes('PUT /rules/tests"')),
    );
    expect(line).to.match(/body \{"files": 1, "paths": \["etc\/lists\/bad-words"\], "bytes": \d+\}/);
    expect(line).not.to.include('not-to-be-logged');
  });

  it('are for who may try log lines; paths lead nowhere else', async () => {
    const password = 'Reader-42-password';
    await addUser(api, { name: 'reader', password }, [policy('allow', 'rules:read', 'rule:file:*')]);
    api.forgetToken();
    const reader = { authorization: `Bearer ${await api.login('reader', password)}` };
    const denied = await api.call('PUT', '/rules/tests', {}, reader);
    expect(denied.status).to.equal(403);
    expect((await api.call('GET', '/rules/tests/files/shop.yml', undefined, reader)).status).to.equal(200);
    expect((await api.call('DELETE', '/rules/tests/files/shop.yml', undefined, reader)).status).to.equal(403);
    const tester = { name: 'tester', password };
    const all = (action: string, type: string) => policy('allow', action, `${type}:*`);
    const reads = [
      all('rules:read', 'rule:file'),
      all('decoders:read', 'decoder:file'),
      all('lists:read', 'list:file'),
    ];
    await addUser(api, tester, [policy('allow', 'logtest:run', '*:*:*'), ...reads]);
    const as = async () => ({ authorization: `Bearer ${await api.login('tester', password)}` });
    const allowed = await api.call('PUT', '/rules/tests?wait_for_complete=true', { tests: 'none' }, await as());
    expect(allowed.status).to.equal(200);
    const but = policy('deny', 'lists:read', 'list:file:bad-words');
    await addUser(api, tester, [policy('allow', 'logtest:run', '*:*:*'), ...reads, but]);
    const without = await as();
    for (const [path, body] of [
      ['/rules/tests', { tests: 'none' }],
      ['/logtest', { event: 'x', log_format: 'syslog', location: 'y', options: { explain: true } }],
      ['/logtest', { event: 'x', log_format: 'syslog', location: 'y', options: { why: 0 } }],
    ] as const) {
      const answer = await api.call('PUT', path, body, without);
      expect([answer.status, (answer.json() as { error: number }).error], path).to.deep.equal([403, 4000]);
    }
    api.forgetToken();
    for (const path of ['etc/../x', 'etc/rules/../../x', 'etc/manager.conf', '/etc/rules/x']) {
      const answer = await api.call('PUT', '/rules/tests', { files: [{ path, content: '' }] });
      expect(answer.status, path).to.equal(400);
    }
  });
});
