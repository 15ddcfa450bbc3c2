import { expect } from 'chai';
import { AgentConfWorker } from '../../../api/groups/agent-conf-worker.js';
import { ApiError } from '../../../api/http/api-error.js';
import { ProblemError } from '../../../api/http/problem-error.js';
import { MAX_AGENT_CONF_BYTES } from '../../../lib/config/agent-conf-file.js';

const FILE = 'etc/shared/web/agent.conf';
const LABEL = '<label key="k">v</label>';
/** Read in a thread. */
const LARGE = `<agent_config><labels>${LABEL.repeat(10_000)}</labels></agent_config>`;
const never = new AbortController().signal;

describe('the reading of an agent.conf for the API', () => {
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it was taken'),
      (error: unknown) => error,
    );

  it('leaves the loop to others while it is large', async () => {
    let turned = false;
    setImmediate(() => (turned = true));
    const stored = await new AgentConfWorker().run('store', LARGE, FILE, never);
    expect(turned).to.equal(true);
    expect(stored.split('\n')).to.have.length(10_000 + 5);
    expect(stored).to.match(/^<agent_config>\n {2}<labels>\n {4}<label key="k">v<\/label>\n/);
    const [block] = await new AgentConfWorker().run('show', LARGE, FILE, never);
    expect(block?.filters).to.deep.equal({});
    expect(JSON.stringify(block?.config)).to.have.length.above(10_000);
  });

  it('says the same of a small and a large one that is wrong', async () => {
    const worker = new AgentConfWorker();
    for (const rest of ['', LARGE]) {
      const broken = await refusal(worker.run('store', `<agent_config>\n<x>${rest}`, FILE, never));
      expect(broken).to.be.instanceOf(ApiError).and.include({ code: 1113 });
      expect((broken as Error).message).to.include(`(1226): Error reading XML file '${FILE}'`);
      const wrong = await refusal(worker.run('store', `<agent_config><x/></agent_config>${rest}`, FILE, never));
      expect(wrong).to.be.instanceOf(ApiError).and.include({ code: 1114 });
      expect((wrong as Error).message).to.include(`(1202): Configuration error at '${FILE}'.`);
      const shown = await refusal(worker.run('show', `<agent_config>${rest}`, FILE, never));
      expect(shown).to.be.instanceOf(ApiError).and.include({ code: 1101 });
    }
  });

  it('leaves a text as it is that agents could not get when it is laid out', async () => {
    const [begin, end] = ['<agent_config><!--', '--></agent_config>'];
    const ofBytes = (bytes: number) => `${begin}${'x'.repeat(bytes - begin.length - end.length)}${end}`;
    const store = (text: string) => new AgentConfWorker().run('store', text, FILE, never);
    const largest = ofBytes(MAX_AGENT_CONF_BYTES);
    expect((await store(largest)) === largest, 'it is the same').to.equal(true);
    const room = ofBytes(MAX_AGENT_CONF_BYTES - 100);
    expect((await store(room)).length).to.be.within(room.length + 1, MAX_AGENT_CONF_BYTES);
  });

  it('ends with its request, goes on with the next, and refuses more than it may hold', async () => {
    const worker = new AgentConfWorker();
    const gone = new AbortController();
    const abandoned = refusal(worker.run('store', LARGE, FILE, gone.signal));
    const next = Array.from({ length: 15 }, () => worker.run('store', LARGE, FILE, gone.signal));
    const ends = Promise.allSettled(next);
    expect(await refusal(worker.run('store', LARGE, FILE, never)))
      .to.be.instanceOf(ProblemError)
      .and.include({ status: 503 });
    gone.abort(new Error('the client is gone'));
    expect(await abandoned).to.include({ message: 'the client is gone' });
    expect((await ends).map(({ status }) => status)).to.deep.equal(Array(15).fill('rejected'));
    expect(await worker.run('store', LARGE, FILE, never)).to.include(LABEL);
  });
});
