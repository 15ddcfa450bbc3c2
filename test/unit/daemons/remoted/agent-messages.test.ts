import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentLink, linkOf } from '../../../../daemons/remoted/agent-link.js';
import { AgentMessages } from '../../../../daemons/remoted/agent-messages.js';
import { EventGate } from '../../../../daemons/remoted/event-gate.js';
import { FloodGuard } from '../../../../daemons/remoted/flood-guard.js';
import { CounterFiles } from '../../../../daemons/remoted/link/counter-files.js';
import { KeyStore } from '../../../../daemons/remoted/link/key-store.js';
import { MessageReceiver } from '../../../../daemons/remoted/link/message-receiver.js';
import { ReadAhead } from '../../../../daemons/remoted/read-ahead.js';
import { RemotedCounters } from '../../../../daemons/remoted/remoted-counters.js';
import type { TcpConnection } from '../../../../daemons/remoted/tcp-connection.js';
import type { UdpPeer } from '../../../../daemons/remoted/udp-listener.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../../lib/agentlink/blowfish-cache.js';
import { SHUTDOWN_MESSAGE } from '../../../../lib/agentlink/control-text.js';
import { MessageOpener } from '../../../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

/** A way to an agent as far as messages need it. */
class Way {
  readonly source = '10.0.0.1';
  open = true;
  lastReceivedAt = 0;
  agent: unknown;
  readonly ahead = new ReadAhead();

  constructor(readonly lossy: boolean) {}

  send(): boolean {
    return this.open;
  }

  close(): void {
    this.open = false;
  }
}

describe('the way of messages', () => {
  const key = new AgentKey('001', 'web', AgentAddress.any, 'a key');
  const schedules = new BlowfishCache();
  const sealer = new MessageSealer(schedules);
  let directory: string;
  let store: KeyStore<AgentLink>;
  let counters: RemotedCounters;
  let events: string[];
  let synced: string[];
  let upgraded: string[];
  let controls: number;
  let now: number;
  let messages: AgentMessages;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-rids-'));
    store = new KeyStore();
    store.replace([key]);
    counters = new RemotedCounters();
    events = [];
    synced = [];
    upgraded = [];
    controls = 0;
    now = 1_000_000;
    const window = {
      room: 100,
      pending: 0,
      trySend: ({ message }: { message: Buffer }) => events.push(message.toString()) > 0,
      ready: () => Promise.resolve(),
      progress: () => Promise.resolve(),
    };
    messages = new AgentMessages({
      receiver: new MessageReceiver({
        store,
        opener: new MessageOpener(schedules),
        counters: new CounterFiles(directory, () => {}),
        verify: false,
      }),
      control: {
        take: (_agent: unknown, payload: Buffer) => {
          controls += 1;
          return payload.toString() === SHUTDOWN_MESSAGE;
        },
      } as never,
      gate: new EventGate(window, 10, new RecordingLogger()),
      sync: { take: ({ id }, location, message) => synced.push(`${id} ${location} ${message.toString()}`) },
      upgrades: { take: ({ id }, message) => upgraded.push(`${id} ${message.toString()}`) },
      counters,
      log: new FloodGuard(new RecordingLogger()),
      overtakeMs: () => 60_000,
      now: () => now,
    });
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const seal = (payload: string) =>
    sealer.seal(key, payload, { form: 'aes', counters: { global: 0, local: 1 }, prefixId: '001' });
  const tcp = (way: Way, payload: string) => messages.takeTcp(way as unknown as TcpConnection, seal(payload));
  const udp = (way: Way, payload: string) => messages.takeUdp(way as unknown as UdpPeer, seal(payload));
  const route = () => {
    const agent = store.byId('001');
    return agent === undefined ? undefined : (linkOf(agent).route as unknown);
  };

  it('gives an agent to another connection only when the first was quiet', () => {
    const [first, second] = [new Way(false), new Way(false)];
    expect(tcp(first, '1:/x:one')).to.equal('next');
    now += 60_000;
    expect(tcp(second, '1:/x:two')).to.equal('close');
    now += 1;
    expect(tcp(second, '1:/x:three')).to.equal('next');
    expect(first.open).to.equal(false);
    expect(route()).to.equal(second);
    expect(events).to.deep.equal(['one', 'three']);
  });

  it('takes what an agent tells of its upgrade past the analysis', () => {
    expect(tcp(new Way(false), 'u:upgrade_module:{"command":"x"}')).to.equal('next');
    expect(upgraded).to.deep.equal(['001 {"command":"x"}']);
    expect(events).to.deep.equal([]);
  });

  it('takes events that a broken connection had brought, and leaves the new one alone', () => {
    const [broken, fresh] = [new Way(false), new Way(false)];
    tcp(broken, '1:/x:one');
    broken.open = false;
    messages.gone(broken as unknown as TcpConnection);
    tcp(fresh, '1:/x:two');
    now += 100_000;
    expect(tcp(broken, '1:/x:three')).to.equal('next');
    expect(tcp(broken, '#!-a keepalive\n')).to.equal('next');
    expect(controls).to.equal(0);
    expect(tcp(broken, SHUTDOWN_MESSAGE)).to.equal('next');
    expect(events).to.deep.equal(['one', 'two', 'three', "ossec: Agent stopped: 'web->any'."]);
    expect(counters.received.dequeuedAfter).to.equal(3);
    expect(route()).to.equal(fresh);
    expect(fresh.open).to.equal(true);
  });

  it('keeps the connection as the way to an agent that also sends datagrams', () => {
    const [connection, peer, later] = [new Way(false), new Way(true), new Way(true)];
    tcp(connection, '1:/x:one');
    udp(peer, '1:/x:two');
    expect(route()).to.equal(connection);
    now += 60_001;
    udp(later, '1:/x:three');
    expect(route()).to.equal(later);
    expect(events).to.deep.equal(['one', 'two', 'three']);
  });

  it('hands messages of the synchronisation to their own way, never to the events', () => {
    const way = new Way(false);
    expect(tcp(way, '5:fim_file:{"component":"fim_file"}')).to.equal('next');
    udp(new Way(true), '5:syscollector:{}');
    tcp(way, '8:syscheck:{}');
    expect(synced).to.deep.equal(['001 fim_file {"component":"fim_file"}', '001 syscollector {}']);
    expect(events).to.deep.equal(['{}']);
  });
});
