import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { resultHash, summaryMessage } from '../../../../../daemons/modulesd/sca/sca-messages.js';
import { ScaKit } from '../../../../support/modulesd/sca-kit.js';

/** What the manager of the transcript was told (agent-transcript.md 12), but for the sum of a file that is not known. */
const SCAN_ID = 1_314_069_263;
const TIME = 1_795_222_655;

const POLICY = `policy:
  id: "ref_policy"
  file: "ref_policy.yml"
  name: "Reference SCA policy"
  description: "Small policy for protocol tests"
  references:
    - https://example.invalid/ref
checks:
  - id: 90001
    title: "root in passwd"
    description: "d1"
    rationale: "r1"
    remediation: "fix1"
    compliance:
      - cis: ["1.1.1"]
      - pci_dss: ["2.2"]
    condition: all
    rules:
      - 'f:/etc/passwd -> r:^root:'
  - id: 90002
    title: "no such user"
    condition: any
    rules:
      - 'f:/etc/passwd -> r:^nosuchuserzz:'
  - id: 90003
    title: "not applicable"
    condition: all
    rules:
      - 'f:/nonexistent/file -> r:x'
`;
const HASH_FILE = createHash('sha256').update(POLICY).digest('hex');
const summary = (end: string) =>
  `{"type":"summary","scan_id":1314069263,"name":"Reference SCA policy","policy_id":"ref_policy","file":"ref_policy.yml","description":"Small policy for protocol tests","references":"https://example.invalid/ref","passed":1,"failed":1,"invalid":1,"total_checks":3,"score":50,"start_time":1795222655,"end_time":1795222655,"hash":"5e68cc97df4c3592165b74578364dc6421f899797bd99ab5e2a7eaadf1117267","hash_file":"${HASH_FILE}",${end}}`;
const POLICIES = '{"type":"policies","policies":["ref_policy"]}';
const CHECKS = [
  '{"type":"check","id":1314069263,"policy":"Reference SCA policy","policy_id":"ref_policy","check":{"id":90001,"title":"root in passwd","description":"d1","rationale":"r1","remediation":"fix1","compliance":{"cis":"1.1.1","pci_dss":"2.2"},"rules":["f:/etc/passwd -> r:^root:"],"condition":"all","file":"/etc/passwd","result":"passed"}}',
  '{"type":"check","id":1314069263,"policy":"Reference SCA policy","policy_id":"ref_policy","check":{"id":90002,"title":"no such user","rules":["f:/etc/passwd -> r:^nosuchuserzz:"],"condition":"any","file":"/etc/passwd","result":"failed"}}',
  `{"type":"check","id":1314069263,"policy":"Reference SCA policy","policy_id":"ref_policy","check":{"id":90003,"title":"not applicable","rules":["f:/nonexistent/file -> r:x"],"condition":"all","file":"/nonexistent/file","status":"Not applicable","reason":"Could not open file '/nonexistent/file'"}}`,
];
const DUMP_END = '{"type":"dump_end","policy_id":"ref_policy","elements_sent":3,"scan_id":1314069263}';

describe('scans of the configuration assessment', () => {
  let kit: ScaKit;

  beforeEach(() => {
    kit = new ScaKit({ scanId: SCAN_ID, time: TIME });
    kit.write('ruleset/sca/ref.yml', POLICY);
    kit.write('base/etc/passwd', 'root:x:0:0:root:/root:/bin/bash\n');
  });
  afterEach(async () => {
    await kit.close();
  });

  it('tell what the reference told, byte for byte and with its pauses', async () => {
    await kit.scan();
    expect(kit.take()).to.deep.equal(['pause 3000', summary('"first_scan":1'), POLICIES]);
    // The manager asked twice, and was answered once.
    expect([kit.dumps.take('ref_policy', true), kit.dumps.take('ref_policy', true)]).to.deep.equal([true, true]);
    await kit.answered(1);
    expect(kit.take()).to.deep.equal([
      ...['pause 2000', ...CHECKS, 'pause 5000', DUMP_END],
      ...['pause 2000', summary('"force_alert":"1"')],
    ]);
    expect(kit.dumps.counts).to.deep.equal({ taken: 2, merged: 1, unknown: 0, answered: 1 });
    // 491 bytes with `p:sca:` are those of the transcript.
    expect(Buffer.byteLength(`p:sca:${summary('"first_scan":1')}`)).to.equal(491);
    expect(Buffer.byteLength(`p:sca:${CHECKS[2] ?? ''}`)).to.equal(302);
  });

  it('tell only what changed from then on', async () => {
    await kit.scan();
    kit.take();
    await kit.scan();
    expect(kit.take().filter((text) => text.includes('"check"'))).to.deep.equal([]);
    kit.write('base/etc/passwd', 'root:x:0:0\nnosuchuserzz:x:1:1\n');
    kit.scanId = 7;
    await kit.scan();
    const told = kit.take();
    expect(told).to.have.length(4);
    expect(told[0]).to.match(/^\{"type":"check","id":7,.*"id":90002,.*"result":"passed"\}\}$/);
    expect(told[1]).to.equal('pause 3000');
    expect(told[2]).to.match(
      /"scan_id":7,.*"passed":2,"failed":0,"invalid":1,"total_checks":3,"score":100,.*"hash_file":"[0-9a-f]{64}"\}$/,
    );
    expect(kit.scans.counts).to.deep.equal({ scans: 3, skipped: 0, refused: 0, changed: 1, cut: 0 });
    kit.dumps.take('ref_policy', false);
    await kit.answered(1);
    const dump = kit.take();
    expect(dump[0]).to.equal('pause 150000');
    expect(dump).to.have.length(6);
    expect(dump.filter((text) => text.startsWith('{"type":"check","id":7,'))).to.have.length(3);
    expect(dump.at(-1)).to.match(/"dump_end".*"scan_id":7\}$/);
    expect(kit.log).to.include(
      "warn: Integration checksum failed for policy 'ref_policy'. Resending scan results in 150 seconds.",
    );
  });

  it('hurry when what waits is wanted after a first scan, too', async () => {
    await kit.scan();
    kit.take();
    kit.holdPauses();
    kit.dumps.take('ref_policy', false);
    await kit.paused('pause 150000');
    kit.dumps.take('ref_policy', true);
    await kit.answered(1);
    const told = kit.take();
    expect(told.slice(0, 2)).to.deep.equal(['pause 150000', 'pause 2000']);
    expect(told.at(-1)).to.equal(summary('"force_alert":"1"'));
    expect(kit.dumps.take('other', true)).to.equal(false);
    expect(kit.dumps.counts).to.deep.equal({ taken: 2, merged: 1, unknown: 1, answered: 1 });
  });

  it('answer each request that comes after an answer, and none when they are stopped', async () => {
    await kit.scan();
    for (let count = 1; count <= 2; count += 1) {
      kit.take();
      kit.dumps.take('ref_policy', true);
      await kit.answered(count);
      expect(kit.take()).to.include(DUMP_END);
    }
    kit.holdPauses();
    kit.dumps.take('ref_policy', false);
    await kit.paused('pause 150000');
    await kit.dumps.stop();
    expect(kit.take()).to.deep.equal(['pause 150000']);
    expect(kit.log.filter((line) => line.startsWith('error:'))).to.deep.equal([]);
  });

  it('do not mix with the answer to a request', async () => {
    await kit.scan();
    kit.take();
    kit.write('base/etc/passwd', 'nobody:x:0:0\n');
    kit.dumps.take('ref_policy', true);
    kit.scanId = 8;
    await Promise.all([kit.scan(), kit.answered(1)]);
    const ids = kit.take().flatMap((text) => /"(?:scan_)?id":(8|1314069263),/.exec(text)?.[1] ?? []);
    expect(ids.join()).to.match(/^(?:8,)*8(?:,8)*$|^(?:8,)*(?:1314069263,?)+(?:8,?)*$/);
  });

  it('skip a policy whose requirements are not met, and name it all the same', async () => {
    kit.write(
      'ruleset/sca/ref.yml',
      POLICY.replace('checks:', 'requirements: {title: "A shadow", condition: all, rules: ["f:/etc/shadow"]}\nchecks:'),
    );
    await kit.scan();
    expect(kit.take()).to.deep.equal([POLICIES]);
    expect(kit.log).to.include("info: Skipping policy 'ruleset/sca/ref.yml': 'A shadow'");
    expect(kit.scans.counts.skipped).to.equal(1);
  });

  it('go on without a policy that is not right any more, and have nobody forget it', async () => {
    await kit.scan();
    kit.take();
    kit.write('ruleset/sca/ref.yml', 'policy: [');
    kit.write('ruleset/sca/other.yml', POLICY.replace('"ref_policy"', 'other').replaceAll('id: 9', 'id: 8'));
    await kit.scan();
    expect(kit.take().at(-1)).to.equal('{"type":"policies","policies":["other","ref_policy"]}');
    expect(kit.scans.counts.refused).to.equal(1);
    expect(kit.log).to.include("warn: Error found while validating policy file: 'ruleset/sca/ref.yml'. Skipping it.");
    expect(kit.dumps.take('ref_policy', true)).to.equal(true);
    await kit.answered(1);
    kit.remove('ruleset/sca/ref.yml');
    await kit.scan();
    expect(kit.take().at(-1)).to.equal('{"type":"policies","policies":["other"]}');
    expect(kit.dumps.take('ref_policy', true)).to.equal(false);
  });

  it('cut messages that are too long, and say so', async () => {
    const long = (text: string) => `"${text.repeat(60_000)}"`;
    kit.write(
      'ruleset/sca/ref.yml',
      POLICY.replace('"d1"', long('é'))
        .replace('"r1"', long('x'))
        .replace('"Small policy for protocol tests"', '"\\x01"')
        .replace('"fix1"', '"short"'),
    );
    await kit.scan();
    kit.take();
    kit.dumps.take('ref_policy', true);
    await kit.answered(1);
    const message = kit.take().find((text) => text.includes('"id":90001')) ?? '';
    expect(Buffer.byteLength(message)).to.be.within(50_000, 64_000);
    const { check } = JSON.parse(message) as { check: Record<string, string> };
    expect(check).to.include({ title: 'root in passwd', result: 'passed', remediation: 'short' });
    expect(check['rationale']).to.match(/^x*\.\.\.$/);
    expect(check['description']).to.match(/^é+\.\.\.$/);
    expect(kit.scans.counts.cut).to.equal(1);
    expect(kit.log).to.include(
      "warn: The message of check 90001 of policy 'ruleset/sca/ref.yml' is too long: it is sent without all of its texts.",
    );
  });

  it('never send what does not fit, whatever a check says', async () => {
    const huge = Array.from({ length: 255 }, (_, index) => `"f:/${'\\x01'.repeat(200)}${String(index)}"`).join();
    kit.write(
      'ruleset/sca/ref.yml',
      POLICY.replace("- 'f:/etc/passwd -> r:^root:'", '')
        .replace('rules:\n      \n', `rules: [${huge}]\n`)
        .replace('"1.1.1"', `"${'\\x02'.repeat(30_000)}"`),
    );
    await kit.scan();
    kit.take();
    kit.dumps.take('ref_policy', true);
    await kit.answered(1);
    const message = kit.take().find((text) => text.includes('"id":90001')) ?? '';
    expect(Buffer.byteLength(message)).to.be.below(64_001);
    expect((JSON.parse(message) as { check: object }).check).to.have.property('result');
  });

  it('end when they are called off', async () => {
    const off = new AbortController();
    kit.holdPauses();
    const scanning = kit.scan(off.signal).catch((error: unknown) => error);
    await kit.paused('pause 3000');
    off.abort(new Error('called off'));
    expect(await scanning).to.have.property('message', 'called off');
    expect(kit.take()).to.deep.equal(['pause 3000']);
  });
});

describe('figures of a scan', () => {
  it('have a sum in which not applicable is nothing', () => {
    const sum = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(resultHash(['passed', 'failed', 'na', 'passed'])).to.equal(
      '52c366b6850b45834ab9ea233b577bda47adf3ad554b53772eeb38eaba59645c',
    );
    expect(resultHash(['na', 'passed'])).to.equal(sum(':passed'));
    expect(resultHash([])).to.equal(sum(''));
  });

  it('have a score in single precision, written as agents write it', () => {
    const policy = {
      id: 'p',
      file: 'f',
      name: 'n',
      description: 'd',
      references: [],
      requirements: undefined,
      variables: [],
      checks: [],
    };
    const score = (passed: number, failed: number) => {
      const results = [
        ...Array<'passed'>(passed).fill('passed'),
        ...Array<'failed'>(failed).fill('failed'),
        'na' as const,
      ];
      const scan = { policy, fileHash: 'h', scanId: 1, started: 1, ended: 2, results };
      return /"score":([^,]*),/.exec(summaryMessage(scan).text)?.[1];
    };
    expect([score(2, 1), score(0, 0), score(1, 0), score(1, 1), score(1, 2), score(1, 7)]).to.deep.equal([
      ...['66.666664123535156', '0', '100', '50', '33.333332061767578', '12.5'],
    ]);
  });
});
