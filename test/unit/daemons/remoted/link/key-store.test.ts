import { expect } from 'chai';
import { KeyStore, unknownSenderText } from '../../../../../daemons/remoted/link/key-store.js';
import { type MessageHead, readMessageHead } from '../../../../../daemons/remoted/link/message-prefix.js';
import { AgentKey } from '../../../../../lib/agentlink/agent-key.js';
import { counterTexts } from '../../../../../lib/agentlink/message-rejection.js';
import { AgentAddress } from '../../../../../lib/network/agent-address.js';

const keyOf = (id: string, name: string, ip = 'any', raw = 'k'): AgentKey =>
  new AgentKey(id, name, AgentAddress.parse(ip)!, raw);
const head = (text: string): MessageHead & { kind: 'prefixed' | 'bare' } => {
  const found = readMessageHead(Buffer.from(text));
  if (found.kind !== 'prefixed' && found.kind !== 'bare') throw new Error(found.kind);
  return found;
};

describe('KeyStore', () => {
  it('finds senders by id and by address', () => {
    const store = new KeyStore();
    store.replace([
      keyOf('001', 'web'),
      keyOf('002', 'db', '192.0.2.50'),
      keyOf('003', 'net', '10.1.0.0/16'),
      keyOf('004', 'six', '2001:db8::1'),
      keyOf('005', 'same', '192.0.2.50'),
    ]);
    const find = (text: string, source: string): string => {
      const sender = store.identify(head(text), source);
      return sender.ok ? sender.agent.id : unknownSenderText(sender, source);
    };
    expect(find('!001!:x', '203.0.113.9')).to.equal('001');
    expect(find('!002!:x', '192.0.2.50')).to.equal('002');
    expect(find(':x', '192.0.2.50')).to.equal('002');
    expect(find('!003!:x', '10.1.7.7')).to.equal('003');
    expect(find('!003!:x', '10.2.7.7')).to.equal("(1408): Invalid ID 003 for the source ip: '10.2.7.7' (name 'net').");
    expect(find('!004!:x', '2001:0DB8:0000:0000:0000:0000:0000:0001')).to.equal('004');
    expect(find('!099!:x', '10.2.7.7')).to.equal(
      "(1408): Invalid ID 099 for the source ip: '10.2.7.7' (name 'unknown').",
    );
    expect(find(':x', '10.1.0.0')).to.equal(
      "(1213): Message from '10.1.0.0' not allowed. Cannot find the ID of the agent. Source agent ID is unknown.",
    );
    expect(store.byName('db')?.id).to.equal('002');
    expect(store.byId('1')).to.equal(undefined);
    expect(store.size).to.equal(5);
  });

  it('keeps connections, forms and counters of unchanged agents over a reload', () => {
    const store = new KeyStore<string>();
    store.replace([keyOf('001', 'web'), keyOf('002', 'db', '192.0.2.1'), keyOf('003', 'old'), keyOf('004', 'rekeyed')]);
    for (const agent of store.agents) {
      agent.state = `connection of ${agent.id}`;
      agent.form = 'aes';
      agent.acceptCounters({ global: 7, local: 7 }, false);
    }
    const web = store.byId('001')!;
    const webKey = web.key;
    const gone = store.byId('003')!;
    const changes = store.replace([
      keyOf('001', 'web'),
      keyOf('002', 'db', '192.0.2.2'),
      keyOf('004', 'rekeyed', 'any', 'new'),
      keyOf('005', 'fresh'),
    ]);
    expect(changes.added.map(({ id }) => id)).to.deep.equal(['002', '005']);
    expect(changes.renewed.map(({ id }) => id)).to.deep.equal(['004']);
    expect(changes.removed.map(({ id }) => id)).to.have.members(['002', '003']);
    expect(store.byId('001')).to.equal(web);
    expect(web).to.include({ key: webKey, state: 'connection of 001', form: 'aes', removed: false });
    expect(web.counters).to.deep.equal({ global: 7, local: 7 });
    expect([gone.removed, store.byId('003'), store.byName('old')]).to.deep.equal([true, undefined, undefined]);
    // Another address is another agent; another key forgets the counters.
    expect(store.byId('002')).to.include({ state: undefined, form: 'blowfish' });
    expect(store.byAddress('192.0.2.1')).to.equal(undefined);
    expect(store.byId('004')).to.include({ state: 'connection of 004', counters: undefined });
    expect(store.byId('004')?.key.rawKey).to.equal('new');
  });

  it('takes one agent in or out without a reload', () => {
    const store = new KeyStore<string>();
    store.replace([keyOf('001', 'web', '192.0.2.1')]);
    const web = store.byId('001')!;
    web.state = 'connected';
    const fresh = store.put(keyOf('002', 'fresh'));
    expect([store.byId('002'), store.byName('fresh'), store.size]).to.deep.equal([fresh, fresh, 2]);
    expect(store.put(keyOf('001', 'renamed', '192.0.2.1', 'new'))).to.equal(web);
    expect([store.byName('web'), store.byName('renamed'), web.state]).to.deep.equal([undefined, web, 'connected']);
    const moved = store.put(keyOf('001', 'renamed', '192.0.2.2'));
    expect([web.removed, moved.removed, moved.state]).to.deep.equal([true, false, undefined]);
    expect([store.byAddress('192.0.2.1'), store.byAddress('192.0.2.2')]).to.deep.equal([undefined, moved]);
    expect(store.remove('001')).to.equal(moved);
    expect([moved.removed, store.byId('001'), store.byName('renamed'), store.byAddress('192.0.2.2')]).to.deep.equal([
      ...[true, undefined, undefined, undefined],
    ]);
    expect(store.remove('001')).to.equal(undefined);
    // The reload that follows changes nothing.
    const changes = store.replace([keyOf('002', 'fresh')]);
    expect([changes.added, changes.renewed, changes.removed].map(({ length }) => length)).to.deep.equal([0, 0, 0]);
    expect(store.byId('002')).to.equal(fresh);
  });

  it('accepts any counters unless it verifies, then only newer ones', () => {
    const store = new KeyStore();
    store.replace([keyOf('001', 'web')]);
    const agent = store.byId('001')!;
    const accept = (global: number, local: number, verify = true): string =>
      agent.acceptCounters({ global, local }, verify);
    expect(accept(5, 5, false)).to.equal('newer');
    expect(accept(0, 1, false)).to.equal('newer');
    expect(accept(0, 1)).to.equal('duplicate');
    expect([accept(0, 2), accept(0, 9997), accept(1, 1), accept(1, 1), accept(0, 9999)]).to.deep.equal([
      ...['newer', 'newer', 'newer', 'duplicate', 'older'],
    ]);
    expect(agent.counters).to.deep.equal({ global: 1, local: 1 });
    expect(
      counterTexts({ id: '001', name: 'web' }, 'duplicate', { global: 1, local: 1 }, agent.counters!),
    ).to.deep.equal([
      { level: 'warning', text: 'Duplicate error:  global: 1, local: 1, saved global: 1, saved local:1' },
      { level: 'error', text: "(1407): Duplicated counter for 'web'." },
    ]);
  });

  it('takes saved counters only where none are known', () => {
    const store = new KeyStore();
    store.replace([keyOf('001', 'web')]);
    const agent = store.byId('001')!;
    agent.restoreCounters({ global: 3, local: 4 });
    agent.restoreCounters({ global: 1, local: 1 });
    expect(agent.counters).to.deep.equal({ global: 3, local: 4 });
    expect(agent.acceptCounters({ global: 3, local: 4 }, true)).to.equal('duplicate');
  });
});
