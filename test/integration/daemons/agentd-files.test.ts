import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SyncRunner } from '../../../daemons/syscheckd/sync/sync-runner.js';
import { agentdContract } from '../../../lib/bus/contracts/agentd.js';
import { commonHandlers } from '../../../lib/bus/contracts/common.js';
import { syscheckdContract } from '../../../lib/bus/contracts/syscheckd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import type { FimRow } from '../../../lib/events/fim/fim-messages.js';
import { bytesOf } from '../../../lib/fim/byte-order.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { HOST_CLOCK } from '../../../lib/sync/sync-clock.js';
import { AgentOutlet } from '../../../lib/sync/sync-outlet.js';
import { FakeManager } from '../../support/agentlink/fake-manager.js';
import { keyLine } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity } from '../../support/remoted/remoted-home.js';
import { SYNC_SETTINGS, syncRow, SyncRows } from '../../support/syscheckd/sync-rows.js';
import {
  asTraced,
  FIRST_ROWS,
  FIRST_TIME,
  FIRST_TRACE,
  REPAIR_ROWS,
  REPAIR_TIME,
  REPAIR_TRACE,
  SPEC_ROWS,
  SPEC_TIME,
  SPEC_TRACE,
} from '../../support/syscheckd/sync-traces.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const SCANS = { enabled: true, running: false, started: null, ended: null, count: 0 };

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
    const outlet = new AgentOutlet({ producer, location: 'fim_file', now: () => Date.now(), logger });
    const clock = { ...HOST_CLOCK, now: () => now };
    runner = new SyncRunner({ source: new SyncRows(rows), outlet, clock, logger }, SYNC_SETTINGS);
    runner.start();
  }

  it('counts an order by name while svc-syscheckd is not there', async () => {
    manager.send('#!-syscheck restart');
    await eventually(
      'the failure',
      async () => ((await agentdClient.call('stats', {})) as { integrity: { failed: number } }).integrity.failed === 1,
    );
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

  for (const [what, rows, now, trace] of [
    ['the worked example', SPEC_ROWS, SPEC_TIME, SPEC_TRACE],
    ['the first synchronisation as it was recorded', FIRST_ROWS, FIRST_TIME, FIRST_TRACE],
    ['the repair of a table as it was recorded', REPAIR_ROWS, REPAIR_TIME, REPAIR_TRACE],
  ] as const) {
    it(`lets ${what} pass`, async () => {
      await begin(rows, now);
      const expected: string[] = [];
      for (const { order, messages: next } of trace) {
        if (order !== undefined) manager.send(`#!-${order}`);
        expected.push(...next.map((message) => `5:fim_file:${message}`));
        await sent(expected.length);
      }
      expect(messages().map((message, index) => asTraced(message, expected[index]))).to.deep.equal(expected);
    });
  }

  it('lets paths of any bytes pass, both ways', async () => {
    const names = ["it's", 'a b', '100%', 'x"y', 'back\\slash', 'new\nline', 'caf\xc3\xa9', '\xff\xfe', '|:', '#!-'];
    const rows = names.map((name) => syncRow(`/fim/${name}`, createHash('sha1').update(name, 'latin1').digest('hex')));
    await begin(rows, FIRST_TIME + 1);
    await sent(1);
    const sorted = [...rows].sort((one, other) => Buffer.compare(bytesOf(one.key), bytesOf(other.key)));
    const range = { begin: sorted[0]?.key, end: sorted.at(-1)?.key, id: FIRST_TIME + 1 };
    manager.send(Buffer.from(`#!-fim_file dbsync no_data ${JSON.stringify(range)}`, 'latin1'));
    await sent(11);
    const indexes = messages()
      .slice(1)
      .map((text) => (JSON.parse(text.slice('5:fim_file:'.length)) as { data: { index: string } }).data.index);
    expect(indexes).to.deep.equal(sorted.map(({ key }) => key));
    expect(runner?.stats).to.include({ answers: 1, ignored: 0, malformed: 0, lost: 0 });
  });
});
