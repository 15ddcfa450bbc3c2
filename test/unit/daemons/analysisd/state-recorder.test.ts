import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { CheckpointData } from '../../../../daemons/analysisd/pipeline/checkpoint-data.js';
import type { ReceivedEvent } from '../../../../lib/bus/bus-event.js';
import type { AgentMemorySnapshot } from '../../../../lib/engine/agents/agent-memory.js';
import { CheckpointStore } from '../../../../lib/journal/checkpoint-store.js';
import { PipelineHome, TestPipeline } from '../../../support/analysisd/pipeline-kit.js';
import { eventually } from '../../../support/eventually.js';

const NOON = new Date(2026, 2, 4, 12).getTime();

describe('the log of the state', () => {
  let home: PipelineHome;
  let running: TestPipeline;
  let sequence: number;

  beforeEach(async () => {
    home = new PipelineHome(NOON, { sections: '<journal><sync>1ms</sync></journal>' });
    sequence = 0;
    running = await TestPipeline.start(home);
  });
  afterEach(async () => {
    await running.pipeline.stop();
    home.remove();
  });

  /** Results of all checks of some agents. */
  const scan = (result: string, agents = 20): ReceivedEvent[] =>
    Array.from({ length: agents * 10 }, (_, index) => ({
      queue: 'p',
      location: 'sca',
      message: Buffer.from(
        `{"type":"check","id":7,"policy":"A","policy_id":"a","check":{"id":${String(index % 10)},"title":"t","result":"${result}"}}`,
      ),
      receivedAt: home.now,
      stream: 'test',
      sequence: ++sequence,
      agent: { id: String(Math.floor(index / 10) + 1).padStart(3, '0'), name: 'a', ip: '10.0.0.4', labels: new Map() },
    }));
  const alerts = (): number => readFileSync(home.path('logs/alerts/alerts.json'), 'latin1').split('\n').length - 1;
  const memory = (): AgentMemorySnapshot => running.pipeline.analysis.engine.state.agents.snapshot();
  const files = (): string[] => readdirSync(home.path('queue/journal')).filter((name) => name.startsWith('state.'));
  const take = async (events: readonly ReceivedEvent[]): Promise<void> => {
    await running.take(events);
    await running.written();
  };
  const checkpointed = async (): Promise<void> => {
    const { position } = running.pipeline.stats().journal.checkpoint;
    await eventually('a checkpoint is made', async () => {
      // There is one only where something has happened since the last try.
      await take(scan('passed', 1));
      home.now += 60_000;
      await running.pipeline.tick();
      return running.pipeline.stats().journal.checkpoint.position !== position;
    });
  };
  const restart = async (): Promise<void> => {
    await running.pipeline.stop();
    running = await TestPipeline.start(home);
    await running.written();
  };
  const store = (): CheckpointStore => new CheckpointStore(home.path('queue/journal'), () => {});

  it('has what a checkpoint has not, over restarts, and is begun anew as it grows', async () => {
    for (let round = 0; round < 6; round += 1) {
      await take(scan(round % 2 === 0 ? 'failed' : 'passed'));
      await checkpointed();
    }
    const written = alerts();
    const before = memory();
    await restart();
    expect(memory()).to.deep.equal(before);
    await take(scan('passed'));
    expect(alerts()).to.equal(written);
    const { remembered } = running.pipeline.stats();
    expect(remembered).to.deep.include({ agents: 20, forgotten_agents: 0 });
    expect(remembered.log_bytes).to.be.above(20 * 10);
    const data = store().load()?.data as CheckpointData;
    expect(data.analysis.engine.agents).to.deep.equal({ hosts: [], agents: [] });
    expect(Math.max(...(data.log ?? []).map(({ generation }) => generation))).to.be.above(1);
    expect(files().length).to.be.at.most(3);
    expect(home.logger.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
  });

  it('is made of a checkpoint from before there was one', async () => {
    await take(scan('failed'));
    const agents = memory();
    await running.pipeline.stop();
    const old = store();
    const loaded = old.load();
    const { log, ...data } = loaded!.data as CheckpointData;
    expect(log).to.have.length.above(0);
    const { analysis } = data;
    const before = { ...data, version: 1, analysis: { ...analysis, engine: { ...analysis.engine, agents } } };
    for (let times = 0; times < 2; times += 1) await old.save(loaded!.position, before);
    for (const file of files()) rmSync(home.path('queue/journal', file));
    const written = alerts();
    running = await TestPipeline.start(home);
    expect(memory()).to.deep.equal(agents);
    await take(scan('failed'));
    await restart();
    await take(scan('failed'));
    expect(alerts()).to.equal(written);
    expect((store().load()!.data as CheckpointData).version).to.equal(2);
  });

  it('is written anew when it was taken away, and no checkpoint counts on it meanwhile', async () => {
    await take(scan('failed'));
    await checkpointed();
    const before = memory();
    for (const file of files()) rmSync(home.path('queue/journal', file));
    await take(scan('failed'));
    home.now += 60_000;
    await running.pipeline.tick();
    await eventually('it is seen', () => home.logger.lines.some((line) => line.includes("state.1' was removed")));
    home.now += 60_000;
    await checkpointed();
    await restart();
    expect(memory().agents.map(({ checks }) => checks.length)).to.deep.equal(
      before.agents.map(({ checks }) => checks.length),
    );
    expect(home.logger.lines.filter((line) => line.includes('lost in part'))).to.deep.equal([]);
  });

  it('is used as far as it is whole where the disk has damaged it', async () => {
    await take(scan('failed'));
    await checkpointed();
    await take(scan('failed'));
    await checkpointed();
    await running.pipeline.stop();
    for (const file of files()) {
      const path = home.path('queue/journal', file);
      const bytes = readFileSync(path);
      bytes[60]! ^= 1;
      writeFileSync(path, bytes);
    }
    running = await TestPipeline.start(home);
    expect(home.logger.lines.filter((line) => line.includes('lost in part'))).to.have.length(1);
    await take(scan('failed'));
    const written = alerts();
    await restart();
    await take(scan('failed'));
    expect(alerts()).to.equal(written);
  });
});
