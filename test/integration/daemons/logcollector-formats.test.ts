import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { logcollectorContract } from '../../../lib/bus/contracts/logcollector.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

/** What stands in a file of a format, and the messages that come of it. */
type Case = {
  readonly format: string;
  /** Below `logs`. */
  readonly file?: string;
  readonly more?: string;
  readonly lines: readonly string[];
  readonly messages: readonly (string | RegExp)[];
  readonly queue?: string;
};

const SNORT = ['[**] [1:1:1] SCAN [**]', '[Priority: 2]', '03/20-09:46:40.1 192.0.2.7:1 -> 192.0.2.8:2', ''];
const ALERT = [
  '** Alert 1700000000.1: - syslog,sshd,',
  '2026 Mar 20 09:46:40 (web) 192.0.2.7->/var/log/auth.log',
  "Rule: 5716 (level 5) -> 'sshd: authentication failed.'",
  'Src IP: 203.0.113.9',
  'User: root',
  'Mar 20 09:46:40 web sshd[1]: Failed password for root',
  '',
];
const AUDIT = 'msg=audit(1700000000.123:7): ';

const CASES: readonly Case[] = [
  ...['syslog', 'generic', 'apache', 'squid', 'iis', 'snort-fast'].map((format) => ({
    format,
    lines: ['one line', '', 'ends with a return\r'],
    messages: ['one line', 'ends with a return'],
  })),
  {
    format: 'json',
    more: '<label key="env">test</label>',
    lines: ['{ "a": 1.50, "b": "x y" }', 'none', '[1]'],
    messages: ['{"a":1.50,"b":"x y","env":"test"}'],
  },
  { format: 'multi-line: 3', lines: ['a', 'b', 'c', 'd', 'e', 'f'], messages: ['a b c', 'd e f'] },
  {
    format: 'multi-line-regex',
    more: '<multiline_regex match="start" replace="wspace" timeout="1">^\\d+:</multiline_regex>',
    lines: ['1: first', ' at x', '2: second'],
    messages: ['1: first  at x', '2: second'],
  },
  {
    format: 'audit',
    lines: [`type=SYSCALL ${AUDIT}a`, `type=PATH ${AUDIT}b`, 'no event', 'type=END msg=audit(1700000000.124:8): c'],
    messages: [`type=SYSCALL ${AUDIT}a type=PATH ${AUDIT}b`, 'type=END msg=audit(1700000000.124:8): c'],
  },
  {
    format: 'snort-full',
    lines: [...SNORT, ...SNORT],
    messages: Array(2).fill(SNORT.slice(0, 3).join(' ')) as string[],
  },
  {
    format: 'mysql_log',
    lines: ['070927 16:23:00 Connect root@localhost', '\t\t3 Query show tables', '2026-03-20T09:46:40.1Z 3 Quit'],
    messages: [
      'MySQL log: 070927 16:23:00 Connect root@localhost',
      'MySQL log: 070927 16:23:00 3 Query show tables',
      'MySQL log: 2026-03-20T09:46:40.1Z 3 Quit',
    ],
  },
  {
    format: 'postgresql_log',
    lines: [
      '[2026-03-20 09:46:40.186 CET] 192.0.2.99:shop LOG:  statement: select',
      '\t* from t',
      '2026-03-20 09:46:41.000 CET [7] LOG:  done',
    ],
    messages: [
      '[2026-03-20 09:46:40.186 CET] 192.0.2.99:shop LOG:  statement: select \t* from t',
      '2026-03-20 09:46:41.000 CET [7] LOG:  done',
    ],
  },
  {
    format: 'mssql_log',
    lines: ['2026-03-20 09:46:40.18 Logon Login failed', 'Reason: none', '2026-03-20 09:46:41.00 spid7s ok'],
    messages: ['2026-03-20 09:46:40.18 Logon Login failed Reason: none', '2026-03-20 09:46:41.00 spid7s ok'],
  },
  {
    format: 'nmapg',
    lines: [
      '# Nmap 7',
      'Host: 192.0.2.7 (web)\tPorts: 22/open/tcp//ssh///, 25/closed/tcp//smtp///, 53/open/udp//dns///\t',
    ],
    messages: ['Host: 192.0.2.7, open ports: 22(tcp) 53(udp)'],
    queue: '3',
  },
  {
    format: 'djb-multilog',
    file: 'qmail/current',
    lines: ['@4000000066e0c0de2a2b3c4d new msg 1'],
    messages: [new RegExp(`^[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d ${hostname()} qmail: new msg 1$`)],
  },
  {
    format: 'ossecalert',
    lines: ALERT,
    messages: [
      'ossec: Alert Level: 5; Rule: 5716 - sshd: authentication failed.; Location: (web) 192.0.2.7->/var/log/auth.log;' +
        ' srcip: 203.0.113.9; user: root;  Mar 20 09:46:40 web sshd[1]: Failed password for root',
    ],
  },
];

describe('log formats of svc-logcollector', function () {
  this.timeout(60_000);
  const home = new TemporaryHome();
  const sink = new KeepingSink(home);
  const peers: Socket[] = [];
  let server: Server;
  let copied = '';
  let daemon: RunningDaemon | undefined;

  const fileOf = ({ format, file }: Case): string => `logs/${file ?? `${format.replace(/\W/g, '-')}.log`}`;

  before(async () => {
    const block = (format: string, inner: string): string =>
      `<localfile><log_format>${format}</log_format>${inner}</localfile>\n`;
    const now = '<only-future-events>no</only-future-events>';
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc', 'internal_options.conf'),
    );
    writeFileSync(home.path('etc', 'local_internal_options.conf'), 'logcollector.loop_timeout=1\n');
    let config =
      '<socket><name>out</name><location>tmp/out.sock</location><mode>tcp</mode><prefix>app: </prefix></socket>\n';
    for (const each of CASES) {
      const file = home.path(fileOf(each));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, each.lines.map((line) => `${line}\n`).join(''));
      config += block(each.format, `<location>${fileOf(each)}</location>${now}${each.more ?? ''}`);
    }
    const targets = '<target>agent,out</target><out_format target="out">$(location) $(log)</out_format>';
    config += block(
      'command',
      `<command>printf 'a\\nb\\nc\\n'</command><alias>abc</alias><ignore>b$</ignore>${targets}`,
    );
    config += block('full_command', `<command>echo x; echo y</command><alias>xy</alias><target>out</target>`);
    execFileSync('mkfifo', [home.path('logs', 'pipe')]);
    config += block('syslog-pipe', `<location>logs/pipe</location>${targets}`);
    config += block('journald', '<location>journald</location><filter field="PRIORITY">^[0-3]$</filter>');
    config += block('journald', '<location>journald</location><filter field="SYSLOG_IDENTIFIER">^sshd$</filter>');
    config += '<socket><name>old</name><location>/dev/log</location></socket>\n';
    config += block('syslog', `<location>logs/more.log</location><target>agent, old, none</target>`);
    config += block('syslog', `<location>logs/nobody.log</location><target>old</target>`);
    config += block('eventchannel', '<location>Security</location><query>x</query><reconnect_time>5s</reconnect_time>');
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>\n${config}</manager_config>\n`);
    server = createServer((peer) => {
      peers.push(peer);
      peer.on('data', (chunk: Buffer) => (copied += chunk.toString())).on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(home.path('tmp', 'out.sock'), resolve));
    await sink.start();
    journalctl();
    const { PATH } = process.env;
    process.env['PATH'] = `${home.path('bin')}:${PATH ?? ''}`;
    try {
      daemon = await RunningDaemon.start('svc-logcollector', home);
    } finally {
      process.env['PATH'] = PATH;
    }
  });

  /** A program of that name, which shows a journal of four entries. */
  function journalctl(): void {
    const entries = [
      { PRIORITY: '3', SYSLOG_IDENTIFIER: 'disk', MESSAGE: 'broken' },
      { PRIORITY: '6', SYSLOG_IDENTIFIER: 'cron', MESSAGE: 'nobody wants this' },
      { PRIORITY: '6', SYSLOG_IDENTIFIER: 'sshd', _PID: '7', MESSAGE: 'let in' },
      { PRIORITY: '0', MESSAGE: 'on fire' },
    ];
    const lines = entries.map((entry, index) =>
      JSON.stringify({ __CURSOR: String(index), __REALTIME_TIMESTAMP: '1750000000000000', _HOSTNAME: 'web', ...entry }),
    );
    writeFileSync(home.path('tmp', 'journal'), lines.map((line) => `${line}\n`).join(''));
    const script = `#!/bin/sh\nexec tail -n +1 -f '${home.path('tmp', 'journal')}'\n`;
    writeFileSync(home.path('bin', 'journalctl'), script, { mode: 0o755 });
  }

  after(async () => {
    await daemon?.stop();
    await sink.stop();
    peers.forEach((peer) => peer.destroy());
    server.close();
    home.remove();
  });

  const messagesOf = (location: string): string[] =>
    sink.events.filter((event) => event.location === location).map(({ message }) => message.toString());

  for (const each of CASES) {
    it(`reads ${each.format}`, async () => {
      const location = fileOf(each);
      await eventually('its messages', () => messagesOf(location).length >= each.messages.length);
      const got = messagesOf(location);
      expect(got).to.have.length(each.messages.length);
      each.messages.forEach((message, index) => {
        if (typeof message === 'string') expect(got[index]).to.equal(message);
        else expect(got[index]).to.match(message);
      });
      expect(sink.events.find((event) => event.location === location)?.queue).to.equal(each.queue ?? '1');
    });
  }

  it('reads syslog-pipe', async () => {
    appendFileSync(home.path('logs', 'pipe'), 'from the pipe\nand again\n');
    await eventually('both lines', () => messagesOf('logs/pipe').length === 2);
    expect(messagesOf('logs/pipe')).to.deep.equal(['from the pipe', 'and again']);
    await eventually('their copies', () => copied.includes('app: logs/pipe and again\n'));
  });

  it('reads journald by filters of several blocks', async () => {
    await eventually('its entries', () => messagesOf('journald').length >= 3);
    const texts = messagesOf('journald').map((message) => message.slice('Mon dd hh:mm:ss '.length));
    expect(texts).to.deep.equal(['web disk: broken', 'web sshd[7]: let in', 'web unknown: on fire']);
  });

  it('tells of sockets and targets that are not there, and uses the others', async () => {
    const output = daemon?.output ?? '';
    const lineOf = (text: string): number =>
      readFileSync(home.path('etc', 'manager.conf'), 'utf8')
        .split('\n')
        .findIndex((line) => line.includes(text)) + 1;
    const place = (what: string, text: string): string => `${what} in etc/manager.conf, line ${lineOf(text)}`;
    const more = place('localfile', 'more.log');
    for (const text of [
      `${place('socket', '/dev/log')}: mode 'udp' of 'old' is not available and nothing is written to it`,
      `${more}: the socket 'old' is not available, it gets nothing`,
      `${more}: there is no socket 'none', it gets nothing`,
      `${place('localfile', 'nobody.log')}: the socket 'old' is not available, the block is not used`,
    ]) {
      expect(output).to.include(`WARNING: ${text}`);
    }
    writeFileSync(home.path('logs', 'nobody.log'), 'x\n');
    writeFileSync(home.path('logs', 'more.log'), 'read\n');
    await eventually('the line', () => messagesOf('logs/more.log').length === 1);
    expect(output).to.not.include("nobody.log'");
  });

  it('copies commands to sockets, without what ignore leaves out', async () => {
    await eventually('their copies', () => copied.includes('abc ossec') && copied.includes('xy'));
    expect(messagesOf('abc')).to.deep.equal(["ossec: output: 'abc': a", "ossec: output: 'abc': c"]);
    expect(copied).to.include("app: abc ossec: output: 'abc': a\napp: abc ossec: output: 'abc': c\n");
    expect(copied).to.include("app: ossec: output: 'xy':\nx\ny\n");
    expect(messagesOf('xy')).to.deep.equal([]);
  });

  it('says of formats of other systems that they are not there', () => {
    expect(daemon?.output).to.match(
      /WARNING: localfile in etc\/manager\.conf, line \d+: log_format 'eventchannel' is not available here/,
    );
  });

  it('shows all of them in its state', async () => {
    const client = new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') });
    const { global } = await client.call('getstate', {});
    client.close();
    const shown = new Map(global.files.map((file) => [file.location, file]));
    expect([...shown.keys()]).to.have.members([
      ...CASES.map(fileOf),
      ...['abc', 'xy', 'logs/pipe', 'journald', 'logs/more.log'],
    ]);
    expect(shown.get('xy')?.targets).to.deep.equal([{ name: 'out', drops: 0 }]);
    expect(shown.get('abc')).to.deep.include({
      events: 2,
      targets: [
        { name: 'agent', drops: 0 },
        { name: 'out', drops: 0 },
      ],
    });
    for (const each of CASES) expect(shown.get(fileOf(each))?.events, each.format).to.equal(each.messages.length);
  });
});
