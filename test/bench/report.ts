/**
 * Prints what daily reports of svc-monitord take: CPU, memory, and how long its other work waits meanwhile.
 * `npm run bench -- report [alerts] [reports...]`; no report has a filter, and all list relations and show logs.
 */
import { once } from 'node:events';
import {
  copyFileSync,
  createWriteStream,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { monitordContract } from '../../lib/bus/contracts/monitord.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { productRoot } from '../../lib/product/product-root.js';
import { sampleAlert } from '../support/monitord/alert-files.js';
import { setClock, startWithClock } from '../support/monitord/clock-of-daemon.js';
import { SmtpReceiver } from '../support/monitord/smtp-receiver.js';
import { calibrate, quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { TemporaryHome } from '../support/temporary-home.js';

const USERS = 3000;
const ADDRESSES = 60_000;
const AGENTS = 500;
const ALERTS_AT_ONCE = 1000;
/** Between two pings of the daemon, milliseconds. */
const PING_MS = 5;

function alertLine(i: number): string {
  const srcip = `203.${String((i % ADDRESSES) >> 8)}.${String(i % 250)}.9`;
  const dstuser = `user${String(i % USERS)}`;
  const name = `web${String(i % AGENTS)}`;
  const alert = sampleAlert({
    timestamp: `2026-11-20T${new Date((i % 86_400) * 1000).toISOString().slice(11, 23)}+0000`,
    rule: {
      level: 3 + (i % 12),
      description: `sshd: login failed from ${srcip}`,
      id: String(5700 + (i % 40)),
      mitre: { id: ['T1110'], tactic: ['Credential Access'], technique: ['Brute Force'] },
      firedtimes: i,
      mail: false,
      groups: ['syslog', 'sshd', 'authentication_failed'],
      pci_dss: ['10.2.4', '10.2.5'],
    },
    agent: { id: String(i % AGENTS), name, ip: '10.0.0.7' },
    predecoder: { program_name: 'sshd', timestamp: 'Jun  5 10:11:23', hostname: name },
    data: { srcip, srcport: '4123', dstuser },
  });
  return `${JSON.stringify(alert)}\n`;
}

async function writeAlerts(file: string, count: number): Promise<void> {
  const stream = createWriteStream(file);
  for (let at = 0; at < count; at += ALERTS_AT_ONCE) {
    let text = '';
    for (let i = at; i < Math.min(count, at + ALERTS_AT_ONCE); i += 1) text += alertLine(i);
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

async function bench(file: string, reports: number): Promise<void> {
  const home = new TemporaryHome(undefined, join(file, '..'));
  const smtp = new SmtpReceiver();
  await smtp.start();
  const options = fileURLToPath(new URL('etc/internal_options.conf', productRoot()));
  copyFileSync(options, home.path('etc/internal_options.conf'));
  writeFileSync(home.path('etc/local_internal_options.conf'), 'monitord.day_wait=0\nmonitord.compress=0\n');
  const blocks = Array.from(
    { length: reports },
    (_, i) =>
      `<reports><title>Report ${String(i)}</title><user type="relation">srcip</user><showlogs>yes</showlogs><email_to>a@x.test</email_to></reports>`,
  );
  writeFileSync(
    home.path('etc/manager.conf'),
    `<manager_config><global><smtp_server>127.0.0.1</smtp_server><smtp_port>${String(smtp.port)}</smtp_port><email_from>m@x.test</email_from></global>${blocks.join('')}</manager_config>`,
  );
  setClock(home, '2026-11-20T12:00:00');
  const daemon = await startWithClock('svc-monitord', home);
  const client = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  const doneUntil = async () => ((await client.call('stats', {}))['reports'] as { done_until: string }).done_until;
  try {
    while ((await doneUntil()) !== '2026-11-19') await delay(PING_MS);
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    linkSync(file, home.path('logs/alerts/2026/Nov/ossec-alerts-20.json'));
    // What is signed after midnight is not measured: the live name still leads to it, which reports would wait for.
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.json.sum'), 'none\n');
    const before = processUsage(daemon.process.pid);
    const start = performance.now();
    setClock(home, '2026-11-21T00:00:01');
    const waits: number[] = [];
    while ((await doneUntil()) !== '2026-11-20') {
      const asked = performance.now();
      await client.call('ping', {});
      waits.push(performance.now() - asked);
      await delay(PING_MS);
    }
    const seconds = (performance.now() - start) / 1000;
    const after = processUsage(daemon.process.pid);
    waits.sort((a, b) => a - b);
    const wait = (share: number) => `${quantile(waits, share).toFixed(1)} ms`;
    console.log(
      `${String(reports)} reports: ${(after.cpu - before.cpu).toFixed(1)} s of CPU in ${seconds.toFixed(1)} s, ` +
        `${before.rss.toFixed(0)} MiB before, ${after.peak.toFixed(0)} MiB at most; a request waits ${wait(0.5)} (half), ` +
        `${wait(0.99)} (99 of 100), ${wait(1)} (longest); ${String(smtp.mails.length)} mails of ${String(smtp.mails[0]?.message.length)} bytes`,
    );
  } finally {
    client.close();
    await daemon.stop('SIGKILL');
    await smtp.stop();
    home.remove();
  }
}

const [alerts = 1_000_000, ...counts] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'svc-report-bench-'));
try {
  const file = join(directory, 'alerts.json');
  await writeAlerts(file, alerts);
  const { sha256Seconds, regExpSeconds } = calibrate();
  console.log(
    `${String(alerts)} alerts, ${(statSync(file).size / 2 ** 20).toFixed(0)} MiB (calibration ${sha256Seconds.toFixed(2)} s, ${regExpSeconds.toFixed(2)} s)`,
  );
  for (const count of counts.length > 0 ? counts : [1, 8]) await bench(file, count);
} finally {
  rmSync(directory, { recursive: true });
}
