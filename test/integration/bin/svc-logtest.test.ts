import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const program = (name: string): string => fileURLToPath(new URL(`bin/${name}`, productRoot()));
const LINE = 'Mar  7 09:15:02 gate doord[1]: opened by ann';

type Result = { readonly code: number | null; readonly out: string; readonly log: string };

/** Runs svc-logtest. @param during is called once it runs, with its process; the input then stays open */
async function logtest(
  args: readonly string[],
  input: string,
  during?: (child: ChildProcess, shown: () => string) => Promise<void>,
): Promise<Result> {
  const child = spawn(process.execPath, [program('svc-logtest'), ...args], { stdio: 'pipe' });
  let out = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = once(child, 'close') as Promise<[number | null]>;
  if (during === undefined) {
    child.stdin.end(input);
  } else {
    child.stdin.write(input);
    await during(child, () => out);
  }
  const [code] = await ended;
  return { code, out, log };
}

describe('svc-logtest', () => {
  let home: TemporaryHome;
  let child: ChildProcess | undefined;
  let client: RequestClient<typeof analysisdContract>;

  before(async () => {
    home = new TemporaryHome();
    for (const directory of ['ruleset/rules', 'ruleset/decoders', 'etc/lists']) {
      mkdirSync(home.path(directory), { recursive: true });
    }
    writeFileSync(
      home.path('ruleset/decoders/door.xml'),
      `<decoder name="door"><program_name>^doord$</program_name></decoder>
<decoder name="door-open"><parent>door</parent><regex>^opened by (\\S+)</regex><order>user</order></decoder>\n`,
    );
    writeFileSync(
      home.path('ruleset/rules/door.xml'),
      `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
  <rule id="100200" level="5"><decoded_as>door</decoded_as><description>Opened by $(dstuser).</description></rule>
  <rule id="100210" level="9" frequency="3" timeframe="60"><if_matched_sid>100200</if_matched_sid><description>Many.</description></rule>
  <rule id="100400" level="3"><if_sid>99</if_sid><description>Never.</description></rule>
</group>\n`,
    );
    const options = fileURLToPath(new URL('etc/internal_options.conf', productRoot()));
    copyFileSync(options, home.path('etc/internal_options.conf'));
    writeFileSync(
      home.path('etc/manager.conf'),
      '<manager_config><alerts><log_alert_level>3</log_alert_level></alerts></manager_config>\n',
    );
    const daemon = spawn(process.execPath, [program('svc-analysisd'), '--home', home.root], { stdio: 'ignore' });
    child = daemon;
    client = new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') });
    await eventually('svc-analysisd answers', () =>
      client.call('ping', {}).then(
        () => existsSync(home.path('queue/sockets/logtest')),
        () => false,
      ),
    );
  });

  after(async () => {
    client.close();
    if (child?.exitCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    home.remove();
  });

  const sessions = async (): Promise<unknown> => {
    // a session that exists answers with its own token
    const answer = await client.call('logtest.run', {
      event: LINE,
      log_format: 'syslog',
      location: 'x',
      token: 'ffffffff',
    });
    await client.call('logtest.close', { token: String(answer.data['token']) });
    return answer.data['messages'];
  };

  it('shows the phases of lines that the running svc-analysisd analysed, and removes its session', async () => {
    const { code, out, log } = await logtest(
      ['--home', home.root, '-v', '-d', '-l', '/var/log/x'],
      `${LINE}\n\n${LINE}`,
    );
    expect(code).to.equal(0);
    expect(out.slice(0, out.indexOf('\n\n**Phase 1', 10) + 1)).to.equal(`
**Phase 1: Completed pre-decoding.
	full event: '${LINE}'
	timestamp: 'Mar  7 09:15:02'
	hostname: 'gate'
	program_name: 'doord'

**Phase 2: Completed decoding.
	name: 'door'
	dstuser: 'ann'

**Rule debugging:
	Trying rule: 1 - Any syslog.
		*Rule 1 matched
		*Trying child rules
	Trying rule: 100200 - Opened by $(dstuser).
		*Rule 100200 matched
		*Trying child rules
	Trying rule: 100210 - Many.

**Phase 3: Completed filtering (rules).
	id: '100200'
	level: '5'
	description: 'Opened by ann.'
	groups: '['syslog']'
	firedtimes: '1'
	mail: 'False'
**Alert to be generated.
`);
    expect(out).to.contain("\tfiredtimes: '2'");
    expect(log).to.match(/^Starting svc-logtest v[\d.]+\nType one log per line\n/);
    expect(log).to.contain('"origin":{"name":"wazuh-logtest","module":"wazuh-logtest"},"command":"log_processing"');
    expect(log).to.match(/INFO: \(7206\): The session '[0-9a-f]{8}' was closed successfully/);
  });

  it('shows explanations of the running svc-analysisd, with what its load said', async () => {
    const { out } = await logtest(['--home', home.root, '--explain', '--why', '100400'], `${LINE}\n`);
    expect(out).to.contain(`
**Explanation:
	Header: syslog, timestamp 'Mar  7 09:15:02', hostname 'gate', program_name 'doord'
`);
    expect(out).to.contain("\t    yes  100200 (level 5): decoded_as 'door': the decoder is 'door'\n");
    expect(out).to.contain('\t      no   100210 (level 9): 1 of 3 events of rule 100200 within 60 s\n');
    expect(out).to.match(
      /\n\*\*Why rule 100400 did not fire:\n\tRule 100400 was not loaded: \(7617\): Signature ID '99' .*door\.xml:5, rule 100400\)\n/,
    );
    const second = await logtest(['--home', home.root, '--why', '100210'], `${LINE}\n${LINE}\n${LINE}\n`);
    expect(second.out.match(/\d of 3 events/g)).to.deep.equal(['1 of 3 events', '2 of 3 events']);
    expect(second.out).to.contain('\n**Rule 100210 fired:\n\tRule 100210 did fire: an alert.\n');
  });

  it('exits with the status of the unit test', async () => {
    const run = async (triple: string, input: string): Promise<number | null> =>
      (await logtest(['--home', home.root, '-q', '-U', triple], input)).code;
    expect(await run('100210:9:door', `${LINE}\n${LINE}\n${LINE}\n`)).to.equal(0);
    expect(await run('100210:9:door', `${LINE}\n`)).to.equal(1);
    expect(await run('::', 'who knows\n')).to.equal(3);
    const bad = await logtest(['--home', home.root, '-U', '1:2'], '');
    expect([bad.code, bad.log]).to.deep.equal([1, 'Unit test configuration wrong syntax: 1:2\n']);
  });

  it('removes its session when a signal ends it', async () => {
    const { code } = await logtest(['--home', home.root, '-d'], `${LINE}\n`, async (running, shown) => {
      await eventually('the event is answered', () => shown().includes('**Alert to be generated.'));
      running.kill('SIGTERM');
    }).then((result) => {
      expect(result.log).to.contain('"command":"remove_session"').and.contain('was closed successfully');
      return result;
    });
    expect(code).to.equal(128 + 15);
  });

  it('passes on what the service refuses', async () => {
    const { code, out, log } = await logtest(['--home', home.root], `${'x'.repeat(70_000)}\n${LINE}\n`);
    expect(code).to.equal(1);
    expect(log).to.contain(
      '** Wazuh-logtest error 5: (7315): Failure to receive message: size is bigger than expected\n',
    );
    expect(out).to.contain("\tid: '100200'");
    expect(await sessions()).to.satisfy((messages: string[]) => messages[0]?.includes("'ffffffff' token expires"));
  });

  it('says where it looked when nobody answers', async () => {
    const { code, out, log } = await logtest(['--home', '/nonexistent'], `${LINE}\n`);
    expect([code, out]).to.deep.equal([1, '']);
    expect(log).to.contain(
      "** Wazuh-logtest error when connecting with wazuh-analysisd\n\t'/nonexistent' is not a home (make one with: ",
    );
  });

  it('takes answers that are none for a failed connection', async () => {
    const other = new TemporaryHome();
    mkdirSync(other.path('queue/sockets'), { recursive: true });
    const frame = (text: string): Buffer => {
      const header = Buffer.alloc(4);
      header.writeUInt32LE(Buffer.byteLength(text));
      return Buffer.concat([header, Buffer.from(text)]);
    };
    const replies = [
      Buffer.alloc(0),
      Buffer.from([1, 0]),
      frame('{').subarray(0, 4),
      frame('{'),
      frame('[]'),
      frame('{"data":1}'),
    ];
    const count = replies.length;
    const server: Server = createServer((socket) => {
      // The program looks whether somebody listens before it asks.
      socket.on('error', () => {}).once('data', () => socket.end(replies.shift() ?? Buffer.alloc(0)));
    });
    server.listen(other.path('queue/sockets/logtest'));
    await once(server, 'listening');
    try {
      const { code, log } = await logtest(['--home', other.root], `${LINE}\n`.repeat(count));
      expect(code).to.equal(1);
      expect(log.match(/error when connecting/g)).to.have.length(count);
    } finally {
      server.close();
      other.remove();
    }
  });

  it('works on a ruleset in a directory without any daemon', async () => {
    const { code, out } = await logtest(['--offline', '--ruleset', home.path('ruleset')], `${LINE}\r\n`.repeat(3));
    expect(code).to.equal(0);
    expect(out.match(/\tid: '\d+'/g)).to.deep.equal(["\tid: '100200'", "\tid: '100200'", "\tid: '100210'"]);
    const batch = await logtest(
      ['--offline', '--ruleset', home.path('ruleset'), '--ndjson', '--clock', '1774000000'],
      `${JSON.stringify({ session: null, location: 'x', log: `${LINE}\u2028 there` })}\nno json\n`,
    );
    const answers = batch.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers[0]).to.have.nested.property('output.full_log', `${LINE}\u2028 there`);
    expect(answers[1]).to.have.property('error');
    const explained = await logtest(
      ['--offline', '--ruleset', home.path('ruleset'), '--ndjson', '--text', '--explain', '--why', '100400', '-q'],
      LINE,
    );
    const answer = JSON.parse(explained.out) as Record<string, unknown>;
    expect(answer).to.have.nested.property('explain.result.rule', 100200);
    expect(answer).to.have.nested.property('explain.rules[2].failed.search.needed', 3);
    expect(answer)
      .to.have.nested.property('why.answer')
      .that.match(/^Rule 100400 was not loaded: /);
  });

  it('fails when the ruleset is not there, does not load, or nothing ran', async () => {
    const broken = new TemporaryHome();
    const empty = new TemporaryHome();
    try {
      mkdirSync(broken.path('rules'));
      writeFileSync(broken.path('rules/x.xml'), '<group name="x"><rule id="1" level="50"></rule></group>');
      mkdirSync(empty.path('rules'));
      const good = home.path('ruleset');
      const cases: [dirs: string, input: string, text: string][] = [
        [
          '/nonexistent',
          LINE,
          'svc-logtest: no such directory: --ruleset needs one with decoders/, rules/ (/nonexistent)',
        ],
        [`${good},/nonexistent`, LINE, 'no such directory'],
        [home.path('logs'), LINE, 'no ruleset: --ruleset needs a directory that holds decoders/, rules/ or lists/'],
        [empty.root, LINE, 'no file of decoders or rules (.xml) is there'],
        [broken.root, LINE, 'Invalid level: 50'],
        [good, '\n', 'nothing was run'],
      ];
      for (const [dirs, input, text] of cases) {
        for (const mode of [[], ['--ndjson', '--text']]) {
          const { code, log } = await logtest(['--offline', '--ruleset', dirs, ...mode], `${input}\n`);
          expect(log, `${dirs} ${mode.join(' ')}`).to.contain(text);
          expect(code, `${dirs} ${mode.join(' ')}`).to.equal(1);
        }
      }
    } finally {
      broken.remove();
      empty.remove();
    }
  });

  it('refuses options that do not go together', async () => {
    for (const args of [
      ['--ndjson'],
      ['--offline'],
      ['--ruleset', 'x'],
      ['--offline', '--ruleset', 'x', '--text'],
      ['--nope'],
      ['x'],
    ]) {
      const { code, log } = await logtest(args, '');
      expect(code, args.join(' ')).to.equal(1);
      expect(log).to.match(/^svc-logtest: /);
    }
  });
});
