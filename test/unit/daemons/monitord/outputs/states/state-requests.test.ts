import { expect } from 'chai';
import type { IndexerAnswer } from '../../../../../../daemons/monitord/outputs/indexer/indexer-client.js';
import type { IndexerQuestion } from '../../../../../../daemons/monitord/outputs/indexer/indexer-connection.js';
import { OutputStore } from '../../../../../../daemons/monitord/outputs/output-store.js';
import { StateIndices } from '../../../../../../daemons/monitord/outputs/states/state-indices.js';
import { StateRequests } from '../../../../../../daemons/monitord/outputs/states/state-requests.js';
import { StrictStates } from '../../../../../support/monitord/strict-states.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../../support/temporary-home.js';

const INDEX = 'wazuh-states-inventory-packages-big';
const { signal } = new AbortController();

describe('requests to indices of states', () => {
  let states: StrictStates;
  let violations: string[];
  let asked: string[];
  /** Answers of requests whose path has the text are these instead. */
  let instead: Map<string, number>;

  beforeEach(() => {
    violations = [];
    asked = [];
    instead = new Map();
    states = new StrictStates([], (violation) => violations.push(violation));
  });
  afterEach(() => expect(violations).to.deep.equal([]));

  const ask = ({ method, path, body = '' }: IndexerQuestion): Promise<IndexerAnswer> =>
    new Promise((resolve) => {
      asked.push(`${method} ${path}`);
      const send = (status: number, answer: unknown): void => resolve({ status, text: JSON.stringify(answer) });
      const fail = (status: number, type: string, reason: string): void => send(status, { error: { type, reason } });
      const status = [...instead].find(([text]) => `${method} ${path}`.includes(text))?.[1];
      if (status !== undefined) fail(status, 'security_exception', 'no permissions');
      else states.answer({ method, url: path, body: body.toString(), send, fail });
    });

  async function fill(documents: readonly (readonly [id: string, agent: string])[]): Promise<void> {
    await ask({ method: 'PUT', path: `/${INDEX}`, body: JSON.stringify({ mappings: { properties: {} } }), signal });
    for (const [id, agent] of documents) states.indices.get(INDEX)?.documents.set(id, { agent: { id: agent } });
    states.refresh(INDEX);
    asked = [];
  }
  const many = (count: number, agent: string) =>
    Array.from({ length: count }, (_, index) => [`${agent}_${String(index)}`, agent] as const);

  it('find all ids of an agent, however many there are, and of no other', async () => {
    const requests = new StateRequests(ask, undefined);
    await fill([...many(25_000, '100'), ...many(3, '1000')]);
    const ids = await requests.ids(INDEX, '100', signal);
    expect(new Set(ids).size).to.equal(25_000);
    expect(asked.at(-1)).to.equal('DELETE /_search/scroll');
    expect(await requests.ids(INDEX, '1000', signal)).to.have.members(['1000_0', '1000_1', '1000_2']);
    expect(await requests.ids(INDEX, '1001', signal)).to.deep.equal([]);
  });

  it('find all agents, page after page', async () => {
    const agents = Array.from({ length: 2500 }, (_, index) => String(index + 1).padStart(3, '0'));
    await fill(agents.flatMap((agent) => many(1, agent)));
    expect([...(await new StateRequests(ask, undefined).agents(INDEX, signal))].sort()).to.deep.equal(agents.sort());
  });

  it('delete documents of agents again while others change them, and give up some time', async () => {
    const requests = new StateRequests(ask, undefined);
    await fill([...many(5, '100'), ...many(2, '1000')]);
    states.conflicts = 2;
    expect(await requests.deleteAgents(INDEX, ['100'], signal)).to.equal(5);
    expect([...states.documents(INDEX).keys()]).to.deep.equal(['1000_0', '1000_1']);
    states.conflicts = 1000;
    const failure = await requests.deleteAgents(INDEX, ['1000'], signal).catch((error: unknown) => error);
    expect(failure).to.be.an('error').with.property('message').that.includes('could not be deleted');
  });

  it('do without what an account may not, and say so once', async () => {
    const home = new TemporaryHome();
    const store = await OutputStore.open(home.path('queue', 'outputs'));
    try {
      const logger = new RecordingLogger();
      const indices = new StateIndices({ ask, store: store.states, suffix: 'big', logger });
      instead.set('_index_template', 403).set('_settings', 403);
      expect(await indices.check(signal)).to.equal(true);
      expect(states.indices.size).to.equal(13);
      expect(await indices.check(signal)).to.equal(false);
      expect(store.states.index('packages')).to.deep.equal({ uuid: '', copyAfter: '' });
      const warnings = logger.lines.filter((line) => line.startsWith('warn'));
      expect(warnings).to.have.length(2);
      states.indices.delete(INDEX);
      await store.states.commit([store.states.putIndex('packages', { uuid: '' })]);
      expect(await indices.check(signal)).to.equal(true);
      expect(store.states.index('packages')).to.deep.equal({ uuid: '', copyAfter: '' });
    } finally {
      await store.close();
      home.remove();
    }
  });
});
