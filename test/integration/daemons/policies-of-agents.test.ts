import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { resultsHash } from '../../support/db/sca-kit.js';
import { copyShippedRuleset } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';

/** As recorded (agent-transcript.md 12). */
const SUMMARY =
  '{"type":"summary","scan_id":1314069263,"name":"Reference SCA policy","policy_id":"ref_policy","file":"ref_policy.yml","description":"Small policy for protocol tests","references":"https://example.invalid/ref","passed":1,"failed":1,"invalid":1,"total_checks":3,"score":50,"start_time":1795222655,"end_time":1795222655,"hash":"5e68cc97df4c3592165b74578364dc6421f899797bd99ab5e2a7eaadf1117267","hash_file":"d251f76bed50c0e20aa69d2aa1aaad21ea13a21dd19af08691cf955916a56366"}';
const FIRST_SCAN = SUMMARY.replace(/}$/, ',"first_scan":1}');
const FORCED = SUMMARY.replace(/}$/, ',"force_alert":"1"}');
const POLICIES = '{"type":"policies","policies":["ref_policy"]}';
const CHECKS = [
  '{"type":"check","id":1314069263,"policy":"Reference SCA policy","policy_id":"ref_policy","check":{"id":90001,"title":"root in passwd","description":"d1","rationale":"r1","remediation":"fix1","compliance":{"cis":"1.1.1","pci_dss":"2.2"},"rules":["f:/etc/passwd -> r:^root:"],"condition":"all","file":"/etc/passwd","result":"passed"}}',
  '{"type":"check","id":1314069263,"policy":"Reference SCA policy","policy_id":"ref_policy","check":{"id":90002,"title":"no such user","rules":["f:/etc/passwd -> r:^nosuchuserzz:"],"condition":"any","file":"/etc/passwd","result":"failed"}}',
  '{"type":"check","id":1314069263,"policy":"Reference SCA policy","policy_id":"ref_policy","check":{"id":90003,"title":"not applicable","rules":["f:/nonexistent/file -> r:x"],"condition":"all","file":"/nonexistent/file","status":"Not applicable","reason":"Could not open file \'/nonexistent/file\'"}}',
] as const;
const DUMP_END = '{"type":"dump_end","policy_id":"ref_policy","elements_sent":3,"scan_id":1314069263}';
const ORDER = 'sca-dump:ref_policy:1';

type Alert = {
  readonly rule: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly data: { readonly sca: Readonly<Record<string, unknown>> };
};

describe('policies of agents', function () {
  this.timeout(120_000);
  const home = new RemotedHome();
  const key = identity(1);
  const agent = new MinimalAgent(key);
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const daemons = new Map<DaemonName, RunningDaemon>();

  before(async () => {
    copyShippedRuleset(home);
    home.keys(key);
    for (const name of ['svc-db', 'svc-analysisd', 'svc-remoted'] as const) await start(name);
    await db.call('agents.register', { id: key.id, name: key.name, dateAdd: 1_700_000_000 });
    await agent.connect(daemons.get('svc-remoted')?.port('agents_tcp') ?? 0);
    await agent.start();
  });
  after(async () => {
    agent.close();
    db.close();
    for (const daemon of daemons.values()) await daemon.stop('SIGKILL');
    home.remove();
  });

  async function start(name: DaemonName): Promise<void> {
    daemons.set(name, await RunningDaemon.start(name, home));
  }

  const say = (...messages: readonly string[]): void => {
    for (const message of messages) agent.event('sca', message, 'p');
  };
  const orders = (): string[] => agent.received.filter((text) => text.startsWith('sca-dump'));
  const asked = (count: number) => agent.until('a request for the results', () => orders().length >= count);
  const alerts = (): Alert[] => {
    const path = home.path('logs/alerts/alerts.json');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text
      .split('\n')
      .filter((line) => line.includes('"sca"'))
      .map((line) => JSON.parse(line) as Alert);
  };
  const alerted = (count: number) => eventually(`${String(count)} alerts`, () => alerts().length >= count);
  const rules = (from: number): string[] =>
    alerts()
      .slice(from)
      .map(({ rule }) => rule.id);
  const results = async (): Promise<unknown> => {
    const { items } = await db.call('sca.checks', { agent: key.id, policy: 'ref_policy' });
    return items.map(({ id, result }) => [id, result]);
  };
  const stored = (wanted: unknown) =>
    eventually('the results are stored', async () => {
      const found = await results().catch(() => undefined);
      return JSON.stringify(found) === JSON.stringify(wanted);
    });

  it('are dumped after a first scan, as recorded, with svc-db killed in between', async () => {
    say(FIRST_SCAN);
    await asked(1);
    say(POLICIES);
    await eventually(
      'the policy is stored',
      async () => (await db.call('sca.policies', { agent: key.id })).total === 1,
    );
    say(CHECKS[0]);
    await daemons.get('svc-db')?.stop('SIGKILL');
    say(CHECKS[1], CHECKS[2], DUMP_END, FORCED);
    await alerted(4);
    await start('svc-db');
    await stored([
      [90001, 'passed'],
      [90002, 'failed'],
      [90003, 'not applicable'],
    ]);
    // The summary comes once, with its score, and the first one of the scan is none.
    expect(rules(0)).to.deep.equal(['19008', '19007', '19009', '19003']);
    expect(alerts().every(({ agent: { id } }) => id === key.id)).to.equal(true);
    expect(alerts()[0]?.data.sca).to.deep.equal({
      type: 'check',
      scan_id: '1314069263',
      policy: 'Reference SCA policy',
      check: {
        ...{ id: '90001', title: 'root in passwd', description: 'd1', rationale: 'r1', remediation: 'fix1' },
        ...{ compliance: { cis: '1.1.1', pci_dss: '2.2' }, file: ['/etc/passwd'], result: 'passed' },
      },
    });
    const { items } = await db.call('sca.policies', { agent: key.id });
    expect(items).to.deep.equal([
      {
        ...{ policy_id: 'ref_policy', name: 'Reference SCA policy', description: 'Small policy for protocol tests' },
        ...{ references: 'https://example.invalid/ref', pass: 1, fail: 1, invalid: 1, total_checks: 3, score: 50 },
        hash_file: 'd251f76bed50c0e20aa69d2aa1aaad21ea13a21dd19af08691cf955916a56366',
        ...{ start_scan: '2026-11-21T00:57:35+00:00', end_scan: '2026-11-21T00:57:35+00:00' },
      },
    ]);
    expect(orders(), 'the engine and svc-db asked for the same').to.deep.equal([ORDER]);
  });

  it('tell a changed result with the one before', async () => {
    const changed = { 90001: 'passed', 90002: 'passed', 90003: 'not applicable' } as const;
    say(
      CHECKS[1].replace('1314069263', '77').replace('"result":"failed"', '"result":"passed"'),
      summary({ scan_id: 77, passed: 2, failed: 0, score: 100, hash: resultsHash(changed) }),
    );
    await alerted(6);
    expect(rules(4)).to.deep.equal(['19010', '19001']);
    expect(alerts()[4]?.data.sca).to.have.nested.property('check.previous_result', 'failed');
    await stored(Object.entries(changed).map(([id, result]) => [Number(id), result]));
    expect(orders()).to.deep.equal([ORDER]);
  });

  it('are dumped anew when a policy has another file, and go with the policy', async () => {
    const left = { 90001: 'passed' } as const;
    const other = {
      scan_id: 88,
      passed: 1,
      failed: 0,
      invalid: 0,
      total_checks: 1,
      score: 100,
      hash: resultsHash(left),
    };
    say(summary({ ...other, hash_file: 'e'.repeat(64) }));
    await asked(2);
    expect(orders()[1]).to.equal(ORDER);
    expect(await results()).to.deep.equal([]);
    say(
      CHECKS[0].replace('1314069263', '88'),
      DUMP_END.replace('1314069263', '88'),
      summary({ ...other, hash_file: 'e'.repeat(64), force_alert: '1' }),
    );
    await alerted(9);
    expect(rules(6), 'the check is a new one, and the summary comes again').to.deep.equal(['19001', '19008', '19001']);
    await stored([[90001, 'passed']]);
    say('{"type":"policies","policies":[]}');
    await eventually('it is gone', async () => (await db.call('sca.policies', { agent: key.id })).total === 0);
    expect(await results()).to.deep.equal([]);
  });

  it('are not asked for once more by a replay, and go with the agent', async () => {
    await daemons.get('svc-analysisd')?.stop('SIGKILL');
    await start('svc-analysisd');
    const left = { 90001: 'failed' } as const;
    const again = { scan_id: 99, passed: 0, failed: 1, invalid: 0, total_checks: 1, score: 0, hash: resultsHash(left) };
    say(
      CHECKS[0].replace('1314069263', '99').replace('"result":"passed"', '"result":"failed"'),
      summary({ ...again, hash_file: 'e'.repeat(64) }),
    );
    await stored([[90001, 'failed']]);
    await alerted(11);
    expect(rules(9)).to.deep.equal(['19007', '19005']);
    expect(orders()).to.deep.equal([ORDER, ORDER]);
    await db.call('agents.remove', { ids: [key.id] });
    const { sca } = (await db.call('stats', {})) as { sca?: unknown };
    expect(sca).to.deep.include({ policies: 0, checks: 0 });
  });

  function summary(members: Record<string, unknown>): string {
    return JSON.stringify({ ...(JSON.parse(SUMMARY) as object), ...members });
  }
});
