import { expect } from 'chai';
import { ControlMailbox, type WaitingControl } from '../../../../../daemons/remoted/link/control-mailbox.js';

type Message = WaitingControl & { readonly n: number };
const message = (kind: Message['kind'], n: number): Message => ({ kind, n });

describe('ControlMailbox', () => {
  it('keeps the newest keepalive of each agent, agents in turn', () => {
    const mailbox = new ControlMailbox<Message>();
    expect(mailbox.put('001', message('keepalive', 1))).to.equal('inserted');
    expect(mailbox.put('002', message('keepalive', 2))).to.equal('inserted');
    expect(mailbox.put('001', message('keepalive', 3))).to.equal('replaced');
    expect(mailbox.take()).to.deep.equal({ id: '001', messages: [message('keepalive', 3)] });
    expect(mailbox.take()).to.deep.equal({ id: '002', messages: [message('keepalive', 2)] });
    expect([mailbox.take(), mailbox.size]).to.deep.equal([undefined, 0]);
  });

  it('keeps a restart in its order', () => {
    const mailbox = new ControlMailbox<Message>();
    const kinds = ['keepalive', 'shutdown', 'startup', 'keepalive', 'keepalive'] as const;
    kinds.forEach((kind, n) => mailbox.put('001', message(kind, n)));
    expect(mailbox.take()?.messages.map(({ kind, n }) => kind + n)).to.deep.equal([
      'shutdown1',
      'startup2',
      'keepalive4',
    ]);
  });

  it('is bounded for one agent and for all', () => {
    const mailbox = new ControlMailbox<Message>(2);
    for (let n = 0; n < 100; n += 1) mailbox.put('001', message(n % 2 === 0 ? 'startup' : 'shutdown', n));
    mailbox.put('002', message('keepalive', 0));
    expect(mailbox.put('003', message('keepalive', 0))).to.equal('full');
    expect(mailbox.take()?.messages.map(({ n }) => n)).to.deep.equal([95, 96, 97, 98, 99]);
    expect(mailbox.put('003', message('keepalive', 0))).to.equal('inserted');
  });
});
