import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import type { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { sampleAlert } from '../../support/monitord/alert-files.js';
import { setClock, startWithClock } from '../../support/monitord/clock-of-daemon.js';
import { SmtpReceiver } from '../../support/monitord/smtp-receiver.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const product = (name: string) => fileURLToPath(new URL(name, productRoot()));

type ReportStats = Readonly<Record<string, unknown>>;

describe('reports of svc-monitord', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let smtp: SmtpReceiver;
  let daemon: RunningDaemon | undefined;
  let client: RequestClient<typeof monitordContract>;

  beforeEach(async () => {
    home = new TemporaryHome();
    smtp = new SmtpReceiver();
    await smtp.start();
    copyFileSync(product('etc/internal_options.conf'), home.path('etc/internal_options.conf'));
    writeFileSync(home.path('etc/local_internal_options.conf'), 'monitord.day_wait=0\n');
    client = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  });
  afterEach(async () => {
    client.close();
    await daemon?.stop('SIGKILL');
    daemon = undefined;
    await smtp.stop();
    home.remove();
  });

  function configure(
    reports: string,
    server = `<smtp_server>127.0.0.1</smtp_server><smtp_port>${String(smtp.port)}</smtp_port>`,
  ) {
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config>\n<global>${server}<email_from>mgr@x.test</email_from><email_maxperhour>1</email_maxperhour></global>\n${reports}</manager_config>\n`,
    );
  }
  const LOGINS =
    '<reports><title>Logins</title><group>sshd</group><level>10</level><user type="relation">srcip</user>' +
    '<showlogs>yes</showlogs><email_to>a@x.test</email_to><email_to>b@x.test</email_to></reports>\n';

  async function start(): Promise<void> {
    daemon = await startWithClock('svc-monitord', home);
  }
  const stats = async () => (await client.call('stats', {}))['reports'] as ReportStats;
  /** All reports are done with this day. */
  const doneUntil = (day: string) =>
    eventually(`reports are done with ${day}`, async () => {
      const answer = await stats().catch(() => ({ done_until: '' }));
      return answer['done_until'] === day;
    });
  function alerts(name: string, ...changes: Record<string, unknown>[]): void {
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    const lines = changes.map((change) => `${JSON.stringify(sampleAlert(change))}\n`);
    writeFileSync(home.path('logs/alerts/2026/Nov', name), lines.join(''));
  }
  const low = { rule: { level: 3, id: '5715', description: 'ok', groups: ['sshd'] } };
  const log = () => readFileSync(home.path('logs/manager.log'), 'utf8');

  it('come once a day by mail, over a restart and a kill', async () => {
    configure(
      `${LOGINS}<reports><title>Nothing</title><rule>1</rule><email_to>a@x.test</email_to></reports>` +
        '<reports><title>All</title><email_to>c@x.test</email_to></reports>',
    );
    setClock(home, '2026-11-20T12:00:00');
    await start();
    await doneUntil('2026-11-19');
    alerts('ossec-alerts-20.json', {}, low);
    alerts('ossec-alerts-20-001.json', {});
    setClock(home, '2026-11-21T00:00:01');
    await doneUntil('2026-11-20');
    expect(await stats()).to.deep.include({ configured: 3, sent: 2, empty: 1, failed: 0, available: true });
    // More than one in an hour: the limit is for alerts.
    const subject = (message: string) => /^Subject: (.*)$/m.exec(message)?.[1]?.trim();
    const logins = smtp.mails.find(({ message }) => subject(message) === 'Logins');
    expect(smtp.mails.map(({ message }) => subject(message)).sort()).to.deep.equal(['All', 'Logins']);
    expect(logins?.to).to.deep.equal(['a@x.test', 'b@x.test']);
    expect(logins?.message).to.include("Report 'Logins' completed.\r\n");
    expect(logins?.message).to.include('->Processed alerts: 3\r\n->Post-filtering alerts: 2\r\n');
    expect(logins?.message).to.include("Related entries for 'Username':\r\n");
    expect(logins?.message).to.include('Log dump:\r\n');
    expect(log()).to.include("Report 'Nothing' completed and zero alerts post-filter.");
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await daemon?.stop(signal);
      await start();
      await doneUntil('2026-11-20');
    }
    expect(smtp.mails).to.have.length(2);
  });

  it('are made up for at the next start, and survive a kill in the middle of the mail', async () => {
    configure(LOGINS);
    setClock(home, '2026-11-20T12:00:00');
    await start();
    await doneUntil('2026-11-19');
    await daemon?.stop('SIGKILL');
    alerts('ossec-alerts-20.json', {});
    alerts('ossec-alerts-21.json', {}, {});
    setClock(home, '2026-11-22T09:00:00');
    smtp.replies.set('DATA', '');
    await start();
    await eventually('the mail is on its way', () => smtp.commands.includes('DATA'));
    expect(await stats()).to.deep.include({ sent: 0, waiting: 1, missed_days: 1 });
    await daemon?.stop('SIGKILL');
    expect(smtp.mails).to.have.length(0);
    smtp.replies.clear();
    smtp.replies.set('RCPT b@x.test', '550 nobody here');
    await start();
    await doneUntil('2026-11-21');
    expect(smtp.mails).to.have.length(1);
    expect(smtp.mails[0]?.to).to.deep.equal(['a@x.test']);
    expect(log()).to.match(/WARNING: A mail was taken, but not for b@x\.test: .*550 nobody/);
    expect(smtp.mails[0]?.message).to.include('->Processed alerts: 2\r\n');
    expect(log()).to.include("Report 'Logins' was not made of the 1 days after 2026-11-19");
  });

  it('wait for a server that is away, and begin with a reload', async () => {
    configure('');
    setClock(home, '2026-11-20T12:00:00');
    await start();
    configure(LOGINS);
    await client.call('reload', {});
    await doneUntil('2026-11-19');
    alerts('ossec-alerts-20.json', {});
    const { port } = smtp;
    await smtp.stop();
    setClock(home, '2026-11-21T00:00:01');
    await eventually('it was tried', async () => Number((await stats())['failed']) > 0);
    expect(await stats()).to.deep.include({ waiting: 1, available: false });
    await smtp.start(port);
    await doneUntil('2026-11-20');
    expect(smtp.mails).to.have.length(1);
    expect(log()).to.include("Report 'Logins' is not mailed for now: ").and.to.include('Reports are mailed again.');
  });

  it('are off without a mail server, which is told with file and line', () => {
    const test = () =>
      spawnSync(process.execPath, [product('bin/svc-monitord'), '-t', '--home', home.root], { encoding: 'utf8' });
    configure(`\n${LOGINS}${LOGINS}`, '');
    const { status, stderr } = test();
    expect(status).to.equal(0);
    expect(stderr.trimEnd()).to.match(
      /^[^\n]* svc-monitord: WARNING: Reports are off: <global> has no <smtp_server>\. \(etc\/manager\.conf, line 4\)$/,
    );
    configure(LOGINS);
    expect(test()).to.include({ status: 0, stderr: '' });
    configure(LOGINS.replace('<level>10</level>', '<level>\n100</level>'));
    const wrong = test();
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr).to.include("(1235): Invalid value for element 'level': ");
    expect(wrong.stderr).to.include("(1202): Configuration error at 'etc/manager.conf'. Line 3.");
  });
});
