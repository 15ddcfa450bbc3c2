import { expect } from 'chai';
import { policiesMessage, PolicyScan, type Results, resultsHash, ScaKit } from '../../../../support/db/sca-kit.js';

const RESULTS: Results = { 90001: 'passed', 90002: 'failed', 90003: 'not applicable' };

describe('Results of policies in the database', () => {
  let kit: ScaKit;
  beforeEach(async () => {
    kit = await ScaKit.open();
  });
  afterEach(() => kit.close());

  const first = new PolicyScan('demo', 1314, RESULTS);

  it('knows the hash of results that agents send', () => {
    expect(resultsHash({ 1: 'passed', 2: 'failed', 3: 'not applicable', 4: 'passed' })).to.equal(
      '52c366b6850b45834ab9ea233b577bda47adf3ad554b53772eeb38eaba59645c',
    );
  });

  it('asks for the results of a first scan, and has them after the dump', async () => {
    expect(await kit.take('001', first.summary({ first_scan: 1 }), policiesMessage('demo'))).to.deep.equal([
      '001 sca-dump:demo:1',
    ]);
    expect((await kit.checks()).total).to.equal(0);
    expect(await kit.take('001', ...first.dump())).to.be.empty;
    expect(await kit.take('001', first.summary({ force_alert: '1' }))).to.be.empty;
    expect(kit.database.counters.dumps).to.deep.equal({ requested: 1, given_up: 0 });
    await kit.reopen();
    expect(await kit.results('001', 'demo')).to.deep.equal(RESULTS);
    expect(await kit.results('002', 'demo')).to.be.empty;
    expect(kit.database.stats()).to.deep.include({ policies: 1, checks: 3 });
  });

  it('does not ask for what comes in the same call', async () => {
    expect(
      await kit.take('001', first.summary({ first_scan: 1 }), ...first.dump(), first.summary({ force_alert: '1' })),
    ).to.be.empty;
    expect(await kit.results('001', 'demo')).to.deep.equal(RESULTS);
  });

  it('takes a changed result, and asks when one was lost', async () => {
    await kit.take('001', first.summary({ first_scan: 1 }), ...first.dump());
    const second = new PolicyScan('demo', 1315, { ...RESULTS, 90002: 'passed' });
    expect(await kit.take('001', second.check(90002), second.summary())).to.be.empty;
    expect(await kit.results('001', 'demo')).to.deep.equal(second.results);
    const third = new PolicyScan('demo', 1316, { ...RESULTS, 90001: 'failed' });
    expect(await kit.take('001', third.check(90001), third.summary()), '90002 is lost').to.deep.equal([
      '001 sca-dump:demo:0',
    ]);
    expect(await kit.take('001', ...third.dump())).to.be.empty;
    expect(await kit.results('001', 'demo')).to.deep.equal(third.results);
  });

  it('drops checks that a dump does not tell any more', async () => {
    await kit.take('001', first.summary({ first_scan: 1 }), ...first.dump());
    const second = new PolicyScan('demo', 1315, { 90001: 'passed' });
    expect(await kit.take('001', second.summary())).to.deep.equal(['001 sca-dump:demo:0']);
    expect(await kit.take('001', ...second.dump())).to.be.empty;
    expect(await kit.results('001', 'demo')).to.deep.equal(second.results);
    expect(await kit.sizes()).to.deep.equal({ policies: 1, checks: 1, definitions: 1, digests: 1 });
  });

  it('begins anew when the file of a policy is another one', async () => {
    await kit.take('001', first.summary({ first_scan: 1 }), ...first.dump());
    const changed = new PolicyScan('demo', 1315, { 90001: 'passed', 90002: 'failed' }, 'e'.repeat(64));
    expect(await kit.take('001', changed.summary({ first_scan: 1 }))).to.deep.equal(['001 sca-dump:demo:1']);
    expect(await kit.results('001', 'demo')).to.be.empty;
    expect((await kit.policies()).items).to.have.nested.property('[0].hash_file', 'e'.repeat(64));
    expect(await kit.take('001', ...changed.dump(), changed.summary({ force_alert: '1' }))).to.be.empty;
    expect(await kit.results('001', 'demo')).to.deep.equal(changed.results);
    expect(await kit.sizes()).to.deep.equal({ policies: 1, checks: 2, definitions: 2, digests: 2 });
  });

  it('takes policies away that an agent does not have any more, and no others', async () => {
    const other = new PolicyScan('other', 1400, { 1: 'passed' });
    for (const agent of ['001', '002']) {
      await kit.take(agent, first.summary({ first_scan: 1 }), ...first.dump(), other.summary(), ...other.dump());
    }
    await kit.take('001', policiesMessage('other', 'a third'));
    expect((await kit.policies()).items.map(({ policy_id: id }) => id)).to.deep.equal(['other']);
    expect(await kit.results('001', 'demo')).to.be.empty;
    expect(await kit.results('001', 'other')).to.deep.equal({ 1: 'passed' });
    expect(await kit.results('002', 'demo')).to.deep.equal(RESULTS);
    expect(await kit.sizes()).to.deep.equal({ policies: 3, checks: 5, definitions: 4, digests: 4 });
  });

  it('keeps the texts of a policy once for all agents', async () => {
    for (const agent of ['001', '002']) await kit.take(agent, first.summary(), ...first.dump());
    expect(await kit.sizes()).to.deep.equal({ policies: 2, checks: 6, definitions: 3, digests: 3 });
    await kit.database.forget(['001']);
    expect(await kit.results('002', 'demo')).to.deep.equal(RESULTS);
    await kit.database.forget(['002']);
    expect(await kit.sizes()).to.deep.equal({ policies: 0, checks: 0, definitions: 0, digests: 0 });
    expect(kit.database.stats()).to.deep.include({ policies: 0, checks: 0 });
  });

  it('changes nothing twice when a journal is told again, and asks again as nobody may have heard', async () => {
    const operations = kit.operations('001', [first.summary({ first_scan: 1 }), policiesMessage('demo')]);
    expect(await kit.apply(operations)).to.deep.equal(['001 sca-dump:demo:1']);
    await kit.reopen();
    expect(kit.database.position).to.deep.equal({ journal: 'one', position: 2 });
    expect(await kit.apply(operations), 'told again').to.deep.equal(['001 sca-dump:demo:1']);
    const dump = kit.operations('001', first.dump());
    await kit.apply([...operations, ...dump]);
    expect(await kit.apply([...operations, ...dump]), 'all is there').to.be.empty;
    expect(kit.database.counters.events).to.deep.equal({ applied: 4, repeated: 2 + 2 + 6 });
    expect(await kit.results('001', 'demo')).to.deep.equal(RESULTS);
    expect(await kit.wrongUses()).to.be.empty;
  });

  it('does not ask for ever what never comes right', async () => {
    await kit.take('001', first.summary({ hash: 'a'.repeat(64) }));
    const asked: string[][] = [];
    for (let round = 0; round < 7; round += 1) asked.push(await kit.take('001', ...first.dump()));
    expect(asked.flat()).to.deep.equal(Array.from({ length: 3 }, () => '001 sca-dump:demo:0'));
    expect(kit.database.counters.dumps).to.deep.equal({ requested: 4, given_up: 4 });
    expect(kit.logger.lines.filter((line) => line.includes('does not give the results'))).to.have.lengthOf(1);
    expect(await kit.take('001', first.summary({ hash: 'a'.repeat(64) })), 'the next scan').to.have.lengthOf(1);
  });

  it('asks again for what still lacks when the end of its dump is told again, as often as that may be', async () => {
    const wrong = first.summary({ hash: 'a'.repeat(64) });
    const told = kit.operations('001', [wrong]);
    await kit.apply(told);
    expect(await kit.apply(told), 'there are no results at all').to.deep.equal(['001 sca-dump:demo:1']);
    await kit.take('001', first.check(90001));
    expect(await kit.apply(told), 'there are some').to.deep.equal(['001 sca-dump:demo:0']);
    for (let round = 1; round <= 4; round += 1) {
      const end = kit.operations('001', [first.dumpEnd()]);
      const expected = round <= 3 ? ['001 sca-dump:demo:0'] : [];
      expect(await kit.apply(end), String(round)).to.deep.equal(expected);
      expect(await kit.apply(end), `${String(round)} again`).to.deep.equal(expected);
      expect(await kit.apply([...told, ...end]), `${String(round)} with the summary`).to.have.lengthOf(1);
    }
    const gone = kit.operations('001', [policiesMessage()]);
    await kit.apply(gone);
    expect(await kit.apply([...told, ...gone]), 'of a policy that is not there any more').to.be.empty;
  });

  it('does not ask for what a later event of the call takes back', async () => {
    const lacking = first.summary({ hash: 'a'.repeat(64) });
    expect(await kit.take('001', lacking, policiesMessage('other'))).to.be.empty;
    expect(await kit.take('001', lacking, ...first.checks(), first.summary())).to.be.empty;
    expect(await kit.take('001', lacking, first.summary({ hash_file: 'e'.repeat(64) }))).to.deep.equal([
      '001 sca-dump:demo:1',
    ]);
    expect(await kit.take('002', first.dumpEnd()), 'of a policy that is not known').to.be.empty;
    expect(await kit.take('002', first.summary({ first_scan: 1 }), ...first.dump()), 'the end of its dump').to.be.empty;
    const ends = Array.from({ length: 4 }, () => first.dumpEnd());
    expect(await kit.take('002', lacking, ...ends), 'given up').to.be.empty;
    expect(kit.database.counters.refused.malformed).to.equal(0);
  });

  it('cuts reasons that are too long between two characters', async () => {
    const reason = (text: string) => first.check(90003, { result: undefined, reason: text });
    for (const [told, kept] of [
      ['x'.repeat(4096), 'x'.repeat(4096)],
      ['x'.repeat(4097), 'x'.repeat(4096)],
      [`x${'\u00e9'.repeat(3000)}`, `x${'\u00e9'.repeat(2047)}`],
    ] as const) {
      await kit.take('001', reason(told));
      expect((await kit.checks()).items[0]).to.have.property('reason', kept);
    }
  });

  it('refuses what is no result, with the reason counted, and goes on', async () => {
    const scan = new PolicyScan('demo', 7, { 1: 'passed' });
    const bad = [
      'no json',
      '[]',
      '{"type":"other"}',
      scan.check(1, { id: -1 }),
      scan.check(1, { id: 2 ** 48 }),
      scan.check(1, { id: '1' }),
      scan.check(1, { title: 5 }),
      scan.check(1, { result: 'maybe' }),
      scan.check(1, { rules: Array.from({ length: 256 }, () => 'f:/etc/x') }),
      scan.summary({ policy_id: 'a\nb' }),
      scan.summary({ policy_id: 'x'.repeat(257) }),
      scan.summary({ scan_id: -1 }),
      scan.summary({ score: '5' }),
      '{"type":"policies"}',
      '{"type":"dump_end","policy_id":"demo"}',
    ];
    await kit.take('001', ...bad, scan.summary(), ...scan.dump());
    await kit.take('003', scan.summary());
    await kit.take(
      '001',
      scan.check(2, { description: 'x'.repeat(70_000) }),
      scan.summary({ description: 'x'.repeat(40_000) }),
    );
    expect(kit.database.counters.refused).to.deep.equal({
      malformed: bad.length,
      unknown_agent: 1,
      too_many_policies: 0,
      policy_too_large: 1,
      too_many_checks: 0,
      check_too_large: 1,
    });
    expect(await kit.results('001', 'demo')).to.deep.equal({ 1: 'passed' });
    expect(kit.logger.lines.filter((line) => line.includes('is not stored'))).to.have.lengthOf(3);
  });

  it('takes what agents of old releases tell: an empty result, another condition, numbers as tags', async () => {
    const scan = new PolicyScan('demo', 1, { 1: 'passed' });
    await kit.take(
      '001',
      scan.check(1, {
        result: '',
        condition: 'all required',
        compliance: { cis: 5, odd: {} },
        rules: ['x:y', 5, 'p:cron'],
      }),
      scan.check(2, { result: 'failed', condition: 'sometimes', references: undefined }),
    );
    const { items } = await kit.checks();
    expect(items[0]).to.deep.include({
      result: 'not applicable',
      condition: 'all',
      compliance: [{ key: 'cis', value: '5' }],
      rules: [{ type: 'process', rule: 'p:cron' }],
    });
    for (const name of ['condition', 'references']) expect(items[1], name).not.to.have.property(name);
    expect((await kit.policies()).items, 'no summary yet').to.be.empty;
  });

  it('forgets agents that went while it was away', async () => {
    for (const agent of ['001', '002']) await kit.take(agent, first.summary(), ...first.dump());
    kit.unregister('001');
    await kit.reopen();
    expect(kit.database.holds('001')).to.equal(false);
    expect(kit.database.holds('002')).to.equal(true);
    expect(await kit.sizes()).to.deep.equal({ policies: 1, checks: 3, definitions: 3, digests: 3 });
  });
});
