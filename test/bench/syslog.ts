/**
 * Prints what svc-remoted takes of syslog: lines over TCP as fast as they go, and datagrams at a given rate, with the CPU of
 * svc-remoted a line and what is lost. `npm run bench -- syslog [seconds] [datagrams a second]`; the sender is a child, which
 * runs this file with its role.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RunningDaemon } from '../support/daemon/running-daemon.js';
import { calibrate } from '../support/process/measuring.js';
import { processUsage } from '../support/process/process-usage.js';
import { RemotedHome, sinkOf } from '../support/remoted/remoted-home.js';

const LINE = `<86>Mar 20 09:46:40 web02 sshd[10339]: Disconnected from user ubuntu 10.3.11.191 port 29678${' '.repeat(40)}`;
const LINES_AT_ONCE = 1000;
const TICK_MS = 4;

type Form = 'lines' | 'counted' | 'udp';

async function send(form: Form, port: number, rate: number): Promise<void> {
  if (form === 'udp') return sendDatagrams(port, rate);
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const message = form === 'lines' ? `${LINE}\n` : `${String(LINE.length)} ${LINE}`;
  const block = Buffer.from(message.repeat(LINES_AT_ONCE));
  for (;;) if (!socket.write(block)) await once(socket, 'drain');
}

async function sendDatagrams(port: number, rate: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const line = Buffer.from(LINE);
  const start = performance.now();
  let sent = 0;
  process.on('SIGTERM', () => {
    process.stdout.write(String(sent), () => process.exit(0));
  });
  for (;;) {
    const due = Math.floor(((performance.now() - start) / 1000) * rate);
    for (; sent < due; sent += 1) socket.send(line);
    await delay(TICK_MS);
  }
}

function sender(form: Form, port: number, rate: number): ChildProcess {
  const args = [fileURLToPath(import.meta.url), 'send', form, String(port), String(rate)];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function bench(form: Form, seconds: number, rate: number): Promise<void> {
  const protocol = form === 'udp' ? 'udp' : 'tcp';
  const home = new RemotedHome({
    sections: `<remote><connection>syslog</connection><port>0</port><local_ip>127.0.0.1</local_ip><protocol>${protocol}</protocol><allowed-ips>127.0.0.1</allowed-ips></remote>`,
  });
  home.keys();
  let taken = 0;
  const sink = sinkOf(home, (events) => {
    taken += events.length;
  });
  await sink.start();
  const daemon = await RunningDaemon.start('svc-remoted', home);
  const pid = daemon.process.pid ?? 0;
  const child = sender(form, daemon.port(`syslog_${protocol}`), rate);
  try {
    await delay(1000);
    const [cpu, count, start] = [processUsage(pid).cpu, taken, performance.now()];
    await delay(seconds * 1000);
    const [spent, events] = [processUsage(pid).cpu - cpu, taken - count];
    const passed = (performance.now() - start) / 1000;
    const number = (value: number) => Math.round(value).toLocaleString('en-US').padStart(8);
    const usage = `${number(events / passed)} /s here ${((spent * 1e6) / events).toFixed(1).padStart(5)} us of CPU a line ${processUsage(pid).rss.toFixed(0)} MiB`;
    const sent = await ended(child);
    await delay(1000);
    console.log(
      `${form.padEnd(8)} ${usage}${sent === undefined ? '' : `, ${String(sent - taken)} of ${String(sent)} lost`}`,
    );
  } finally {
    child.kill('SIGKILL');
    await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  }
}

/** Ends the sender. @returns how many datagrams it has sent; undefined over TCP */
async function ended(child: ChildProcess): Promise<number | undefined> {
  let text = '';
  child.stdout?.on('data', (data: Buffer) => (text += data.toString()));
  child.kill('SIGTERM');
  await once(child, 'close');
  return text === '' ? undefined : Number(text);
}

const [role, ...rest] = process.argv.slice(2);
if (role === 'send') {
  await send(rest[0] as Form, Number(rest[1]), Number(rest[2]));
} else {
  const seconds = Number(role ?? 10);
  const rate = Number(rest[0] ?? 50_000);
  const { sha256Seconds, regExpSeconds } = calibrate();
  console.log(`calibration: sha256 ${sha256Seconds.toFixed(2)} s, RegExp ${regExpSeconds.toFixed(2)} s of CPU`);
  for (const form of ['lines', 'counted', 'udp'] as const) await bench(form, seconds, rate);
  process.exit(0);
}
