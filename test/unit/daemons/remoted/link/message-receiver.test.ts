import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { CounterFiles } from '../../../../../daemons/remoted/link/counter-files.js';
import { KeyStore } from '../../../../../daemons/remoted/link/key-store.js';
import { PONG } from '../../../../../daemons/remoted/link/message-prefix.js';
import { MessageReceiver, type ReceivedMessage } from '../../../../../daemons/remoted/link/message-receiver.js';
import { AgentKey } from '../../../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../../../lib/agentlink/blowfish-cache.js';
import { encodeFrame, FrameDecoder } from '../../../../../lib/agentlink/frame-decoder.js';
import { type CounterPair, laterCounters, NO_COUNTERS } from '../../../../../lib/agentlink/message-counters.js';
import type { MessageForm } from '../../../../../lib/agentlink/message-form.js';
import { MessageOpener } from '../../../../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../../../../lib/agentlink/message-sealer.js';
import { AgentAddress, normalizeAddress } from '../../../../../lib/network/agent-address.js';
import { eventually } from '../../../../support/eventually.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const schedules = new BlowfishCache();
const sealer = new MessageSealer(schedules);
const keyOf = (id: string, ip: string, raw = id.repeat(20)): AgentKey =>
  new AgentKey(id, `web${id}`, AgentAddress.parse(ip)!, raw);
const KEYS = [keyOf('001', 'any'), keyOf('002', '127.0.0.1'), keyOf('003', '10.0.0.0/8'), keyOf('004', '::1')];

/** An agent of the test: seals with counters of its own. */
class TestAgent {
  #counters: CounterPair = NO_COUNTERS;

  constructor(
    readonly key: AgentKey,
    readonly form: MessageForm = 'aes',
  ) {}

  seal(payload: string): Buffer {
    this.#counters = laterCounters(this.#counters);
    const prefixId = this.key.address.single ? undefined : this.key.id;
    return sealer.seal(this.key, payload, { form: this.form, counters: this.#counters, prefixId });
  }
}

describe('MessageReceiver', () => {
  const home = new TemporaryHome();
  const rids = home.path('queue', 'rids');
  const problems: unknown[] = [];
  before(() => mkdirSync(rids));
  after(() => {
    home.remove();
    expect(problems).to.deep.equal([]);
  });

  function parts(verify = false): { store: KeyStore; counters: CounterFiles; receiver: MessageReceiver<unknown> } {
    const store = new KeyStore();
    store.replace(KEYS);
    const counters = new CounterFiles(rids, (error) => problems.push(error));
    const receiver = new MessageReceiver({ store, opener: new MessageOpener(schedules), counters, verify });
    return { store, counters, receiver };
  }

  /** Payload or first log line. */
  function told(received: ReceivedMessage<unknown>): string {
    if (received.kind === 'message') return `${received.agent.id} ${received.payload.toString()}`;
    return received.kind === 'ping' ? 'ping' : received.logs.map(({ text }) => text).join(' / ');
  }

  it('opens messages of every form and notes what they tell of the agent', () => {
    const { store, receiver } = parts();
    const receive = (message: Buffer, source: string): string => told(receiver.receive(message, source, 1234));
    expect(receive(new TestAgent(KEYS[0]!).seal('1:a:b'), '192.0.2.9')).to.equal('001 1:a:b');
    expect(receive(new TestAgent(KEYS[1]!, 'blowfish').seal('1:a:b'), '127.0.0.1')).to.equal('002 1:a:b');
    expect(receive(new TestAgent(KEYS[2]!, 'aes-iv').seal('1:a:b'), '10.9.9.9')).to.equal('003 1:a:b');
    expect(receive(new TestAgent(KEYS[3]!).seal('1:a:b'), normalizeAddress('::1'))).to.equal('004 1:a:b');
    expect(receive(Buffer.from('#ping'), '192.0.2.9')).to.equal('ping');
    expect([...store.agents].map(({ form }) => form)).to.deep.equal(['aes', 'blowfish', 'aes-iv', 'aes']);
    expect(store.byId('001')).to.deep.include({ lastReceivedAt: 1234, counters: { global: 0, local: 1 } });
  });

  it('says what the reference says of messages it does not take, and which key to ask for', () => {
    const { receiver, store } = parts();
    const receive = (message: Buffer | string, source = '192.0.2.9'): unknown => {
      const received = receiver.receive(Buffer.from(message), source, 1);
      return received.kind === 'rejected' ? [received.logs[0]?.text, received.keyRequest] : received;
    };
    const stranger = new TestAgent(keyOf('001', 'any', 'other'));
    const wrong = `(1404): Authentication error. Wrong key or corrupt payload. Message received from agent '001' at`;
    expect(receive(stranger.seal('x'))).to.deep.equal([`${wrong} 'any'.`, 'id:001']);
    const old = new TestAgent(keyOf('001', 'any', 'other'), 'blowfish');
    expect(receive(old.seal('x'))).to.deep.equal([`${wrong} '192.0.2.9'.`, 'id:001']);
    expect(receive('!001x')).to.deep.equal([
      ...["(1403): Incorrectly formatted message from agent '(unknown)' (host '192.0.2.9').", undefined],
    ]);
    expect(receive('!001!#AES')).to.deep.equal([
      ...["(1403): Incorrectly formatted message from agent '001' (host '192.0.2.9').", undefined],
    ]);
    expect(receive('!001!')).to.deep.equal(['Received message is empty', undefined]);
    expect(receive('!099!:x')).to.have.property('1', 'id:099');
    expect(receive(':x')).to.have.property('1', 'ip:192.0.2.9');
    expect(receive(new TestAgent(KEYS[2]!).seal('x'), '11.0.0.1')).to.deep.equal([
      ...["(1408): Invalid ID 003 for the source ip: '11.0.0.1' (name 'web003').", 'id:003'],
    ]);
    expect(store.byId('001')?.lastReceivedAt).to.equal(0);
  });

  it('asks whether the connection may be used before it opens anything', () => {
    const { receiver } = parts();
    const asked: string[] = [];
    const received = receiver.receive(Buffer.from('!001!garbage'), '192.0.2.9', 1, (agent) => {
      asked.push(agent.id);
      return false;
    });
    expect(told(received)).to.equal("Agent key already in use: agent ID '001'");
    expect(asked).to.deep.equal(['001']);
  });

  it('takes replayed messages unless it verifies, then not even after a restart', async () => {
    const agent = new TestAgent(KEYS[0]!);
    const [first, second, third] = [agent.seal('one'), agent.seal('two'), agent.seal('three')];
    const lax = parts();
    expect([first, first].map((message) => told(lax.receiver.receive(message, '::', 1)))).to.deep.equal([
      '001 one',
      '001 one',
    ]);
    const strict = parts(true);
    const receive = (message: Buffer): string => told(strict.receiver.receive(message, '::', 1));
    expect(receive(second)).to.equal('001 two');
    expect(receive(second)).to.equal(
      'Duplicate error:  global: 0, local: 2, saved global: 0, saved local:2 / ' +
        "(1407): Duplicated counter for 'web001'.",
    );
    expect(receive(first)).to.match(/^Duplicate error/);
    expect(receive(third)).to.equal('001 three');
    await strict.counters.close();
    const restarted = parts(true);
    expect(told(restarted.receiver.receive(third, '::', 1))).to.match(/^Duplicate error/);
    expect(told(restarted.receiver.receive(agent.seal('four'), '::', 1))).to.equal('001 four');
    const older = parts(true);
    older.store.byId('001')!.restoreCounters({ global: 1, local: 1 });
    expect(told(older.receiver.receive(third, '::', 1))).to.equal(
      'Duplicate error:  global: 0, local: 3, saved global: 1, saved local:1 / ' +
        "(1407): Duplicated counter for 'web001'. Its counters are older than those it had: if it was set up again, " +
        'stop svc-remoted, delete queue/rids/001 and start it.',
    );
  });

  it('survives any bytes', () => {
    const { receiver } = parts(true);
    const marks = fc.constantFrom('', '!001!', '!002!:', '!003!#AES:', '!004!', '#AES:', ':', '!');
    fc.assert(
      fc.property(marks, fc.uint8Array({ maxLength: 100 }), (mark, noise) => {
        const received = receiver.receive(Buffer.concat([Buffer.from(mark), noise]), '127.0.0.1', 1);
        expect(received.kind).to.equal('rejected');
      }),
      { numRuns: 500 },
    );
  });

  it('serves agents over TCP whose frames come in pieces, and others while one is thrown out', async () => {
    const { receiver } = parts();
    const events: string[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      const decoder = new FrameDecoder();
      const source = normalizeAddress(socket.remoteAddress ?? '');
      socket.on('data', (chunk) => {
        decoder.push(chunk);
        for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
          const received = receiver.receive(frame, source, 1);
          if (received.kind === 'ping') {
            socket.write(encodeFrame(PONG));
          } else if (received.kind !== 'message') {
            return socket.destroy();
          } else {
            events.push(told(received));
            const { key, form } = received.agent;
            socket.write(sealer.seal(key, 'ack', { form, counters: { global: 0, local: 1 }, framed: true }));
          }
        }
        return undefined;
      });
    });
    try {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const dial = async (): Promise<Socket> => {
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
        sockets.add(socket);
        await once(socket, 'connect');
        return socket;
      };
      const [one, two, stranger] = [await dial(), await dial(), await dial()];
      const first = new TestAgent(KEYS[0]!);
      const second = new TestAgent(KEYS[1]!, 'blowfish');
      // Two streams in turn, a few bytes at a time: frames of one never mix with those of the other.
      const streams = [first, second].map((agent, index) =>
        Buffer.concat(Array.from({ length: 20 }, (_, n) => encodeFrame(agent.seal(`1:${index}:${n}`)))),
      );
      const answers = new FrameDecoder();
      let acks = 0;
      two.on('data', (chunk) => {
        answers.push(chunk);
        for (let frame = answers.next(); frame !== undefined; frame = answers.next()) {
          const opened = new MessageOpener(schedules).open(second.key, frame);
          if (opened.ok && opened.form === 'blowfish' && opened.payload.toString() === 'ack') acks += 1;
        }
      });
      for (let at = 0; at < Math.max(...streams.map(({ length }) => length)); at += 333) {
        one.write(streams[0]!.subarray(at, at + 333));
        two.write(streams[1]!.subarray(at, at + 333));
        if (at === 333) stranger.write(encodeFrame(new TestAgent(keyOf('001', 'any', 'other')).seal('1:x:y')));
      }
      await once(stranger, 'close');
      await eventually('40 events', () => events.length === 40);
      const expected = (id: string, index: number): string[] =>
        Array.from({ length: 20 }, (_, n) => `${id} 1:${index}:${n}`);
      expect(events.filter((event) => event.startsWith('001'))).to.deep.equal(expected('001', 0));
      expect(events.filter((event) => event.startsWith('002'))).to.deep.equal(expected('002', 1));
      await eventually('20 acknowledgements', () => acks === 20);
      let received = '';
      one.on('data', (chunk) => (received += chunk.toString('latin1')));
      one.write(encodeFrame(Buffer.from('#ping')));
      await eventually('a pong', () => received.includes('#pong'));
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});
