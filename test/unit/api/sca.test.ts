import { expect } from 'chai';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { PolicyScan, type Results } from '../../support/db/sca-kit.js';

const POLICIES = '/sca/{agent_id}';
const CHECKS = '/sca/{agent_id}/checks/{policy_id}';

describe('policies of agents over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  let position = 0;

  const told = async (agent: string, messages: readonly string[]) => {
    const operations = messages.map((text) => ({
      ...{ position: position++, agent, kind: 'sca' as const, at: api.now },
      message: Buffer.from(text),
    }));
    await db.stores.sca.apply({ journal: 'one', operations, upTo: position });
  };

  before(async () => {
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(60);
    await db.registry.edit((edit) => {
      for (const id of [1, 2]) edit.setAgent(id, { ...db.registry.agents.get(id)!.record, status: 'active' });
    });
    lists = new ListCaller(api);
    const demo = new PolicyScan('demo_linux', 5, { 1: 'passed', 2: 'failed', 3: 'not applicable' });
    const web = new PolicyScan('web', 6, { 20: 'passed' }, 'a'.repeat(64));
    await told('001', [
      demo.summary(),
      demo.check(1, { condition: 'any' }),
      demo.check(2),
      demo.check(3),
      demo.dumpEnd(),
    ]);
    await told('001', [web.summary({ name: 'Servers', end_time: 1_700_000_999 }), ...web.dump()]);
  });
  after(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const policies = (query = '', id = '001') => lists.get(`/sca/${id}${query}`, POLICIES);
  const checks = (query = '', id = '001', name = 'demo_linux') =>
    lists.get(`/sca/${id}/checks/${name}${query}`, CHECKS);
  const ids = ({ data }: ApiList) => data.affected_items.map((item) => item['policy_id'] ?? item['id']);
  const checkIds = async (query: string) => (await checks(query)).data.affected_items.map(({ id }) => id);
  const problem = async (path: string, template: string) => {
    const answer = await api.call('GET', path);
    lists.checker.check('GET', template, answer);
    const { error, detail } = answer.json() as { error: number; detail: string };
    return [answer.status, error, detail];
  };
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);

  it('shows policies with all parameters of lists', async () => {
    const answer = await policies();
    expect(answer).to.deep.include({ message: 'All selected SCA information was returned', error: 0 });
    expect(answer.data.total_affected_items).to.equal(2);
    expect(ids(answer)).to.deep.equal(['web', 'demo_linux']);
    expect(answer.data.affected_items[1]).to.deep.equal({
      ...{ policy_id: 'demo_linux', name: 'Policy demo_linux', description: 'What it is for' },
      ...{ references: 'https://example.invalid/ref', hash_file: 'f'.repeat(64) },
      ...{ pass: 1, fail: 1, invalid: 1, total_checks: 3, score: 66 },
      ...{ start_scan: '2023-11-14T22:13:20+00:00', end_scan: '2023-11-14T22:13:24+00:00' },
    });
    for (const [query, expected] of [
      ['?sort=-end_scan', ['web', 'demo_linux']],
      ['?sort=%2Bpolicy_id', ['demo_linux', 'web']],
      ['?name=servers', ['web']],
      ['?description=What%20it%20is%20for&references=https://example.invalid/ref&limit=1', ['web']],
      ['?q=invalid>0;name~policy', ['demo_linux']],
      ['?search=-servers', ['demo_linux']],
      ['?offset=1', ['demo_linux']],
    ] as const) {
      expect(ids(await policies(query)), query).to.deep.equal(expected);
    }
    expect((await policies('?select=score&limit=1')).data.affected_items).to.deep.equal([
      { policy_id: 'web', score: 66 },
    ]);
    expect((await policies('?select=score&distinct=true')).data.affected_items).to.deep.equal([{ score: 66 }]);
    expect(await policies('', '002')).to.deep.include({ message: 'No SCA information was returned', error: 0 });
  });

  it('shows checks with all parameters of lists', async () => {
    const answer = await checks();
    expect(answer).to.deep.include({ message: 'All selected SCA/policy information was returned', error: 0 });
    expect(answer.data.total_affected_items).to.equal(3);
    expect(answer.data.affected_items[2]).to.deep.equal({
      ...{ policy_id: 'demo_linux', id: 3, title: 'Check 3 of demo_linux', description: 'Describes' },
      ...{ rationale: 'Why', remediation: 'How', file: '/etc/file3', condition: 'all' },
      ...{ result: 'not applicable', reason: "Could not open file '/etc/3'" },
      compliance: [
        { key: 'cis', value: '5.2.3' },
        { key: 'pci_dss', value: '2.2.4,2.2.5' },
      ],
      rules: [
        { type: 'file', rule: 'f:/etc/file3 -> r:^yes' },
        { type: 'numeric', rule: 'not c:true -> r:3' },
      ],
    });
    for (const [query, expected] of [
      ['?condition=all', [2, 3]],
      ['?condition=any', [1]],
      ['?result=failed', [2]],
      ['?title=check%201%20of%20demo_linux', [1]],
      ['?file=/etc/file2&rationale=why&remediation=how&description=describes', [2]],
      ['?command=x', []],
      ["?reason=Could%20not%20open%20file%20'/etc/3'", [3]],
      ['?q=compliance.key=cis;compliance.value=5.2.2', [2]],
      ['?q=rules.type=numeric;id>1', [2, 3]],
      ['?q=condition=all', [2, 3]],
      ['?q=result=passed,reason~open', [1, 3]],
      ['?search=5.2.3', [3]],
      ['?sort=-id', [3, 2, 1]],
      ['?sort=-result', [1, 3, 2]],
      ['?offset=1&limit=1', [2]],
    ] as const) {
      expect(await checkIds(query), query).to.deep.equal(expected);
    }
    expect((await checks('?select=compliance.key,result&limit=1')).data.affected_items).to.deep.equal([
      { id: 1, result: 'passed', compliance: [{ key: 'cis' }, { key: 'pci_dss' }] },
    ]);
    expect((await checks('?select=condition&distinct=true')).data.affected_items).to.deep.equal([
      { condition: 'any' },
      { condition: 'all' },
    ]);
    expect(await checks('', '001', 'unknown')).to.deep.include({
      message: 'No SCA/policy information was returned',
      error: 0,
    });
  });

  it('is asked by the dashboard for what contains a text in any of sixteen fields', async () => {
    const fields =
      'condition,file,title,id,result,compliance.value,rationale,remediation,description,process,directory,registry,reason,references,command,rules.rule';
    const query = (text: string) =>
      `?q=(${fields
        .split(',')
        .map((name) => `${name}~${text}`)
        .join(',')})`;
    expect(await checkIds(query('file2'))).to.deep.equal([2]);
    expect(await checkIds(query('5.2.3'))).to.deep.equal([3]);
    expect(await checkIds(query('nowhere'))).to.be.empty;
  });

  it('refuses what it cannot answer', async () => {
    const refused = async (path: string, template: string) => (await problem(path, template)).slice(0, 2);
    expect(await problem('/sca/001?select=file', POLICIES)).to.deep.equal([
      400,
      1724,
      'Not a valid select field: Allowed select fields: description, end_scan, fail, hash_file, invalid, name, pass, policy_id, references, score, start_scan, total_checks. Fields: file',
    ]);
    expect(await refused('/sca/001?sort=file', POLICIES)).to.deep.equal([400, 1403]);
    expect(await refused('/sca/001?q=file=1', POLICIES)).to.deep.equal([400, 1408]);
    expect(await refused('/sca/001?q=end_scan>soon', POLICIES)).to.deep.equal([400, 1412]);
    expect(await refused('/sca/001/checks/demo_linux?select=score', CHECKS)).to.deep.equal([400, 1724]);
    expect(await refused('/sca/001/checks/demo_linux?sort=score', CHECKS)).to.deep.equal([400, 1403]);
    expect(await refused('/sca/001/checks/unknown?q=score=1', CHECKS)).to.deep.equal([400, 1408]);
    expect(await refused('/sca/001/checks/demo_linux?q=id', CHECKS)).to.deep.equal([400, 1407]);
    const never = db.registry.agents.byId().find(({ record }) => record.status === 'never_connected')!.idText;
    expect(await refused(`/sca/${never}`, POLICIES)).to.deep.equal([400, 2007]);
    expect((await checks('', never)).data.total_affected_items).to.equal(0);
    const unknown = await policies('', '999');
    expect(unknown).to.deep.include({ message: 'No SCA information was returned', error: 1 });
    expect(failures(unknown)).to.deep.equal([[1701, '999']]);
    const nobody = await checks('', '999');
    expect(nobody).to.deep.include({ message: 'No SCA/policy information was returned', error: 1 });
    expect(failures(nobody)).to.deep.equal([[1701, '999']]);
  });

  it('puts a long list together from several answers of svc-db', async () => {
    const results: Results = Object.fromEntries(Array.from({ length: 135 }, (_none, id) => [id, 'passed']));
    const long = new PolicyScan('long', 5, results);
    const texts = Object.keys(results).map((id) => long.check(Number(id), { rationale: id.padEnd(60_000, '"') }));
    await told('002', [long.summary(), ...texts]);
    const { data } = await checks('', '002', 'long');
    expect(data.affected_items.map(({ id }) => id)).to.deep.equal(Object.keys(results).map(Number));
  });

  it('is for those who may, agent by agent', async () => {
    const user = { name: 'someone', password: 'Other-42-password' };
    await addUser(api, user, [policy('allow', 'sca:read', 'agent:id:001')]);
    const token = await api.login(user.name, user.password);
    const call = async (path: string) => {
      const answer = await api.request('GET', path, { headers: { authorization: `Bearer ${token}` } });
      return [answer.status, (answer.json() as { error: number }).error];
    };
    expect(await call('/sca/001')).to.deep.equal([200, 0]);
    expect(await call('/sca/001/checks/demo_linux')).to.deep.equal([200, 0]);
    expect(await call('/sca/002')).to.deep.equal([403, 4000]);
    expect(await call('/sca/002/checks/demo_linux')).to.deep.equal([403, 4000]);
  });
});
