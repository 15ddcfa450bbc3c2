import { expect } from 'chai';
import { Singleton } from '../../../../lib/cluster/singleton.js';
import { FakeCluster } from '../../../support/cluster/fake-cluster.js';

describe('leave for jobs of one node', () => {
  it('is given to the holder of the lease alone, asked for each time', async () => {
    const cluster = new FakeCluster();
    const [one, other] = ['one', 'other'].map((name) => new Singleton(cluster.client(name)));
    expect(await one?.mayAct()).to.equal(false);
    cluster.master = 'one';
    expect([await one?.mayAct(), await other?.mayAct()]).to.deep.equal([true, false]);
    cluster.master = 'other';
    expect([await one?.mayAct(), await other?.mayAct()]).to.deep.equal([false, true]);
  });

  it('is not given while the cluster does not answer, and always without one', async () => {
    const cluster = new FakeCluster();
    cluster.master = 'one';
    cluster.unavailable = 'no NATS';
    expect(await new Singleton(cluster.client('one')).mayAct()).to.equal(false);
    expect(await new Singleton(undefined).mayAct()).to.equal(true);
  });

  it('is not taken from an answer that the process slept through', async () => {
    const cluster = new FakeCluster();
    cluster.master = 'one';
    let now = 0;
    const sleeping = new Singleton(cluster.client('one'), () => {
      now += 60_000;
      return now;
    });
    expect(await sleeping.mayAct()).to.equal(false);
  });
});
