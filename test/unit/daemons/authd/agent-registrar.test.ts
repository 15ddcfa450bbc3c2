import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { AgentRegistrar } from '../../../../daemons/authd/agent-registrar.js';
import {
  type AgentTable,
  type NewAgent,
  type TableAgent,
  TableRefusedError,
} from '../../../../daemons/authd/agent-table.js';
import { RegistrationTimes } from '../../../../daemons/authd/registration-times.js';
import { RequestedGroups } from '../../../../daemons/authd/requested-groups.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** The table as a map; it can be away. */
class MemoryTable implements AgentTable {
  readonly agents = new Map<string, TableAgent & { groups?: readonly string[] | undefined; dateAdd?: number }>();
  away = false;
  life = 1;
  calls = 0;

  #there(): Promise<void> {
    this.calls += 1;
    return this.away ? Promise.reject(new Error('away')) : Promise.resolve();
  }
  async register({ id, name, registerIP, groups, dateAdd, replaces }: NewAgent): Promise<void> {
    await this.#there();
    if (name === 'agent999') throw new TableRefusedError('no such number');
    for (const old of replaces) this.agents.delete(old);
    this.agents.set(id, { id, name, registerIP, groups, dateAdd });
  }
  async remove(ids: readonly string[]): Promise<void> {
    await this.#there();
    for (const id of ids) this.agents.delete(id);
  }
  async rename(agent: TableAgent): Promise<void> {
    await this.#there();
    this.agents.set(agent.id, agent);
  }
  async facts(): Promise<undefined> {
    await this.#there();
    return undefined;
  }
  async all(): Promise<readonly TableAgent[]> {
    await this.#there();
    return [...this.agents.values()];
  }
  async incarnation(): Promise<string> {
    await this.#there();
    return String(this.life);
  }
}

describe('AgentRegistrar', () => {
  let home: TemporaryHome;
  let table: MemoryTable;
  let registrar: AgentRegistrar;
  let groups: RequestedGroups;
  let times: RegistrationTimes;
  let keys: { live: Map<string, AgentKey>; complete: boolean };

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('queue'), { recursive: true });
    table = new MemoryTable();
    keys = { live: new Map(), complete: true };
    const source = {
      get agents() {
        return keys.live.values();
      },
      byId: (id: string) => keys.live.get(id),
      get complete() {
        return keys.complete;
      },
    };
    const logger = new RecordingLogger();
    groups = new RequestedGroups(home.path('queue', 'groups'));
    times = new RegistrationTimes(home.path('queue', 'times'), source, logger);
    registrar = new AgentRegistrar(table, source, times, groups, logger, () => 1000);
  });
  afterEach(() => {
    registrar.stop();
    times.close();
    home.remove();
  });

  const settled = () => eventually('svc-db knows everything', () => registrar.settled);
  function newAgent(id: string, requested?: readonly string[]): void {
    keys.live.set(id, new AgentKey(id, `agent${id}`, AgentAddress.any, 'k'));
    if (requested !== undefined) groups.set(id, requested);
    registrar.registered({
      id,
      name: `agent${id}`,
      registerIP: 'any',
      dateAdd: 900,
      groups: requested,
      replaces: [],
    });
  }

  it('makes the table what the key file says', async () => {
    keys.live.set('001', new AgentKey('001', 'missing', AgentAddress.any, 'k'));
    keys.live.set('002', new AgentKey('002', 'renamed', AgentAddress.any, 'k'));
    table.agents.set('002', { id: '002', name: 'old', registerIP: '10.0.0.1' });
    table.agents.set('003', { id: '003', name: 'gone', registerIP: 'any' });
    registrar.start();
    await settled();
    expect([...table.agents.keys()].sort()).to.deep.equal(['001', '002']);
    expect(table.agents.get('001')).to.include({ name: 'missing', dateAdd: 1000 });
    expect(table.agents.get('002')).to.include({ name: 'renamed', registerIP: 'any' });
  });

  it('removes nobody while the key file is missing or damaged', async () => {
    table.agents.set('003', { id: '003', name: 'gone', registerIP: 'any' });
    keys.complete = false;
    registrar.start();
    await settled();
    expect([...table.agents.keys()]).to.deep.equal(['003']);
  });

  it('goes on after an agent that svc-db refuses', async () => {
    for (const id of ['012', '999', '014']) keys.live.set(id, new AgentKey(id, `agent${id}`, AgentAddress.any, 'k'));
    registrar.start();
    await settled();
    newAgent('015');
    await settled();
    expect([...table.agents.keys()].sort()).to.deep.equal(['012', '014', '015']);
  });

  it('tells of comings and goings in their order', async () => {
    registrar.start();
    await settled();
    for (let index = 1; index <= 200; index += 1) newAgent(String(index).padStart(3, '0'));
    keys.live.delete('100');
    registrar.removed(['100']);
    expect(await registrar.facts('200')).to.deep.include({ status: 'never_connected' });
    await settled();
    expect(table.agents.size).to.equal(199);
    expect(table.agents.has('100')).to.equal(false);
    expect(await registrar.facts('200')).to.equal(undefined);
  });

  it('catches up when svc-db was away, with the groups that were asked for', async () => {
    table.away = true;
    registrar.start();
    newAgent('001', ['web', 'default']);
    newAgent('002');
    await eventually('it was tried', () => table.calls > 1);
    expect(registrar.settled).to.equal(false);
    // The next process knows of the groups, too.
    await groups.save();
    const next = new RequestedGroups(home.path('queue', 'groups'));
    await next.load();
    expect(next.get('001')).to.deep.equal(['web', 'default']);
    table.away = false;
    await settled();
    expect(table.agents.get('001')?.groups).to.deep.equal(['web', 'default']);
    expect(table.agents.has('002')).to.equal(true);
    expect(groups.get('001')).to.equal(undefined);
  });
});
