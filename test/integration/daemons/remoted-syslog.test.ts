import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

const block = (elements: string): string =>
  `<remote><connection>syslog</connection><port>0</port><local_ip>127.0.0.1</local_ip>${elements}</remote>`;
const ALLOWED = '<allowed-ips>127.0.0.0/8</allowed-ips>';

describe('syslog to svc-remoted', function () {
  this.timeout(60_000);
  const home = new RemotedHome({
    sections:
      block(`<protocol>udp</protocol>${ALLOWED}`) +
      block(`<protocol>tcp</protocol>${ALLOWED}<rewrite_rfc5424>yes</rewrite_rfc5424>`) +
      block('<protocol>udp</protocol>'),
  });
  const sink = new KeepingSink(home);
  const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  let daemon: RunningDaemon;

  before(async () => {
    home.keys(identity(1));
    await sink.start();
    daemon = await RunningDaemon.start('svc-remoted', home);
  });
  after(async () => {
    client.close();
    await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  async function datagram(listener: string, text: string): Promise<void> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve, reject) => {
      socket.send(text, daemon.port(listener), '127.0.0.1', (error) => (error === null ? resolve() : reject(error)));
    });
    socket.close();
  }
  const texts = (count: number) =>
    eventually(`${String(count)} events`, () => {
      if (sink.events.length < count) return undefined;
      return sink.events.map(({ queue, location, agent, message }) => [queue, location, agent?.id, message.toString()]);
    });
  const counted = async (): Promise<Record<string, unknown>> =>
    (await client.call('stats', {}))['syslog'] as Record<string, unknown>;

  it('becomes events of the manager at the address of the sender', async () => {
    await datagram('syslog_udp', '<134>Mar  7 09:15:02 gate doord: open\n');
    await texts(1);
    const socket = connect(daemon.port('syslog_tcp_2'), '127.0.0.1');
    await once(socket, 'connect');
    const first = '<34>1 2026-03-07T09:15:03Z gate doord 12 - - shut\nfor good';
    socket.end(`${String(first.length)} ${first}10 <13>locked`);
    expect(await texts(3)).to.deep.equal([
      ['2', '127.0.0.1', undefined, 'Mar  7 09:15:02 gate doord: open'],
      ['2', '127.0.0.1', undefined, 'Mar  7 09:15:03 gate doord[12]: shut\nfor good'],
      ['2', '127.0.0.1', undefined, 'locked'],
    ]);
  });

  it('is refused by a listener without allowed addresses, which is warned of', async () => {
    expect(daemon.output).to.include("A syslog listener without 'allowed-ips' accepts nobody.");
    await datagram('syslog_udp_3', '<13>anybody');
    await eventually('it is counted', async () => (await counted())['refused'] === 1);
    await eventually('it is told', () => daemon.output.includes("(1213): Message from '127.0.0.1' not allowed."));
    expect(await counted()).to.deep.include({ messages: 3, tooLong: 0, dropped: 0, waiting: 0 });
    const { metrics } = (await client.call('statistics.read', {})) as { metrics: Record<string, unknown> };
    expect(metrics['syslog']).to.deep.equal({ received: 3, refused: 1, too_long: 0, dropped: 0 });
  });

  it('is refused or taken by other addresses after a reload; another port needs a restart', async () => {
    const file = home.path('etc', 'manager.conf');
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace('<protocol>udp</protocol></remote>', `<protocol>udp</protocol>${ALLOWED}</remote>`),
    );
    expect(await client.call('reload', {})).to.deep.include({ restartNeeded: [] });
    await datagram('syslog_udp_3', '<13>somebody');
    expect((await texts(4)).at(-1)).to.deep.equal(['2', '127.0.0.1', undefined, 'somebody']);
    writeFileSync(file, text.replace('udp', 'tcp'));
    expect(await client.call('reload', {})).to.deep.include({ restartNeeded: ['remote'] });
  });

  it('is handed on when svc-remoted stops', async () => {
    const before = sink.events.length;
    const socket = connect(daemon.port('syslog_tcp_2'), '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write('<13>first\n');
    await texts(before + 1);
    socket.write(`${Array.from({ length: 5000 }, (_, index) => `<13>line ${String(index)}`).join('\n')}\n`);
    expect(await daemon.stop()).to.equal(0);
    expect(sink.events.length).to.equal(before + 5001);
    expect(sink.events.at(-1)?.message.toString()).to.equal('line 4999');
    socket.destroy();
  });
});
