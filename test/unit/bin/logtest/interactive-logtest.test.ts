import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { InteractiveLogtest, type InteractiveOptions } from '../../../../bin/logtest/interactive-logtest.js';
import { type LogtestBackend, LogtestConnectionError } from '../../../../bin/logtest/logtest-backend.js';
import { OfflineBackend } from '../../../../bin/logtest/offline-backend.js';
import { parseUnitTest } from '../../../../bin/logtest/unit-test.js';
import { textStyle } from '../../../../bin/terminal/text-style.js';
import type { LogtestReply } from '../../../../lib/logtest/logtest-request.js';

const DECODERS = `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open"><parent>door</parent><regex>^opened by (\\S+)</regex><order>user</order></decoder>`;
const RULES = `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100200" level="5"><decoded_as>door</decoded_as><description>A door.</description></rule>
  <rule id="100201" level="0"><if_sid>100200</if_sid><match>silently</match><description>Quiet.</description></rule>
  <rule id="100210" level="9" frequency="3" timeframe="60"><if_matched_sid>100200</if_matched_sid><description>Many.</description></rule>
</group>`;
const line = (text: string): string => `Mar  7 09:15:02 gate doord[1]: ${text}`;

/** The tool with what it wrote. */
class Bench {
  out = '';
  log = '';
  readonly tool: InteractiveLogtest;

  constructor(backend: LogtestBackend, options: Partial<InteractiveOptions> & { triple?: string } = {}) {
    const { triple, ...rest } = options;
    this.tool = new InteractiveLogtest({
      backend,
      location: 'stdin',
      debugRules: false,
      explain: false,
      why: undefined,
      quiet: false,
      unitTest: triple === undefined ? undefined : parseUnitTest(triple),
      version: 'v1',
      write: (text) => (this.out += text),
      style: textStyle(false, {}),
      log: (text) => (this.log += text),
      connectionHint: 'Look there.',
      typed: true,
      ...rest,
    });
  }

  async run(...logs: string[]): Promise<number> {
    this.tool.start();
    for (const log of logs) await this.tool.event(log);
    return this.tool.end();
  }
}

describe('the interactive logtest', () => {
  let dir: string;
  const rules = (text: string): void => {
    writeFileSync(join(dir, 'rules', 'test.xml'), text);
  };
  const offline = (): OfflineBackend => new OfflineBackend({ dirs: [dir], logLevel: 3, now: () => 1_800_000_000_000 });
  const answers = (...replies: (LogtestReply | Error)[]): LogtestBackend & { removed: string[] } => {
    const removed: string[] = [];
    return {
      removed,
      process: () => {
        const next = replies.shift() ?? new LogtestConnectionError('gone');
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      },
      remove: (token) => {
        removed.push(token);
        return Promise.resolve({ error: 0, data: {} });
      },
    };
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-logtest-'));
    for (const name of ['decoders', 'rules']) mkdirSync(join(dir, name));
    writeFileSync(join(dir, 'decoders', 'test.xml'), DECODERS);
    rules(RULES);
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
  });

  it('keeps one session over all lines', async () => {
    const bench = new Bench(offline());
    expect(await bench.run(line('opened by ann'), '', line('opened by ann'), line('opened by ann'))).to.equal(0);
    expect(bench.log).to.equal('Starting svc-logtest v1\nType one log per line\n');
    expect(bench.out.match(/\tid: '\d+'/g)).to.deep.equal(["\tid: '100200'", "\tid: '100200'", "\tid: '100210'"]);
    expect(bench.out).to.contain("\tfiredtimes: '2'");
  });

  it('judges each event of a unit test, and ends with the status of the last', async () => {
    const cases: [triple: string, logs: string[], status: number, verdicts: string[]][] = [
      ['100200:5:door', [line('opened by ann')], 0, ['OK']],
      ['100201:0:door', [line('silently')], 0, ['OK']],
      ['::', ['nothing known'], 3, ['OK']],
      ['::door', [line('x')], 1, ["FAIL. Expected ['', '', 'door'] , Result ['100200', '5', 'door']"]],
      ['100210:9:door', [line('a'), line('b'), line('c')], 0, ['FAIL', 'FAIL', 'OK']],
      [
        '100200:5:door',
        [line('a'), 'nothing'],
        1,
        ['OK', "FAIL. Expected ['100200', '5', 'door'] , Result ['', '', '']"],
      ],
      ['100200:5:door', [], 1, []],
    ];
    for (const [triple, logs, status, verdicts] of cases) {
      const bench = new Bench(offline(), { triple });
      expect(await bench.run(...logs), triple).to.equal(status);
      const shown = bench.out.split('\n\nUnit test ').slice(1);
      expect(shown).to.have.length(verdicts.length);
      verdicts.forEach((verdict, i) => expect(shown[i]?.startsWith(verdict), `${triple} ${String(i)}`).to.equal(true));
    }
  });

  it('reads rule:level:decoder and nothing else', () => {
    expect(parseUnitTest('1:2:x')).to.deep.equal(['1', '2', 'x']);
    for (const bad of ['', '1', '1:2', '1:2:3:4']) expect(parseUnitTest(bad)).to.equal(undefined);
  });

  it('says nothing but errors and failed expectations when it is to be quiet', async () => {
    const bench = new Bench(offline(), { quiet: true, triple: '100200:5:door' });
    await bench.run(line('a'), 'nothing');
    expect(bench.out).to.equal("\nUnit test FAIL. Expected ['100200', '5', 'door'] , Result ['', '', '']\n");
    expect(bench.log).to.equal('');
  });

  it('shows warnings of the ruleset with their place, before the first phase', async () => {
    rules(
      RULES.replace(
        '</group>',
        '<rule id="100300" level="3"><if_sid>7</if_sid><description>x</description></rule></group>',
      ),
    );
    const bench = new Bench(offline());
    await bench.run('x');
    expect(bench.log).to.match(
      /\*\* Wazuh-Logtest: WARNING: \(7617\): Signature ID '7' was not found .* rule '100300'\. \(.*test\.xml:6, rule 100300\)\n/,
    );
    expect(bench.log).to.match(/\n\n$/);
  });

  it('shows why a ruleset does not load, and recovers', async () => {
    rules(RULES.replace('level="5"', 'level="20"'));
    const bench = new Bench(offline(), { triple: '100200:5:door' });
    await bench.tool.event(line('a'));
    expect(bench.log).to.match(
      /^\*\* Wazuh-logtest error -1: \n\tERROR: rules_op: Invalid level: 20\. .*test\.xml:3.*\n\tERROR: .*\n\tERROR: \(7311\): Failure to initializing session\n$/,
    );
    rules(RULES);
    await bench.tool.event(line('a'));
    expect(bench.out).to.contain('Unit test OK');
    rules('<group');
    expect(await bench.tool.end()).to.equal(0);
  });

  it('tells a new session, an error of a request, and a connection that fails', async () => {
    const good = (token: string): LogtestReply => ({ error: 0, data: { token, output: {}, alert: false, codemsg: 0 } });
    const backend = answers(
      good('aaaaaaaa'),
      good('bbbbbbbb'),
      { error: 5, message: '(7315): too big', data: {} },
      new LogtestConnectionError('/x: refused'),
      new LogtestConnectionError('/x: refused'),
    );
    const bench = new Bench(backend);
    expect(await bench.run('1', '2', '3', '4', '5')).to.equal(1);
    expect(backend.removed).to.deep.equal(['bbbbbbbb']);
    expect(bench.log).to.equal(
      'Starting svc-logtest v1\nType one log per line\n' +
        'New session was created with token "bbbbbbbb"\n' +
        '** Wazuh-logtest error 5: (7315): too big\n' +
        '** Wazuh-logtest error when connecting with wazuh-analysisd\n\t/x: refused\n\tLook there.\n' +
        '** Wazuh-logtest error when connecting with wazuh-analysisd\n',
    );
  });

  it('explains the way of an event, and why a rule did not fire', async () => {
    const bench = new Bench(offline(), { explain: true, why: 100210 });
    await bench.run(line('opened by ann'));
    expect(bench.out.slice(bench.out.indexOf('\n\n**Explanation') + 1)).to.equal(`
**Explanation:
	Header: syslog, timestamp 'Mar  7 09:15:02', hostname 'gate', program_name 'doord'
	Log: 'opened by ann'
	Decoders with program_name:
	  yes  door: program_name osmatch '^doord$'
	  yes  door: selected (${dir}/decoders/test.xml:1)
	  yes  door-open: taken without a test, since it has no prematch (${dir}/decoders/test.xml:2)
	  yes  door-open: regex osregex '^opened by (\\S+)', goes on at byte 11
	Decoder: 'door', category syslog
	Fields: dstuser='ann'
	Rules:
	  yes  1 (level 0): no condition
	    yes  100200 (level 5): decoded_as 'door': the decoder is 'door'
	      no   100201 (level 0): match osmatch 'silently'
	      no   100210 (level 9): 1 of 3 events of rule 100200 within 60 s
	Result: Rule 100200 (level 5) took the event: an alert. Above it: 1.

**Why rule 100210 did not fire:
	Rule 100210 was tried, and did not match: 1 of 3 events of rule 100200 within 60 s.
	Rule 100210 is at ${dir}/rules/test.xml:5.
`);
  });

  it('sums up rules and decoders for others, unless everything is to be shown', async () => {
    const others = Array.from({ length: 12 }, (_, i) => String(200000 + i));
    const decoder = (name: string): string =>
      `<decoder name="d${name}"><program_name>^d${name}$</program_name></decoder>`;
    writeFileSync(join(dir, 'decoders', 'others.xml'), others.map(decoder).join(''));
    const rule = (id: string): string =>
      `<rule id="${id}" level="3"><decoded_as>d${id}</decoded_as><description>x</description></rule>`;
    rules(RULES.replace('</group>', `${others.map(rule).join('')}</group>`));
    const run = async (debugRules: boolean): Promise<string> => {
      const bench = new Bench(offline(), { explain: true, debugRules });
      await bench.run('Mar  7 09:15:02 gate other: \u001b x');
      return bench.out;
    };
    const short = await run(false);
    expect(short).to.contain('\t  no   13 decoders, program_name: d200000, d200001,').and.contain(' and 5 more\n');
    expect(short).to.contain('\t    no   13 rules for other decoders, programs or fields: 100200, 200000,');
    expect(short).to.contain('Decoder: none').and.contain('Result: No rule took the event.');
    const long = await run(true);
    for (const id of others) {
      expect(long).to.contain(`no   ${id} (level 3): decoded_as 'd${id}': no decoder took the event\n`);
      expect(long).to.contain(`no   d${id}: program_name osmatch '^d${id}$'\n`);
    }
  });

  it('shows no explanation that is none', async () => {
    const data = { token: 'aaaaaaaa', output: {}, alert: false, codemsg: 0, explain: { rules: 7 }, why: 'because' };
    const bench = new Bench(answers({ error: 0, data }));
    expect(await bench.run('x')).to.equal(0);
    expect(bench.out).to.match(/No decoder matched\.\n$/);
  });

  it('takes any bytes', async () => {
    const backend = offline();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, header) => {
        const text = Buffer.from(bytes).toString('latin1');
        const bench = new Bench(backend, { debugRules: true, explain: true, why: 100210 });
        expect(await bench.run(header ? line(text) : text)).to.equal(0);
        expect(bench.log).to.equal('Starting svc-logtest v1\nType one log per line\n');
      }),
      { numRuns: 300 },
    );
  });
});
