import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { PipelineHome } from '../../support/analysisd/pipeline-kit.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { delta, packageRow } from '../../support/inventory/inventory-messages.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

/** Events of the test; `SVC_INVENTORY_EVENTS=200000` for a large run. */
const EVENTS = Number(process.env['SVC_INVENTORY_EVENTS'] ?? 10_000);
const PACKAGES = EVENTS / 5;
const KILLS = 4;
const PATIENCE_MS = 60_000;
const RULES = `
<group name="inventory">
  <rule id="7" level="0" noalert="1">
    <category>ossec</category>
    <description>What agents tell of themselves.</description>
  </rule>
  <rule id="100500" level="5">
    <category>ossec</category>
    <decoded_as>syscollector</decoded_as>
    <field name="type">dbsync_packages</field>
    <field name="operation_type">DELETED</field>
    <description>$(program.name) is gone</description>
  </rule>
</group>
`;

type Client = RequestClient<typeof dbContract>;
type Daemon = 'svc-db' | 'svc-analysisd';

async function register(client: Client, id: string): Promise<void> {
  await client.call('agents.register', { id, name: `box${id}`, dateAdd: 1_700_000_000 });
}

describe('inventories of agents under kill -9', function () {
  this.timeout(180_000);
  const home = new PipelineHome(Date.now(), {
    rules: RULES,
    sections: '<journal><checkpoint_interval>1s</checkpoint_interval></journal>',
  });
  const client: Client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const daemons = new Map<Daemon, RunningDaemon>();
  let producer: EventProducer | undefined;

  afterEach(async () => {
    await producer?.close(0);
    for (const daemon of daemons.values()) await daemon.stop('SIGKILL');
  });
  after(() => {
    client.close();
    home.remove();
  });

  const start = async (name: Daemon): Promise<void> => {
    daemons.set(name, await RunningDaemon.start(name, home));
  };
  const restart = async (name: Daemon): Promise<void> => {
    await daemons.get(name)?.stop('SIGKILL');
    await start(name);
  };

  /** Each package comes, changes three times, and one in ten goes in the end; the others change once more. */
  function event(index: number): BusEvent {
    const round = Math.floor(index / PACKAGES);
    const number = index % PACKAGES;
    const last = number % 10 === 0 ? 'DELETED' : 'MODIFIED';
    const operation = round === 0 ? 'INSERTED' : round === 4 ? last : 'MODIFIED';
    const row = packageRow(`p${String(number)}`, { description: `round ${String(round)}` });
    return {
      queue: 'd',
      location: 'syscollector',
      message: Buffer.from(delta('packages', operation, row)),
      receivedAt: Date.now(),
      agent: { id: '001', name: 'box001', ip: 'any', labels: undefined },
    };
  }

  const alerts = (): string[] => {
    const path = home.path('logs/alerts/alerts.json');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => (JSON.parse(line) as { rule: { description: string } }).rule.description);
  };

  it('are exactly right, and each change reaches the rules once', async () => {
    mkdirSync(home.path('queue/db'), { recursive: true });
    await Promise.all([start('svc-db'), start('svc-analysisd')]);
    await register(client, '001');
    producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-test', logger: new RecordingLogger() });
    producer.start();
    const victims = ['svc-db', 'svc-analysisd'] as const;
    let killing = Promise.resolve();
    for (let index = 0; index < EVENTS; index += 1) {
      while (!producer.trySend(event(index))) await producer.ready();
      const part = Math.floor(EVENTS / (KILLS + 1));
      const victim = victims[Math.floor(index / part) % 2];
      if (victim === undefined || index % part !== part - 1 || index / part > KILLS) continue;
      const all = index / part > KILLS - 1 ? victims : [victim];
      killing = killing.then(() => Promise.all(all.map(restart))).then(() => undefined);
    }
    await killing;
    const left = PACKAGES - PACKAGES / 10;
    const list = (q: string, limit: number) =>
      client.call('inventory.list', { type: 'packages', agents: ['001'], limit, q }).catch(() => undefined);
    await eventually(
      'the last is stored',
      async () => (await list('description=round 4', 1))?.total === left,
      PATIENCE_MS,
    );
    const page = await list('', 100_000);
    const expected = Array.from({ length: PACKAGES }, (_none, number) => number).filter((number) => number % 10 !== 0);
    expect(page?.items.map(({ name, description }) => `${String(name)} ${String(description)}`).sort()).to.deep.equal(
      expected.map((number) => `p${String(number)} round 4`).sort(),
    );
    await eventually('all alerts are written', () => alerts().length >= PACKAGES / 10, PATIENCE_MS);
    const gone = Array.from({ length: PACKAGES / 10 }, (_none, index) => `p${String(index * 10)} is gone`);
    expect(alerts().sort()).to.deep.equal(gone.sort());
  });
});

/** What a real agent told of its groups (agent-transcript.md 9). */
const GROUPS = [
  '{"component":"syscollector_groups","data":{"attributes":{"checksum":"451fcd66f348da623f818b8322c241db192d71e2","group_description":" ","group_id":2,"group_id_signed":2,"group_is_hidden":0,"group_name":"bin","group_users":"bin","group_uuid":" ","scan_time":"2026/11/21 00:40:39"},"index":"bin","timestamp":""},"type":"state"}',
  '{"component":"syscollector_groups","data":{"attributes":{"checksum":"b0f0d00ed755c838521fd46a1a4050d33ac89867","group_description":" ","group_id":24,"group_id_signed":24,"group_is_hidden":0,"group_name":"cdrom","group_users":" ","group_uuid":" ","scan_time":"2026/11/21 00:40:40"},"index":"cdrom","timestamp":""},"type":"state"}',
  '{"component":"syscollector_groups","data":{"attributes":{"checksum":"c4196b781c763888066740116dc84a92bd0c19c2","group_description":" ","group_id":1000,"group_id_signed":1000,"group_is_hidden":0,"group_name":"cloudsdk","group_users":"cloudsdk","group_uuid":" ","scan_time":"2026/11/21 00:40:40"},"index":"cloudsdk","timestamp":""},"type":"state"}',
];
/** SHA1 of their checksums, one behind the other. */
const GROUPS_SUM = 'fb78e3bad88c8b5eb0d473e97141b8f2c597ef3e';

describe('synchronisation of inventories over svc-remoted', function () {
  this.timeout(60_000);
  const home = new RemotedHome();
  const sink = new KeepingSink(home);
  const key = identity(1);
  const client: Client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const agent = new MinimalAgent(key);
  const daemons: RunningDaemon[] = [];

  after(async () => {
    agent.close();
    client.close();
    for (const daemon of daemons) await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  it('goes as with the manager of a real agent, and is no event', async () => {
    home.keys(key);
    mkdirSync(home.path('queue/db'), { recursive: true });
    await sink.start();
    daemons.push(await RunningDaemon.start('svc-db', home), await RunningDaemon.start('svc-remoted', home));
    await register(client, key.id);
    await agent.connect(daemons[1]?.port('agents_tcp') ?? 0);
    await agent.start();
    const answered = async (count: number): Promise<string | undefined> => {
      await agent.until('an answer', () => agent.received.length >= count);
      return agent.received[count - 1];
    };
    const check = (checksum: string, id: number): void => {
      const data = `{"begin":"bin","checksum":"${checksum}","end":"cloudsdk","id":${String(id)}}`;
      const message = `{"component":"syscollector_groups","data":${data},"type":"integrity_check_global"}`;
      agent.event('syscollector', message, '5');
    };
    check(GROUPS_SUM, 1_795_221_640);
    expect(await answered(2)).to.equal(
      'syscollector_groups dbsync no_data {"begin":"bin","end":"cloudsdk","id":1795221640}',
    );
    for (const message of GROUPS) agent.event('syscollector', message, '5');
    // One that agrees is not answered: the next answer is that of the one which does not.
    check(GROUPS_SUM, 1_795_225_240);
    check('0000000000000000000000000000000000000000', 1_795_228_840);
    expect(await answered(3)).to.equal(
      'syscollector_groups dbsync checksum_fail {"begin":"bin","end":"cloudsdk","id":1795228840}',
    );
    const told = delta('packages', 'INSERTED', packageRow('demo'));
    agent.event('syscollector', told, 'd');
    await eventually('the event', () => sink.texts(key.id).length >= 1);
    expect(sink.texts(key.id)).to.deep.equal([told]);
    const { items } = await client.call('inventory.list', { type: 'groups', agents: [key.id] });
    expect(items[1]).to.deep.equal({
      group: { id: 24, name: 'cdrom', description: ' ', id_signed: 24, uuid: ' ', is_hidden: 0, users: ' ' },
      checksum: 'b0f0d00ed755c838521fd46a1a4050d33ac89867',
      ...{ scan: { id: 0, time: '2026/11/21 00:40:40' }, agent_id: key.id },
    });
    expect(items).to.have.length(3);
    await client.call('agents.remove', { ids: [key.id] });
    expect((await client.call('inventory.list', { type: 'groups', agents: [key.id] })).total).to.equal(0);
  });
});
