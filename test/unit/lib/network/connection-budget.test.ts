import { expect } from 'chai';
import { ConnectionBudget, type ConnectionLimits } from '../../../../lib/network/connection-budget.js';

type Connection = { readonly name: string };

describe('a budget of connections', () => {
  let closed: string[];
  let budget: ConnectionBudget<Connection>;
  const start = (limits: Partial<ConnectionLimits>) => {
    closed = [];
    budget = new ConnectionBudget<Connection>({
      limits: { total: 100, unproven: 100, unprovenPerAddress: 100, ...limits },
      close: ({ name }) => closed.push(name),
    });
  };
  const open = (name: string, address: string) => {
    const connection = { name };
    const taken = budget.open(connection, address);
    return { connection, taken };
  };
  /** Both turns of the event loop after which it is decided. */
  const decided = async () => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  it('closes the oldest of an address that has too many, and nothing of others', async () => {
    start({ unprovenPerAddress: 2 });
    open('other', '192.0.2.9');
    for (const name of ['a', 'b', 'c', 'd']) open(name, '192.0.2.1');
    expect(closed, 'not before what they sent is read').to.deep.equal([]);
    await decided();
    expect(closed).to.deep.equal(['a', 'b']);
    expect(budget.size).to.equal(3);
  });

  it('takes addresses of one IPv6 network for one', async () => {
    start({ unprovenPerAddress: 1 });
    open('a', '2001:db8::1');
    open('b', '2001:db8::2');
    open('c', '2001:db8:0:1::1');
    await decided();
    expect(closed).to.deep.equal(['a']);
  });

  it('neither counts nor closes proven ones', async () => {
    start({ unprovenPerAddress: 1, total: 3 });
    const site = ['a', 'b', 'c'].map((name) => open(name, '192.0.2.1').connection);
    for (const connection of site) budget.prove(connection);
    await decided();
    expect(closed).to.deep.equal([]);
    expect(open('d', '192.0.2.2').taken, 'every place is that of a proven one').to.equal(false);
    budget.closed(site[0]!);
    expect(open('e', '192.0.2.2').taken).to.equal(true);
    open('f', '192.0.2.3');
    await decided();
    expect(closed).to.deep.equal(['e']);
  });

  it('closes the oldest of all when many addresses have some each', async () => {
    start({ unproven: 3 });
    for (let number = 1; number <= 5; number += 1) open(`c${number}`, `192.0.2.${number}`);
    await decided();
    expect(closed).to.deep.equal(['c1', 'c2']);
    expect(budget.unproven).to.equal(3);
  });

  it('forgets those that are gone', async () => {
    start({ unprovenPerAddress: 1 });
    const { connection } = open('a', '192.0.2.1');
    budget.closed(connection);
    budget.prove(connection);
    open('b', '192.0.2.1');
    await decided();
    expect(closed).to.deep.equal([]);
    expect(budget.size).to.equal(1);
  });
});
