import { expect } from 'chai';
import { type Agent, type AgentLink, linkOf } from '../../../../daemons/remoted/agent-link.js';
import { KnownAgent } from '../../../../daemons/remoted/link/known-agent.js';
import { RemotedCounters } from '../../../../daemons/remoted/remoted-counters.js';
import { StatusWriter } from '../../../../daemons/remoted/status-writer.js';
import { AgentKey } from '../../../../lib/agentlink/agent-key.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

type Call = { readonly method: string; readonly agents: readonly Record<string, unknown>[] };

describe('the writer of states', () => {
  let calls: Call[];
  let failures: string[];
  let unknown: string[];
  let known: Agent[];
  let writer: StatusWriter;
  let running: Promise<void>;
  let logger: RecordingLogger;
  let stored: { id: string; labels: [string, string][] }[];

  beforeEach(() => {
    calls = [];
    failures = [];
    unknown = [];
    known = [];
    stored = [];
    logger = new RecordingLogger();
    const call = (method: string, params: { agents?: Call['agents'] }): Promise<unknown> => {
      const failure = failures.shift();
      if (failure !== undefined) return Promise.reject(new BusError(failure, 'no'));
      calls.push({ method, agents: params.agents ?? [] });
      if (method === 'agents.labels') return Promise.resolve({ agents: stored, unknown: [] });
      return Promise.resolve({ unknown, assigned: [], incomplete: [], ids: [] });
    };
    writer = new StatusWriter({
      db: { call } as never,
      counters: new RemotedCounters(),
      logger,
      agents: () => known,
      mostAgents: 3,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
    });
  });

  const agentOf = (id: string): Agent =>
    new KnownAgent<AgentLink>(new AgentKey(id, `box${id}`, AgentAddress.any, 'key'));
  const begin = () => {
    running = writer.run(5000);
  };
  const end = async () => {
    writer.stop();
    await running;
  };
  const came = (count: number) => eventually(`${String(count)} calls`, () => calls.length === count);

  it('resets connections first, then writes many agents in one call', async () => {
    const [one, two] = [agentOf('1'), agentOf('002')];
    writer.put(one, { kind: 'startup', at: 10_999, refused: undefined, version: 'v4.14.7' });
    writer.put(one, { kind: 'keepalive', at: 11_000 });
    writer.put(two, { kind: 'shutdown', at: 12_000 });
    begin();
    await came(3);
    expect(calls).to.deep.equal([
      { method: 'agents.reset_connections', agents: [] },
      {
        method: 'agents.status',
        agents: [
          { id: '001', status: 'pending', statusCode: 0, at: 10, disconnectionTime: 0, version: 'Wazuh v4.14.7' },
          { id: '002', status: 'disconnected', statusCode: 3, disconnectionTime: 12 },
        ],
      },
      { method: 'agents.keepalives', agents: [{ id: '001', at: 11 }] },
    ]);
    await end();
  });

  it('tells what a keepalive told once, and again when svc-db does not know the agent', async () => {
    const agent = agentOf('001');
    begin();
    const report = { mergedSum: 'x' };
    linkOf(agent).report = report;
    linkOf(agent).keepalive = 'digest';
    writer.put(agent, { kind: 'keepalive', at: 1000 });
    await came(2);
    writer.put(agent, { kind: 'keepalive', at: 2000 });
    await came(3);
    expect(calls.slice(1).map(({ agents }) => agents[0])).to.deep.equal([
      { id: '001', at: 1, changes: report },
      { id: '001', at: 2 },
    ]);
    expect(linkOf(agent).keepalive).to.equal('digest');
    unknown = ['001'];
    writer.put(agent, { kind: 'keepalive', at: 3000 });
    await came(4);
    await eventually('the digest is forgotten', () => linkOf(agent).keepalive === undefined);
    await end();
  });

  it('waits for svc-db, and gives up a call that svc-db cannot take', async () => {
    failures = ['unavailable', 'unavailable', 'timeout'];
    begin();
    await came(1);
    expect(logger.lines[0]).to.include('svc-db did not take the reset of connections, agents stay connected');
    expect(logger.lines.at(-1)).to.equal('info: svc-db takes the states of agents again.');
    failures = Array.from({ length: 5 }, () => 'bad_params');
    writer.put(agentOf('001'), { kind: 'shutdown', at: 1000 });
    await eventually('it was refused', () => failures.length === 0);
    writer.put(agentOf('002'), { kind: 'shutdown', at: 1000 });
    await came(2);
    expect(calls[1]?.agents[0]).to.include({ id: '002' });
    await end();
  });

  it('gives agents the labels they had, unless they have told others', async () => {
    const [silent, heard] = [agentOf('001'), agentOf('002')];
    known = [silent, heard];
    linkOf(heard).keepalive = 'digest';
    stored.push({
      id: '001',
      labels: [
        ['"site"', 'north'],
        ['!"rack"', '7'],
        ['#"_agent_ip"', '10.0.0.7'],
        ['#"_node_name"', 'node01'],
      ],
    });
    begin();
    await came(2);
    await eventually('the labels are there', () => linkOf(silent).labels !== undefined);
    expect([...(linkOf(silent).labels ?? [])]).to.deep.equal([
      ['site', 'north'],
      ['!rack', '7'],
      ['_agent_ip', '10.0.0.7'],
    ]);
    expect(linkOf(heard).labels).to.equal(undefined);
    await end();
  });

  it('keeps the last word of so many agents, and asks the others to tell everything again', async () => {
    const agents = ['001', '002', '003', '004'].map(agentOf);
    for (const agent of agents) {
      linkOf(agent).keepalive = 'digest';
      writer.put(agent, { kind: 'keepalive', at: 1000 });
    }
    expect(agents.map((agent) => linkOf(agent).keepalive)).to.deep.equal(['digest', 'digest', 'digest', undefined]);
    begin();
    await came(2);
    await end();
  });

  it('says what was refused, and nothing of agents that are gone', async () => {
    const gone = agentOf('003');
    gone.remove();
    writer.put(gone, { kind: 'shutdown', at: 1000 });
    writer.put(agentOf('001'), { kind: 'startup', at: 1000, refused: 1, version: 'v9.0.0' });
    writer.put(agentOf('002'), { kind: 'startup', at: 1000, refused: 2, version: undefined });
    begin();
    await came(2);
    expect(calls[1]?.agents).to.deep.equal([
      { id: '001', statusCode: 1, version: 'Wazuh v9.0.0' },
      { id: '002', statusCode: 2, version: null },
    ]);
    await end();
  });
});
