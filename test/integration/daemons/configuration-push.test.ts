import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';

const AGENTS = 12;
/** What does not compress, and is more than the network holds of a connection whose other end does not read. */
const LARGE_BYTES = 18 * 1024 * 1024;
const SYNCED = 'synced';
const NOT_SYNCED = 'not synced';
/** Daemons and agents share two busy processors with other tests. */
const PATIENT_MS = 30_000;

describe('configuration of groups on its way to agents', function () {
  this.timeout(120_000);
  const home = new RemotedHome();
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const remoted = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  const agents: MinimalAgent[] = [];
  let store: RunningDaemon;
  let daemon: RunningDaemon;

  before(async () => {
    mkdirSync(home.path('queue', 'db'), { recursive: true });
    for (const group of ['default', 'web', 'plain', 'large']) {
      mkdirSync(home.path('etc', 'shared', group), { recursive: true });
    }
    share('default', 'site.txt', 'first\n');
    share('web', 'site.txt', 'of the web\n');
    home.keys(...Array.from({ length: AGENTS }, (_none, index) => identity(index + 1)));
    store = await RunningDaemon.start('svc-db', home);
    for (let number = 1; number <= AGENTS; number += 1) {
      const { id, name } = identity(number);
      await db.call('agents.register', { id, name, dateAdd: 1_700_000_000 });
    }
    daemon = await RunningDaemon.start('svc-remoted', home);
    await eventually('the groups are known', async () => {
      const { groups } = await db.call('groups.list', {});
      return groups.length === 4;
    });
  });
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.close();
  });
  after(async () => {
    db.close();
    remoted.close();
    await daemon.stop('SIGKILL');
    await store.stop('SIGKILL');
    home.remove();
  });

  /** Puts a file into a group as an editor does. */
  function share(group: string, name: string, content: string | Buffer): void {
    const path = home.path('etc', 'shared', group, name);
    writeFileSync(`${path}.tmp`, content);
    renameSync(`${path}.tmp`, path);
  }

  async function connected(number: number, form: MessageForm = 'aes', udp = false): Promise<MinimalAgent> {
    const agent = new MinimalAgent(identity(number), form);
    agents.push(agent);
    if (udp) await agent.connectUdp(daemon.port('agents_udp'));
    else await agent.connect(daemon.port('agents_tcp'));
    await agent.start();
    return agent;
  }

  const id = (agent: MinimalAgent): string => agent.key.id;
  const mergedPath = (...groups: string[]): string => home.path('etc', 'shared', ...groups, 'merged.mg');
  const sumOf = (path: string): string | undefined => {
    try {
      return hash('md5', readFileSync(path), 'hex');
    } catch {
      return undefined;
    }
  };
  const put = async (mode: 'append' | 'override', agent: MinimalAgent, ...groups: string[]): Promise<void> => {
    await db.call('agents.membership', { mode, agents: [{ id: id(agent), groups }] });
  };
  const syncOf = async (agent: MinimalAgent): Promise<unknown> => {
    const { items } = await db.call('agents.get', { ids: [id(agent)], select: ['group_config_status'] });
    return items[0]?.['group_config_status'];
  };
  const becomes = (agent: MinimalAgent, status: string): Promise<true> =>
    eventually(`${id(agent)} is ${status}`, async () => (await syncOf(agent)) === status, PATIENT_MS);

  /** Sends keepalives until the agent has what it is to have. */
  async function untilPushed(agent: MinimalAgent, path: string): Promise<void> {
    await eventually(
      `${id(agent)} has ${path}`,
      async () => {
        const sum = sumOf(path);
        if (sum !== undefined && agent.mergedSum === sum) return true;
        const { acks } = agent;
        const { length } = agent.pushes;
        agent.keepalive();
        await agent.until('the ACK', () => agent.acks > acks);
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (!agent.fileOpen) return false;
        await eventually('the end of the file', () => agent.pushes.length > length, PATIENT_MS);
        return false;
      },
      PATIENT_MS,
    );
  }

  /** Has a file pushed, and stops reading when it begins: it cannot end before the agent reads again. */
  async function inTheMiddle(agent: MinimalAgent): Promise<void> {
    agent.onFile = () => agent.socket?.pause();
    await eventually(
      'a push has begun',
      async () => {
        if (agent.fileOpen) return true;
        // It was a small file, of the group the agent was in before.
        agent.socket?.resume();
        agent.keepalive();
        await new Promise((resolve) => setTimeout(resolve, 100));
        return agent.fileOpen;
      },
      PATIENT_MS,
    );
    agent.onFile = undefined;
    agent.pushes.splice(0);
    const start = agent.received.findLastIndex((text) => text.startsWith('up file '));
    agent.received.splice(0, start);
  }

  /** Files of the merged file an agent has got last. */
  function files(agent: MinimalAgent): Record<string, string> {
    const last = agent.pushes.at(-1);
    if (last?.ok !== true) throw new Error('no file came');
    return Object.fromEntries(parseMergedFile(last.content, true).map(({ name, content }) => [name, String(content)]));
  }

  for (const [index, form] of (['aes', 'aes-iv', 'blowfish'] as const).entries()) {
    it(`follows a change of a file: not synced, pushed, synced (${form})`, async () => {
      const agent = await connected(index + 1, form);
      await untilPushed(agent, mergedPath('default'));
      expect(agent.received.slice(0, 3)).to.deep.equal([
        'agent ack ',
        'agent ack ',
        `up file ${agent.mergedSum} merged.mg\n`,
      ]);
      agent.keepalive();
      await becomes(agent, SYNCED);
      const before = agent.mergedSum;
      share('default', 'site.txt', `changed for ${form}\n`);
      await becomes(agent, NOT_SYNCED);
      await untilPushed(agent, mergedPath('default'));
      expect(agent.mergedSum).not.to.equal(before);
      expect(files(agent)['site.txt']).to.equal(`changed for ${form}\n`);
      agent.keepalive();
      await becomes(agent, SYNCED);
    });
  }

  it('pushes nothing to an agent that has the file, and says nothing but that', async () => {
    const agent = await connected(4);
    await untilPushed(agent, mergedPath('default'));
    const { length } = agent.pushes;
    for (let times = 0; times < 5; times += 1) {
      const { acks } = agent;
      agent.keepalive();
      await agent.until('the ACK', () => agent.acks > acks);
    }
    expect(agent.pushes.length).to.equal(length);
    expect(agent.fileOpen).to.equal(false);
  });

  it('reaches a connected agent whose groups have changed, by priority', async () => {
    const agent = await connected(5);
    await untilPushed(agent, mergedPath('default'));
    agent.keepalive();
    await becomes(agent, SYNCED);
    await put('append', agent, 'web');
    const hashOf = (list: string): string => hash('sha256', list, 'hex').slice(0, 8);
    const path = (list: string): string => home.path('var', 'multigroups', hashOf(list), 'merged.mg');
    await becomes(agent, NOT_SYNCED);
    await untilPushed(agent, path('default,web'));
    expect(files(agent)['site.txt']).to.equal('of the web\n');
    agent.keepalive();
    await becomes(agent, SYNCED);
    await put('override', agent, 'web', 'default');
    await becomes(agent, NOT_SYNCED);
    await untilPushed(agent, path('web,default'));
    expect(files(agent)['site.txt']).to.match(/^changed for|^first/);
    agent.keepalive();
    await becomes(agent, SYNCED);
  });

  it('pushes to agents of one group at once, whatever they encrypt with', async () => {
    const text = Buffer.from('0123456789abcdef\n'.repeat(65_536)).subarray(0, 1024 * 1024);
    share('plain', 'large.txt', text);
    await eventually(
      'the file is merged',
      () => (sumOf(mergedPath('plain')) ?? '') !== '' && readFileSync(mergedPath('plain')).length > text.length,
    );
    const some = await Promise.all([connected(6, 'aes'), connected(7, 'blowfish'), connected(8, 'aes-iv')]);
    for (const agent of some) await put('override', agent, 'plain');
    await Promise.all(some.map((agent) => untilPushed(agent, mergedPath('plain'))));
    for (const agent of some) {
      expect(files(agent)['large.txt']).to.equal(text.toString());
      agent.keepalive();
      await becomes(agent, SYNCED);
    }
  });

  it('pushes over UDP', async () => {
    const agent = await connected(9, 'aes', true);
    await untilPushed(agent, mergedPath('default'));
    agent.keepalive();
    await becomes(agent, SYNCED);
  });

  // What is before the content of the only file: `#edge`, the entry of ar.conf if there is one, and its own header.
  for (const bytes of [0, 899, 900, 901]) {
    it(`pushes a merged file with ${String(bytes)} bytes in it, and pieces that look like control messages`, async () => {
      mkdirSync(home.path('etc', 'shared', 'edge'), { recursive: true });
      share('edge', 'f.txt', '#!-'.repeat(1000).slice(0, bytes));
      const agent = await connected(10);
      await eventually('the group is known', async () => {
        const { groups } = await db.call('groups.list', {});
        return groups.some(({ name }) => name === 'edge');
      });
      await put('override', agent, 'edge');
      await eventually(
        'it is merged',
        () =>
          sumOf(mergedPath('edge')) !== undefined &&
          readFileSync(mergedPath('edge'), 'latin1').includes(`!${String(bytes)} f.txt\n`),
      );
      await untilPushed(agent, mergedPath('edge'));
      expect(files(agent)['f.txt']).to.equal('#!-'.repeat(1000).slice(0, bytes));
      expect(agent.received.filter((text) => text.startsWith('no file'))).to.deep.equal([]);
    });
  }

  it('lets orders through in the middle of a push, and keeps those that would end it', async () => {
    const content = randomBytes(LARGE_BYTES).toString('base64');
    share('large', 'big.txt', content);
    await eventually(
      'it is merged',
      () => (sumOf(mergedPath('large')) ?? '') !== '' && readFileSync(mergedPath('large')).length > content.length,
      PATIENT_MS,
    );
    const agent = await connected(11);
    await put('override', agent, 'large');
    await inTheMiddle(agent);
    const send = async (message: string): Promise<number> =>
      (await remoted.call('agents.send', { ids: [id(agent)], message })).sent;
    expect(await send('no such order')).to.equal(1);
    expect(await send('syscheck restart')).to.equal(1);
    agent.socket?.resume();
    await eventually('the file has come', () => agent.pushes.length === 1, PATIENT_MS);
    await agent.until('the order', () => agent.received.includes('no such order'));
    expect(agent.pushes[0]?.ok).to.equal(true);
    const order = (text: string): number => agent.received.findIndex((message) => message.startsWith(text));
    expect(order('syscheck restart')).to.be.within(1, order('close file ') - 1);
    expect(order('no such order')).to.be.greaterThan(order('close file '));
  });

  it('ends with a whole file after a kill in the middle of a push', async () => {
    const agent = await connected(12);
    await put('override', agent, 'large');
    await inTheMiddle(agent);
    await daemon.stop('SIGKILL');
    agent.socket?.resume();
    await agent.until('the end of the connection', () => agent.closed);
    expect(agent.pushes).to.deep.equal([]);
    daemon = await RunningDaemon.start('svc-remoted', home);
    await agent.connect(daemon.port('agents_tcp'));
    await agent.start();
    await untilPushed(agent, mergedPath('large'));
    expect(agent.pushes.map(({ ok }) => ok)).to.deep.equal([true]);
    agent.keepalive();
    await becomes(agent, SYNCED);
  });
});
