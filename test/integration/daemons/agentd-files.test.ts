import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { AgentOutlet } from '../../../daemons/syscheckd/sync/sync-outlet.js';
import { HOST_CLOCK } from '../../../daemons/syscheckd/sync/sync-clock.js';
import { SyncRunner } from '../../../daemons/syscheckd/sync/sync-runner.js';
import { agentdContract } from '../../../lib/bus/contracts/agentd.js';
import { commonHandlers } from '../../../lib/bus/contracts/common.js';
import { syscheckdContract } from '../../../lib/bus/contracts/syscheckd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import type { FimRow } from '../../../lib/fim/fim-messages.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { eventually } from '../../support/eventually.js';
import { FakeManager } from '../../support/fake-manager.js';
import { keyLine } from '../../support/minimal-agent.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity } from '../../support/remoted-home.js';
import { RunningDaemon } from '../../support/running-daemon.js';
import { SYNC_SETTINGS, syncRow, SyncRows } from '../../support/sync-rows.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const NOW = 1_795_220_397;
const SCANS = { enabled: true, running: false, started: null, ended: null, count: 0 };

/** A file as it was recorded (agent-transcript.md 6). */
function recorded(key: string, size: number, inode: string, hashes: readonly [string, string, string, string]): FimRow {
  const [hash_md5, hash_sha1, hash_sha256, checksum] = hashes;
  const owner = { perm: 'rw-r--r--', uid: '0', gid: '0', user_name: 'root', group_name: 'root' };
  const attributes = { size, ...owner, inode, mtime: 1_795_219_946, hash_md5, hash_sha1, hash_sha256, checksum };
  return { key, checksum, attributes, inode, lastEvent: NOW };
}

const RECORDED = [
  recorded('/fim/a.txt', 6, '2303207', [
    'b1946ac92492d2347c6235b4d2611184',
    'f572d396fae9206628714fb2ce00f72e94f2258f',
    '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
    '6bcb04a5d71e0bf79b4a195ee1aad6e3996a6d54',
  ]),
  recorded('/fim/b.txt', 4, '2303208', [
    'c193497a1a06b2c72230e6146ff47080',
    '7bbef45b3bc70855010e02460717643125c3beca',
    '27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a',
    '8e167195a110d446caac80753a7238feeff056d3',
  ]),
];

describe('svc-agentd between a manager and svc-syscheckd', function () {
  this.timeout(60_000);
  const home = new TemporaryHome({ version: 1, role: 'agent' });
  const manager = new FakeManager(identity(1));
  const logger = new RecordingLogger();
  const agentdClient = new RequestClient({ contract: agentdContract, path: home.socket('svc-agentd') });
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-syscheckd', logger });
  const orders: string[] = [];
  let runner: SyncRunner | undefined;
  let agentd: RunningDaemon | undefined;
  const server = new RequestServer<typeof syscheckdContract>({
    contract: syscheckdContract,
    path: home.socket('svc-syscheckd'),
    logger,
    handlers: {
      ...commonHandlers('svc-syscheckd', {
        stats: () => ({}),
        sections: new Map([['syscheck', () => ({ syscheck: { disabled: 'no' } })]]),
        reload: () => Promise.resolve([]),
      }),
      'scan.status': () => ({ fim: { ...SCANS, files: 0 }, rootcheck: SCANS }),
      order: ({ text }) => {
        orders.push(text);
        runner?.take(text);
        return {};
      },
    },
  });

  before(async () => {
    mkdirSync(home.path('queue', 'rids'));
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc', 'internal_options.conf'),
    );
    writeFileSync(home.path('etc', 'client.keys'), keyLine(identity(1)));
    await manager.start();
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <client>
           <server><address>127.0.0.1</address><port>${manager.port}</port><retry_interval>1</retry_interval></server>
           <notify_time>3600</notify_time><time-reconnect>7200</time-reconnect>
           <enrollment><enabled>no</enabled></enrollment>
         </client>
         <client_buffer><events_per_second>1000</events_per_second></client_buffer>
       </manager_config>\n`,
    );
    agentd = await RunningDaemon.start('svc-agentd', home);
    await eventually('a keepalive', () => manager.keepalives.length > 0);
    producer.start();
  });
  after(async () => {
    await runner?.stop();
    await producer.close(0);
    agentdClient.close();
    await server.stop();
    await agentd?.stop('SIGKILL');
    manager.stop();
    home.remove();
  });

  const messages = (): string[] => manager.bytes.filter((text) => text.startsWith('5:'));
  const sent = (count: number): Promise<boolean> =>
    eventually(`${count} messages`, () => messages().length >= count, 30_000);

  async function begin(rows: readonly FimRow[], now: number): Promise<void> {
    await runner?.stop();
    manager.bytes.length = 0;
    const outlet = new AgentOutlet({ producer, component: 'fim_file', now: () => Date.now(), logger });
    const clock = { ...HOST_CLOCK, now: () => now };
    runner = new SyncRunner({ source: new SyncRows(rows), outlet, clock, logger }, SYNC_SETTINGS);
    runner.start();
  }

  it('counts an order by name while svc-syscheckd is not there', async () => {
    manager.send('#!-syscheck restart');
    await eventually('the failure', async () => {
      return ((await agentdClient.call('stats', {})) as { integrity: { failed: number } }).integrity.failed === 1;
    });
    expect(agentd?.output).to.match(/Order 'syscheck restart' did not get to svc-syscheckd: .*not available/);
    await server.start();
    manager.send('#!-syscheck restart');
    await eventually('the order', () => orders.length === 1);
    expect(orders).to.deep.equal(['syscheck restart']);
  });

  it('answers requests for it', async () => {
    const { controls } = manager;
    manager.send('#!-req 95989f54 syscheck getconfig syscheck');
    await eventually('the answer', () => controls.some((text) => text.startsWith('req 95989f54 ')));
    expect(controls.at(-1)).to.equal('req 95989f54 ok {"syscheck":{"disabled":"no"}}');
  });

  it('lets the first synchronisation pass as it was recorded', async () => {
    await begin(RECORDED, NOW);
    await sent(1);
    expect(messages()).to.deep.equal([
      '5:fim_file:{"component":"fim_file","data":{"begin":"/fim/a.txt","checksum":"eb9193b0c923219f588640a38e0204088a0ca2a5","end":"/fim/b.txt","id":1795220397},"type":"integrity_check_global"}',
    ]);
    manager.send('#!-fim_file dbsync no_data {"begin":"/fim/a.txt","end":"/fim/b.txt","id":1795220397}');
    await sent(3);
    expect(messages().slice(1)).to.deep.equal([
      '5:fim_file:{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"6bcb04a5d71e0bf79b4a195ee1aad6e3996a6d54","gid":"0","group_name":"root","hash_md5":"b1946ac92492d2347c6235b4d2611184","hash_sha1":"f572d396fae9206628714fb2ce00f72e94f2258f","hash_sha256":"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03","inode":"2303207","mtime":1795219946,"perm":"rw-r--r--","size":6,"type":"file","uid":"0","user_name":"root"},"index":"/fim/a.txt","timestamp":1795220397},"type":"state"}',
      '5:fim_file:{"component":"fim_file","data":{"attributes":{"attributes":"","checksum":"8e167195a110d446caac80753a7238feeff056d3","gid":"0","group_name":"root","hash_md5":"c193497a1a06b2c72230e6146ff47080","hash_sha1":"7bbef45b3bc70855010e02460717643125c3beca","hash_sha256":"27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a","inode":"2303208","mtime":1795219946,"perm":"rw-r--r--","size":4,"type":"file","uid":"0","user_name":"root"},"index":"/fim/b.txt","timestamp":1795220397},"type":"state"}',
    ]);
  });

  it('lets paths of any bytes pass, both ways', async () => {
    const names = ["it's", 'a b', '100%', 'x"y', 'back\\slash', 'new\nline', 'caf\xc3\xa9', '\xff\xfe', '|:', '#!-'];
    const rows = names.map((name) => syncRow(`/fim/${name}`, createHash('sha1').update(name, 'latin1').digest('hex')));
    await begin(rows, NOW + 1);
    await sent(1);
    const sorted = [...rows].sort((one, other) => Buffer.compare(bytesOf(one.key), bytesOf(other.key)));
    const range = { begin: sorted[0]?.key, end: sorted.at(-1)?.key, id: NOW + 1 };
    manager.send(Buffer.from(`#!-fim_file dbsync no_data ${JSON.stringify(range)}`, 'latin1'));
    await sent(11);
    const indexes = messages()
      .slice(1)
      .map((text) => (JSON.parse(text.slice('5:fim_file:'.length)) as { data: { index: string } }).data.index);
    expect(indexes).to.deep.equal(sorted.map(({ key }) => key));
    expect(runner?.stats).to.include({ answers: 1, ignored: 0, malformed: 0, lost: 0 });
  });
});
