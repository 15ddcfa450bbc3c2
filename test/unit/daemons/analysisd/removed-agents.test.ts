import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { RemovedAgentsFeed } from '../../../../daemons/analysisd/removed-agents-feed.js';
import type { ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import { dbContract } from '../../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../../lib/bus/request-client.js';
import { PipelineHome, TestPipeline } from '../../../support/analysisd/pipeline-kit.js';
import { DbServer } from '../../../support/db/db-server.js';
import { eventually } from '../../../support/eventually.js';

const NOON = new Date(2026, 2, 4, 12).getTime();

describe('removed agents', () => {
  let home: PipelineHome;
  let db: DbServer;
  let client: RequestClient<typeof dbContract>;
  let running: TestPipeline;
  let feed: RemovedAgentsFeed;
  let sequence: number;

  const startFeed = (): void => {
    feed = new RemovedAgentsFeed({ db: client, pipeline: running.pipeline, logger: home.logger, pollMs: 5 });
    feed.start((error) => {
      home.logger.critical(String(error));
    });
  };
  beforeEach(async () => {
    home = new PipelineHome(NOON, { sections: '<journal><sync>1ms</sync></journal>' });
    sequence = 0;
    db = await DbServer.start(home, () => NOON);
    client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    running = await TestPipeline.start(home);
    startFeed();
  });
  afterEach(async () => {
    await feed.stop();
    await running.pipeline.stop();
    client.close();
    await db.stop();
    home.remove();
  });

  const register = (id: string): Promise<unknown> =>
    client.call('agents.register', { id, name: `host${id}`, registerIP: 'any', dateAdd: 1 });
  const told = (id: string, queue: string, location: string, message: string): ReceivedEvent => ({
    queue,
    location,
    message: Buffer.from(message),
    receivedAt: home.now,
    stream: 'test',
    sequence: ++sequence,
    agent: { id, name: 'a', ip: '10.0.0.4', labels: new Map() },
  });
  const check = (id: string): ReceivedEvent =>
    told(
      id,
      'p',
      'sca',
      '{"type":"check","id":7,"policy":"A","policy_id":"a","check":{"id":1,"title":"t","result":"failed"}}',
    );
  const opened = (id: string, number: number): ReceivedEvent =>
    told(id, '1', '/var/log/door.log', `Mar  7 09:15:02 gate doord[1]: opened by ann number ${String(number)}`);
  const take = async (...events: readonly ReceivedEvent[]): Promise<void> => {
    await running.take(events);
    await running.written();
  };
  /** How many alerts each rule has. */
  const alerts = (rule: number): number =>
    readFileSync(home.path('logs/alerts/alerts.json'), 'latin1').split(`"id":"${String(rule)}"`).length - 1;
  const forgotten = async (through: number): Promise<void> => {
    await eventually('it is forgotten', () => running.pipeline.analysis.removedThrough > through);
  };

  it('leave nothing to those that get their numbers', async () => {
    await register('007');
    await register('008');
    await take(check('007'), check('008'), opened('007', 1), opened('007', 2), opened('008', 1));
    expect(alerts(100_220)).to.equal(2);
    await client.call('agents.remove', { ids: ['007'] });
    await forgotten(0);
    await register('007');
    // A third one within a minute, had it been the same agent.
    await take(check('007'), check('008'), opened('007', 3), opened('008', 2));
    expect(alerts(100_220), 'of the new one alone').to.equal(3);
    expect(alerts(100_210)).to.equal(0);
    await take(opened('008', 3));
    expect(alerts(100_210), 'others count on').to.equal(1);
    expect(running.pipeline.analysis.engine.state.agents.size).to.equal(2);
  });

  it('are forgotten once, at the same place of the journal after a crash, and by none that was killed before', async () => {
    await register('007');
    await take(check('007'));
    await feed.stop();
    await client.call('agents.remove', { ids: ['007'] });
    await running.pipeline.stop();
    running = await TestPipeline.start(home);
    startFeed();
    await forgotten(0);
    await register('007');
    await take(check('007'));
    expect(alerts(100_220)).to.equal(2);

    // The checkpoint is from before the removal: it is obeyed again, between the same events.
    const copy = new PipelineHome(NOON);
    home.copyTo(copy);
    await feed.stop();
    await running.pipeline.stop();
    const written = copy.files().get('logs/alerts/alerts.json');
    const other = await TestPipeline.start(copy);
    await other.written();
    expect(other.pipeline.removedThrough).to.equal(running.pipeline.removedThrough);
    expect(other.pipeline.analysis.removedThrough).to.equal(running.pipeline.removedThrough);
    await other.take([check('007')]);
    await other.written();
    await other.pipeline.stop();
    expect(copy.files().get('logs/alerts/alerts.json')).to.equal(written);
    copy.remove();

    running = await TestPipeline.start(home);
    const through = running.pipeline.removedThrough;
    startFeed();
    await take(check('007'));
    await eventually('svc-db keeps it no more', async () => {
      const { removed } = await client.call('agents.removed', { after: 0 });
      return removed.length === 0;
    });
    expect([running.pipeline.removedThrough, alerts(100_220)]).to.deep.equal([through, 2]);
    await running.pipeline.forgetAgents({ ids: ['007'], through });
    await take(check('007'));
    expect(alerts(100_220), 'one that is known is not obeyed again').to.equal(2);
    expect(home.logger.lines.filter((line) => /^(error|critical)/.test(line))).to.deep.equal([]);
  });
});
