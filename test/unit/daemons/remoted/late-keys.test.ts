import { expect } from 'chai';
import type { AgentLink } from '../../../../daemons/remoted/agent-link.js';
import { type LateConnection, LateKeys } from '../../../../daemons/remoted/late-keys.js';
import { KeyStore } from '../../../../daemons/remoted/link/key-store.js';
import { MAX_LATE_CONNECTIONS, MAX_LATE_PER_ADDRESS } from '../../../../daemons/remoted/remoted-limits.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';
import { eventually } from '../../../support/eventually.js';

class Connection implements LateConnection {
  readonly taken: string[] = [];

  constructor(readonly source = '192.0.2.1') {}

  again(message: Buffer): void {
    this.taken.push(message.toString());
  }
}

describe('keys that are on their way', () => {
  let store: KeyStore<AgentLink>;
  let late: LateKeys;

  beforeEach(() => {
    store = new KeyStore();
    store.replace([key('001'), key('005')]);
    late = new LateKeys(store);
  });
  afterEach(() => {
    late.stop();
  });

  function key(id: string, raw = 'a key'): AgentKey {
    return new AgentKey(id, `host${id}`, AgentAddress.any, raw);
  }

  it('has a message go on when the key of its agent is there, and leaves others waiting', () => {
    const [one, two] = [new Connection(), new Connection()];
    const shared = Buffer.from('hello');
    expect(late.wait(one, '006', shared)).to.equal(true);
    expect(late.wait(two, '007', shared)).to.equal(true);
    shared.fill('x');
    store.put(key('006'));
    late.keysChanged();
    expect(one.taken).to.deep.equal(['hello']);
    expect(two.taken).to.deep.equal([]);
    expect(late.size).to.equal(1);
  });

  it('waits for another key of an agent that is known', () => {
    const connection = new Connection();
    expect(late.wait(connection, '005', Buffer.from('hello'))).to.equal(true);
    late.keysChanged();
    expect(connection.taken).to.deep.equal([]);
    store.put(key('005', 'another key'));
    late.keysChanged();
    expect(connection.taken).to.deep.equal(['hello']);
  });

  it('waits for a moment and only once: the message is then judged as it is', async () => {
    const connection = new Connection();
    late.wait(connection, '006', Buffer.from('hello'));
    await eventually('it is taken again', () => connection.taken.length === 1);
    expect(late.wait(connection, '006', Buffer.from('hello'))).to.equal(false);
    expect(late.size).to.equal(0);
  });

  it('does not wait for agents that were removed, nor for what is no id', () => {
    for (const id of ['002', '004', 'x', '999999999', '']) {
      expect(late.wait(new Connection(), id, Buffer.from('hello')), id).to.equal(false);
    }
  });

  it('keeps few: of one address, of all, and in bytes', () => {
    const connections = Array.from({ length: MAX_LATE_PER_ADDRESS + 10 }, () => new Connection());
    const kept = connections.filter((connection) => late.wait(connection, '006', Buffer.from('hello')));
    expect(kept).to.have.length(MAX_LATE_PER_ADDRESS);
    const [first] = kept;
    if (first !== undefined) late.gone(first);
    expect(late.wait(new Connection(), '006', Buffer.from('hello'))).to.equal(true);
    let all = late.size;
    for (let index = 0; index < 2 * MAX_LATE_CONNECTIONS; index += 1) {
      const connection = new Connection(`198.51.${index >> 8}.${index & 255}`);
      if (late.wait(connection, '006', Buffer.from('hello'))) all += 1;
    }
    expect(all).to.equal(MAX_LATE_CONNECTIONS);
    late.stop();
    expect(late.wait(new Connection(), '006', Buffer.alloc(5 * 1024 * 1024))).to.equal(false);
    expect(late.size).to.equal(0);
  });
});
