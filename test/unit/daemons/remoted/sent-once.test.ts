import { expect } from 'chai';
import { SentOnce } from '../../../../daemons/remoted/sent-once.js';

const nobodyFails = (sent: string[]) => (agents: readonly string[]) => {
  sent.push(...agents);
  return Promise.resolve([] as { id: string }[]);
};

describe('what is sent to agents once for another node', () => {
  it('is not sent a second time to those that got it, and is to those that did not', async () => {
    const once = new SentOnce();
    const first = await once.send('a', ['001', '002'], () => Promise.resolve([{ id: '002', code: 'closed' }]));
    expect(first).to.deep.equal([{ id: '002', code: 'closed' }]);
    const sent: string[] = [];
    expect(await once.send('a', ['001', '002', '003'], nobodyFails(sent))).to.deep.equal([]);
    expect(sent).to.deep.equal(['002', '003']);
    await once.send('b', ['001'], nobodyFails(sent));
    expect(sent).to.deep.equal(['002', '003', '001']);
  });

  it('is sent in turn when two ask for it at once', async () => {
    const once = new SentOnce();
    const sent: string[] = [];
    let end: () => void = () => {};
    const first = once.send('a', ['001'], async (agents) => {
      await new Promise<void>((resolve) => (end = resolve));
      sent.push(...agents);
      return [];
    });
    const second = once.send('a', ['001'], nobodyFails(sent));
    await new Promise(setImmediate);
    end();
    await Promise.all([first, second]);
    expect(sent).to.deep.equal(['001']);
  });

  it('forgets the oldest when too much is remembered', async () => {
    const once = new SentOnce(3);
    const sent: string[] = [];
    await once.send('a', ['001', '002'], nobodyFails([]));
    await once.send('b', ['001', '002'], nobodyFails([]));
    await once.send('b', ['001', '002'], nobodyFails(sent));
    await once.send('a', ['001'], nobodyFails(sent));
    expect(sent).to.deep.equal(['001']);
  });
});
