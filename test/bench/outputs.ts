/**
 * Prints what svc-monitord hands on: for each output alerts a second when many wait, then at a given rate how long an alert
 * takes from its writing to the receiver, and the CPU of svc-monitord. `npm run bench -- outputs [seconds] [alerts a second] [output]`;
 * the receiver is a child, which runs this file with its role.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { productRoot } from '../../lib/product/product-root.js';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { AlertFiles, sampleAlert } from '../support/monitord/alert-files.js';
import { SmtpReceiver } from '../support/monitord/smtp-receiver.js';
import { calibrate, quantile } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { TemporaryHome } from '../support/temporary-home.js';

const KINDS = ['udp', 'tcp', 'webhook', 'indexer', 'mail', 'program'] as const;
type Kind = (typeof KINDS)[number];
type Report = { readonly count: number; readonly delays: readonly number[] };

/** Alerts that wait at first. */
const BACKLOG: Readonly<Record<Kind, number>> = {
  udp: 100_000,
  tcp: 200_000,
  webhook: 10_000,
  indexer: 200_000,
  mail: 2000,
  program: 300,
};
/** Share of the wanted rate: a webhook has a request for each alert, a mail a connection, a program a process. */
const SHARE: Readonly<Record<Kind, number>> = { udp: 1, tcp: 1, webhook: 0.1, indexer: 1, mail: 0.01, program: 0.005 };
const TICK_MS = 10;
/** What has not come after so long without anything coming is lost. */
const PATIENCE_MS = 5000;
const WRITTEN = /written (\d+\.\d+)/g;

/** What a receiver has got: alerts say in their log when they were written. */
class Got {
  #count = 0;
  #delays: number[] = [];

  take(text: string): number {
    const now = performance.timeOrigin + performance.now();
    let found = 0;
    for (const [, written] of text.matchAll(WRITTEN)) {
      found += 1;
      this.#delays.push(now - Number(written));
    }
    this.#count += found;
    return found;
  }

  report(): Report {
    const report = { count: this.#count, delays: this.#delays };
    this.#delays = [];
    return report;
  }
}

const smtp = new SmtpReceiver();

async function receive(kind: Kind, file: string): Promise<void> {
  const got = new Got();
  const tell = process.send?.bind(process);
  process.on('message', () => {
    if (kind === 'program') got.take(takeFile(file));
    for (const { message } of smtp.mails.splice(0)) got.take(message);
    tell?.(got.report());
  });
  tell?.({ port: await listen(kind, got) });
}

/** @returns the port */
async function listen(kind: Kind, got: Got): Promise<number> {
  if (kind === 'mail') {
    await smtp.start();
    return smtp.port;
  }
  if (kind === 'udp') {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
    socket.on('message', (message) => got.take(message.toString('latin1')));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return socket.address().port;
  }
  const server =
    kind === 'tcp'
      ? createServer({ allowHalfOpen: true }, (socket) => {
          const chunks: Buffer[] = [];
          socket.on('data', (chunk) => chunks.push(chunk));
          socket.on('end', () => {
            got.take(Buffer.concat(chunks).toString('latin1'));
            socket.end();
          });
          socket.on('error', () => {});
        })
      : createWebServer((request, response) => {
          const chunks: Buffer[] = [];
          request.on('data', (chunk: Buffer) => chunks.push(chunk));
          request.on('end', () => {
            const count = got.take(Buffer.concat(chunks).toString('latin1'));
            response.end(answerTo(request.url ?? '', count));
          });
        });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function answerTo(url: string, count: number): string {
  if (url.startsWith('/_cat/health')) return '[{"status":"green"}]';
  if (!url.startsWith('/_bulk')) return '{}';
  return `{"errors":false,"items":[${Array.from({ length: count }, () => '{"create":{"status":201}}').join(',')}]}`;
}

let read = 0;

/** What programs have written since. */
function takeFile(file: string): string {
  const text = existsSync(file) ? readFileSync(file, 'latin1').slice(read) : '';
  const whole = text.lastIndexOf('\n') + 1;
  read += whole;
  return text.slice(0, whole);
}

function section(kind: Kind, port: number): string {
  const at = `127.0.0.1:${String(port)}`;
  switch (kind) {
    case 'webhook':
      return `<integration><name>webhook</name><hook_url>http://${at}/hook</hook_url><level>1</level></integration>`;
    case 'indexer':
      return `<indexer><enabled>yes</enabled><hosts><host>http://${at}</host></hosts><options><alerts>yes</alerts><states>no</states></options></indexer>`;
    case 'mail':
      return `<global><email_notification>yes</email_notification><email_to>a@x.test</email_to><email_from>b@x.test</email_from>
        <smtp_server>127.0.0.1</smtp_server><smtp_port>${String(port)}</smtp_port><email_maxperhour>1000000</email_maxperhour></global>
        <alerts><email_alert_level>1</email_alert_level></alerts>`;
    case 'program':
      return '<integration><name>custom-bench</name><alert_format>json</alert_format></integration>';
    default:
      return `<syslog_output><server>127.0.0.1</server><port>${String(port)}</port><protocol>${kind}</protocol><format>json</format></syslog_output>`;
  }
}

async function bench(kind: Kind, seconds: number, wanted: number): Promise<void> {
  const home = new TemporaryHome();
  const file = home.path('tmp', 'got');
  const child = fork(fileURLToPath(import.meta.url), ['receive', kind, file]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  writeFileSync(home.path('etc', 'manager.conf'), `<ossec_config>${section(kind, port)}</ossec_config>`);
  if (kind === 'program') {
    mkdirSync(home.path('integrations'));
    const program = home.path('integrations', 'custom-bench');
    // The time at which it was carried out is that at which the figures are asked for: only its rate is shown.
    writeFileSync(program, `#!/bin/sh\ncat "$1" >> '${file}'\n`);
    chmodSync(program, 0o750);
  }
  copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
  mkdirSync(home.path('logs', 'alerts'));
  const files = new AlertFiles(home.path('logs', 'alerts'), new Date());
  writeFileSync(home.path('etc', 'local_internal_options.conf'), 'maild.grouping=0\n');
  let daemon: RunningDaemon | undefined;
  try {
    daemon = await RunningDaemon.start('svc-monitord', home);
    // Outputs begin at the end of the stream: it has to be known.
    await delay(500);
    const backlog = BACKLOG[kind];
    const begun = performance.now();
    writeAlerts(files, backlog);
    const drained = await allOf(child, backlog);
    const passed = (drained.at - begun) / 1000;
    const rate = Math.round(wanted * SHARE[kind]);
    const pid = daemon.process.pid ?? 0;
    const cpu = processUsage(pid).cpu;
    const total = await writeAt(files, rate, seconds);
    const { count, delays } = await allOf(child, total);
    const { cpu: spent, rss } = processUsage(pid);
    const sorted = Float64Array.from(delays).sort();
    const shown =
      kind === 'program' ? '' : `, ${quantile(sorted, 0.5).toFixed(0)} ms, ${quantile(sorted, 0.99).toFixed(0)} ms`;
    const lost = backlog + total - drained.count - count;
    console.log(
      `${kind.padEnd(8)} ${rounded(drained.count / passed)}/s; at ${rounded(rate)}/s ${(((spent - cpu) * 1e6) / count).toFixed(1)} us of CPU an alert${shown}, ${rss.toFixed(0)} MiB, ${String(lost)} lost`,
    );
  } finally {
    child.kill('SIGKILL');
    await daemon?.stop('SIGKILL');
    files.close();
    home.remove();
  }
}

function writeAlerts(files: AlertFiles, count: number): void {
  const alerts = Array.from({ length: count }, () => sampleAlert({ full_log: LOG + written(), rule: MAILED }));
  for (let at = 0; at < count; at += 1000) files.write(...alerts.slice(at, at + 1000));
}

/** @returns how many were written */
async function writeAt(files: AlertFiles, rate: number, seconds: number): Promise<number> {
  const begun = performance.now();
  let written = 0;
  for (;;) {
    const passed = (performance.now() - begun) / 1000;
    const due = Math.floor(Math.min(passed, seconds) * rate);
    if (due > written) writeAlerts(files, due - written);
    written = due;
    if (passed >= seconds) return written;
    await delay(TICK_MS);
  }
}

/** Waits until so many have come, or no more come. */
async function allOf(child: ChildProcess, wanted: number): Promise<Report & { readonly at: number }> {
  let count = 0;
  const delays: number[] = [];
  let at = performance.now();
  for (;;) {
    child.send('report');
    const [report] = (await once(child, 'message')) as [Report];
    const now = performance.now();
    const fresh = report.delays.length;
    count += fresh;
    for (const one of report.delays) delays.push(one);
    if (fresh > 0) at = now;
    if (count >= wanted || now - at > PATIENCE_MS) return { count, delays, at };
    await delay(TICK_MS * 2);
  }
}

const MAILED = { level: 10, description: 'Many failures', id: '5712', firedtimes: 1, mail: true, groups: ['sshd'] };
const LOG = 'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9 port 4123 ssh2 ';
const written = (): string => `written ${(performance.timeOrigin + performance.now()).toFixed(3)}`;
const rounded = (value: number): string => Math.round(value).toLocaleString('en-US');

const [role, ...rest] = process.argv.slice(2);
if (role === 'receive') {
  await receive(rest[0] as Kind, rest[1] ?? '');
} else {
  const seconds = Number(role ?? 10);
  const rate = Number(rest[0] ?? 10_000);
  const { sha256Seconds, regExpSeconds } = calibrate();
  console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s of CPU`);
  for (const kind of KINDS.filter((one) => rest[1] === undefined || one === rest[1])) await bench(kind, seconds, rate);
  process.exit(0);
}
