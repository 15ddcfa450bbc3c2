import { expect } from 'chai';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import { PolicyScan, ScaKit } from '../../../../support/db/sca-kit.js';

describe('Lists of policies and checks', () => {
  let kit: ScaKit;
  before(async () => {
    kit = await ScaKit.open();
    const demo = new PolicyScan('demo', 5, { 1: 'passed', 2: 'failed', 3: 'not applicable' });
    const web = new PolicyScan('web', 6, { 20: 'passed', 3: 'failed' }, 'a'.repeat(64));
    await kit.take(
      '001',
      demo.summary({ score: 50.9, end_time: 1_700_000_300 }),
      demo.check(1, { compliance: { cis: '1.1', pci_dss: '2.2' }, rules: ['f:/etc/a', 'd:/etc'], condition: 'any' }),
      demo.check(2, { compliance: { cis: '2.2', hipaa: '1.1' }, rules: ['c:id'], file: undefined, command: 'id' }),
      demo.check(3, { compliance: undefined, rules: ['not p:cron'], title: 'A Third one' }),
      demo.dumpEnd(),
      web.summary({ description: undefined, references: undefined, start_time: 0, name: 'Servers' }),
      ...web.dump(),
    );
  });
  after(() => kit.close());

  const ids = async (params: Parameters<ScaKit['checks']>[0]) =>
    (await kit.checks(params)).items.map(({ id }) => id as number);
  const names = async (params: Parameters<ScaKit['policies']>[0]) =>
    (await kit.policies(params)).items.map(({ policy_id: id }) => id as string);
  const refusal = async (list: Promise<unknown>): Promise<string> => {
    const error = await list.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof BusError ? error.code : String(error);
  };

  it('show a policy with all that was told of it, the last id first', async () => {
    expect(await kit.policies()).to.deep.equal({
      items: [
        {
          policy_id: 'web',
          name: 'Servers',
          pass: 1,
          fail: 1,
          score: 66,
          invalid: 0,
          total_checks: 2,
          hash_file: 'a'.repeat(64),
          end_scan: '2023-11-14T22:13:24+00:00',
        },
        {
          policy_id: 'demo',
          name: 'Policy demo',
          description: 'What it is for',
          references: 'https://example.invalid/ref',
          pass: 1,
          fail: 1,
          score: 50,
          invalid: 1,
          total_checks: 3,
          hash_file: 'f'.repeat(64),
          start_scan: '2023-11-14T22:13:20+00:00',
          end_scan: '2023-11-14T22:18:20+00:00',
        },
      ],
      total: 2,
    });
    expect(await kit.policies({ agent: '002' })).to.deep.equal({ items: [], total: 0 });
  });

  it('filter, order and cut policies', async () => {
    expect(await names({ name: 'policy DEMO' })).to.deep.equal(['demo']);
    expect(await names({ name: 'all' })).to.deep.equal(['web', 'demo']);
    expect(await names({ description: 'what it is' })).to.be.empty;
    expect(await names({ references: 'https://example.invalid/ref' })).to.deep.equal(['demo']);
    expect(await names({ search: 'server' })).to.deep.equal(['web']);
    expect(await names({ search: '-server' })).to.deep.equal(['demo']);
    expect(await names({ sort: '-end_scan' })).to.deep.equal(['demo', 'web']);
    expect(await names({ sort: 'score' })).to.deep.equal(['demo', 'web']);
    expect(await names({ q: 'score>50;fail=1' })).to.deep.equal(['web']);
    expect(await names({ q: 'end_scan>2023-11-14 22:15:00' })).to.deep.equal(['demo']);
    expect(await names({ q: 'end_scan<1d' }), 'younger than a day').to.deep.equal(['web', 'demo']);
    expect(await names({ q: 'description=null' })).to.deep.equal(['web']);
    expect(await kit.policies({ offset: 1, limit: 1, select: ['score'] })).to.deep.equal({
      items: [{ policy_id: 'demo', score: 50 }],
      total: 2,
    });
    expect(await kit.policies({ select: ['description'], distinct: true })).to.deep.equal({
      items: [{ description: 'What it is for' }],
      total: 1,
    });
    expect(await refusal(Promise.resolve(kit.policies({ sort: 'title' })).then())).to.equal('query_1403');
    expect(await refusal(Promise.resolve(kit.policies({ select: ['hash'] })).then())).to.equal('query_1724');
    expect(await refusal(Promise.resolve(kit.policies({ q: 'hash=1' })).then())).to.equal('query_1408');
    expect(await refusal(Promise.resolve(kit.policies({ q: 'score' })).then())).to.equal('query_1407');
    expect(await refusal(Promise.resolve(kit.policies({ q: 'end_scan>x' })).then())).to.equal('query_1412');
  });

  it('show a check with its tags and rules, in the order of ids', async () => {
    const { items, total } = await kit.checks();
    expect(total).to.equal(3);
    expect(items[0]).to.deep.equal({
      policy_id: 'demo',
      id: 1,
      title: 'Check 1 of demo',
      description: 'Describes',
      rationale: 'Why',
      remediation: 'How',
      file: '/etc/file1',
      result: 'passed',
      condition: 'any',
      compliance: [
        { key: 'cis', value: '1.1' },
        { key: 'pci_dss', value: '2.2' },
      ],
      rules: [
        { type: 'file', rule: 'f:/etc/a' },
        { type: 'directory', rule: 'd:/etc' },
      ],
    });
    expect(items[2]).to.deep.include({
      result: 'not applicable',
      reason: "Could not open file '/etc/3'",
      compliance: [],
      rules: [{ type: 'numeric', rule: 'not p:cron' }],
    });
    expect(await ids({ policy: 'web' })).to.deep.equal([3, 20]);
    expect(await ids({ policy: 'none' })).to.be.empty;
    expect(await kit.checks({ offset: 1, limit: 1, select: ['id'] })).to.deep.equal({ items: [{ id: 2 }], total: 3 });
  });

  it('filter checks by every column, `all` being a condition', async () => {
    expect(await ids({ condition: 'all' })).to.deep.equal([2, 3]);
    expect(await ids({ condition: 'any' })).to.deep.equal([1]);
    expect(await ids({ condition: 'none' })).to.be.empty;
    expect(await ids({ result: 'Not Applicable' })).to.deep.equal([3]);
    expect(await ids({ result: 'all' })).to.deep.equal([1, 2, 3]);
    expect(await ids({ title: 'a third one' })).to.deep.equal([3]);
    expect(await ids({ file: '/etc/file1' })).to.deep.equal([1]);
    expect(await ids({ command: 'ID' })).to.deep.equal([2]);
    expect(await ids({ reason: "could not open file '/etc/3'" })).to.deep.equal([3]);
    expect(await ids({ rationale: 'why', remediation: 'how', description: 'describes' })).to.deep.equal([1, 2, 3]);
    for (const name of ['process', 'directory', 'registry', 'references'] as const) {
      expect(await ids({ [name]: 'x' }), name).to.be.empty;
    }
    expect(await ids({ search: 'hipaa' })).to.deep.equal([2]);
    expect(await ids({ search: '-cis' })).to.deep.equal([3]);
    expect(await ids({ sort: '-title' })).to.deep.equal([2, 1, 3]);
    expect(await ids({ sort: '-id', limit: 2 })).to.deep.equal([3, 2]);
  });

  it('ask for tags and rules as a joined table: clauses about both columns are about one row', async () => {
    expect(await ids({ q: 'condition=all' })).to.deep.equal([2, 3]);
    expect(await ids({ q: 'id>1;result=failed' })).to.deep.equal([2]);
    expect(await ids({ q: 'compliance.key=cis' })).to.deep.equal([1, 2]);
    expect(await ids({ q: 'compliance.key=cis;compliance.value=2.2' })).to.deep.equal([2]);
    expect(await ids({ q: 'compliance.value~1.1' })).to.deep.equal([1, 2]);
    expect(await ids({ q: 'compliance.key!=cis' })).to.deep.equal([1, 2]);
    expect(await ids({ q: 'compliance.key=null' })).to.deep.equal([3]);
    expect(await ids({ q: 'rules.type=directory;rules.rule~/etc' })).to.deep.equal([1]);
    expect(await ids({ q: 'rules.type=directory;rules.rule~/etc/a' })).to.be.empty;
    expect(await ids({ q: '(rules.rule~cron,compliance.key=hipaa)' })).to.deep.equal([2, 3]);
    expect(await ids({ q: 'rules.type=command;compliance.key=cis;compliance.value=2.2' })).to.deep.equal([2]);
  });

  it('show what is selected, of the tables below, too', async () => {
    expect((await kit.checks({ select: ['compliance.key', 'rules.rule'] })).items).to.deep.equal([
      { id: 1, compliance: [{ key: 'cis' }, { key: 'pci_dss' }], rules: [{ rule: 'f:/etc/a' }, { rule: 'd:/etc' }] },
      { id: 2, compliance: [{ key: 'cis' }, { key: 'hipaa' }], rules: [{ rule: 'c:id' }] },
      { id: 3, rules: [{ rule: 'not p:cron' }] },
    ]);
    expect(await kit.checks({ select: ['condition'], distinct: true, sort: '-condition' })).to.deep.equal({
      items: [{ condition: 'any' }, { condition: 'all' }],
      total: 2,
    });
    const select = ['policy_id', 'reason', 'compliance', 'rules'];
    expect((await kit.checks({ select, q: 'id=3' })).items).to.deep.equal([
      {
        ...{ id: 3, policy_id: 'demo', reason: "Could not open file '/etc/3'", compliance: [] },
        rules: [{ type: 'numeric', rule: 'not p:cron' }],
      },
    ]);
    expect(
      (await kit.checks({ select: ['compliance.key'], distinct: true })).items,
      'those that have one',
    ).to.deep.equal([
      { compliance: [{ key: 'cis' }, { key: 'pci_dss' }] },
      { compliance: [{ key: 'cis' }, { key: 'hipaa' }] },
    ]);
    expect(await kit.checks({ select: ['command'], distinct: true })).to.deep.equal({
      items: [{ command: 'id' }],
      total: 1,
    });
    expect(await refusal(kit.checks({ select: ['compliance.text'] }) as Promise<unknown>)).to.equal('query_1724');
    expect(await refusal(kit.checks({ sort: 'rules.type' }) as Promise<unknown>)).to.equal('query_1403');
    expect(await refusal(kit.checks({ q: 'scan_id=1' }) as Promise<unknown>)).to.equal('query_1408');
    expect(await refusal(kit.checks({ policy: 'none', q: 'scan_id=1' }) as Promise<unknown>)).to.equal('query_1408');
  });

  it('cut a page that is larger than a message', async () => {
    const scan = new PolicyScan('long', 5, {});
    const texts = Array.from({ length: 130 }, (_none, id) =>
      scan.check(id, { result: 'passed', rationale: String(id).padEnd(60_000, '"') }),
    );
    await kit.take('002', ...texts);
    const { items, total } = await kit.checks({ agent: '002', policy: 'long' });
    expect(total).to.equal(130);
    expect(items.length).to.be.within(60, 80);
    const rest = await kit.checks({ agent: '002', policy: 'long', offset: items.length });
    expect(rest.items[0]).to.have.property('id', items.length);
  });
});
