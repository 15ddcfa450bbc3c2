import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { BusError } from '../../../lib/bus/bus-error.js';
import { authdContract } from '../../../lib/bus/contracts/authd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { furnishAuthd } from '../../support/authd/authd-server.js';
import { ClusterHome } from '../../support/cluster/cluster-homes.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';

const AUTH = '<auth><disabled>no</disabled><port>0</port></auth>';

describe('groups at two nodes with real daemons and NATS servers', function () {
  this.timeout(180_000);
  const servers = natsServers();
  let homes: ClusterHome[] = [];
  let dbs: RequestClient<typeof dbContract>[] = [];
  let authd: RequestClient<typeof authdContract>;

  before(async () => {
    homes = ['n1', 'n2'].map((name) => new ClusterHome(name, servers(), { configuration: AUTH }));
    for (const { home } of homes) {
      await furnishAuthd(home);
      mkdirSync(home.path('queue', 'db'), { recursive: true });
    }
    await Promise.all(homes.map((home) => home.start('svc-clusterd', 'svc-db', 'svc-authd')));
    dbs = homes.map(({ home }) => new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
    authd = new RequestClient({ contract: authdContract, path: at(0).home.socket('svc-authd') });
  });
  after(async () => {
    for (const db of dbs) db.close();
    (authd as typeof authd | undefined)?.close();
    await Promise.all(homes.map((home) => home.close()));
  });

  function at(index: number): ClusterHome {
    const found = homes[index];
    if (found === undefined) throw new Error('no such home');
    return found;
  }
  function db(index: number): RequestClient<typeof dbContract> {
    const found = dbs[index];
    if (found === undefined) throw new Error('no such home');
    return found;
  }
  const groupsOf = async (index: number, id: string): Promise<unknown> => {
    const { items } = await db(index).call('agents.get', { ids: [id], select: ['group'] });
    return items[0]?.['group'];
  };

  const makeGroup = (name: string) =>
    eventually('groups can be made', async () => {
      try {
        await db(0).call('groups.create', { name });
        return true;
      } catch (error) {
        if (error instanceof BusError && error.code === 'cluster_unavailable') return false;
        // What was not known to be made was made.
        if (error instanceof BusError && error.code === 'group_exists') return true;
        throw error;
      }
    });
  async function addAgent(name: string): Promise<string> {
    const { id } = await eventually('an agent can be added', async () => {
      try {
        return await authd.call('add', { name });
      } catch (error) {
        if (error instanceof BusError) return undefined;
        throw error;
      }
    });
    await eventually('the other node has the agent', async () => (await groupsOf(1, id)) !== undefined);
    return id;
  }

  it('are made at one and given to an agent at the other, and both have it', async () => {
    await makeGroup('web');
    const id = await addAgent('host-1');
    // Its svc-db may not have all records yet.
    const given = await eventually('the agent is put into the group', async () => {
      try {
        return await db(1).call('agents.membership', { mode: 'append', agents: [{ id, groups: ['web'] }] });
      } catch (error) {
        if (error instanceof BusError && error.code === 'cluster_unavailable') return undefined;
        throw error;
      }
    });
    expect(given).to.deep.equal({ changed: [{ id, groups: ['default', 'web'] }], failed: [] });
    await eventually(
      'the first node has it',
      async () => JSON.stringify(await groupsOf(0, id)) === '["default","web"]',
    );

    // What was so is so after a start.
    await at(1).stop('SIGKILL', 'svc-db');
    const removal = await db(0).call('groups.remove', { names: ['web'] });
    expect(removal).to.deep.include({ removed: ['web'], agents: [id] });
    await at(1).start('svc-db');
    await eventually('the other node has it', async () => {
      try {
        const { unknown } = await db(1).call('groups.list', { names: ['web'] });
        return unknown.length === 1 && JSON.stringify(await groupsOf(1, id)) === '["default"]';
      } catch (error) {
        if (error instanceof BusError) return false;
        throw error;
      }
    });
  });

  it('are not said to be given already by a node that has not heard of what others have changed', async () => {
    for (const name of ['first', 'second']) await makeGroup(name);
    const id = await addAgent('host-2');
    const give = (index: number, group: string) =>
      db(index)
        .call('agents.membership', { mode: 'override', agents: [{ id, groups: [group] }] })
        .catch((error: unknown) => error as BusError);
    const isGiven = async (index: number, group: string) =>
      JSON.stringify(await groupsOf(index, id)) === `["${group}"]`;
    await eventually('it is in the first group', async () => !((await give(0, 'first')) instanceof BusError));
    await eventually('the other node has it', () => isGiven(1, 'first'));
    await at(1).stop('SIGKILL', 'svc-clusterd');
    expect(await give(0, 'second')).to.deep.include({ failed: [] });
    expect(await isGiven(1, 'first')).to.equal(true);
    expect(await give(1, 'first')).to.include({ code: 'cluster_unavailable' });
    await at(1).start('svc-clusterd');
    const given = await eventually('it can be given', async () => {
      const outcome = await give(1, 'first');
      return outcome instanceof BusError ? undefined : outcome;
    });
    expect(given).to.deep.equal({ changed: [{ id, groups: ['first'] }], failed: [] });
    await eventually('the first node has it', () => isGiven(0, 'first'));
  });
});
