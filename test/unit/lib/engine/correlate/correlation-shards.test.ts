import { expect } from 'chai';
import fc from 'fast-check';
import { CorrelationShards } from '../../../../../lib/engine/correlate/correlation-shards.js';
import {
  joinLayouts,
  partOfSnapshot,
  shardOf,
  shardOfBytes,
} from '../../../../../lib/engine/correlate/correlation-snapshot.js';
import { allowanceLayout, ShardAllowance, SharedPieces } from '../../../../../lib/engine/correlate/memory-allowance.js';
import {
  DEFAULT_STATE_OPTIONS,
  EngineState,
  type EngineStateSnapshot,
} from '../../../../../lib/engine/engine-state.js';
import type { EngineRuleset } from '../../../../../lib/engine/load/engine-ruleset.js';
import { group, loadTestRuleset, TestEngine } from '../../../../support/engine/engine-kit.js';

const BASE = '<rule id="100" level="5"><match>denied</match><description>base</description></rule>';
const storm = (inside: string, attributes: string): string =>
  `<rule id="200" level="10" ${attributes}><if_matched_sid>100</if_matched_sid>${inside}<description>storm</description></rule>`;
const STORM = loadTestRuleset(group(BASE + storm('<same_source_ip/>', 'frequency="3" timeframe="20"')));
const GLOBAL = loadTestRuleset(group(BASE + storm('<global_frequency/>', 'frequency="3" timeframe="20"')));

type Sent = { readonly wait: number; readonly agent: number; readonly ip: number };

const location = (agent: number): string =>
  `[${String(agent).padStart(3, '0')}] (web-${String(agent)}) any->/var/log/app`;

function engineOf(
  ruleset: EngineRuleset,
  shards: number,
  snapshot?: EngineStateSnapshot,
  maxRememberedBytes = 2 ** 27,
) {
  const state = new EngineState(ruleset.rules, { ...DEFAULT_STATE_OPTIONS, maxRememberedBytes, shards });
  if (snapshot !== undefined) state.restore(JSON.parse(JSON.stringify(snapshot)) as EngineStateSnapshot);
  return new TestEngine(ruleset, { state });
}

function send(engine: TestEngine, { wait, agent, ip }: Sent): string {
  engine.now += wait;
  const { alert } = engine.send(`Mar  4 10:15:30 h app: denied ;srcip=10.0.0.${String(ip)};`, location(agent));
  return engine.engine.alertJson(alert, { id: '1.0' });
}

const series = (agents: number): fc.Arbitrary<Sent[]> =>
  fc.array(
    fc.record({
      wait: fc.integer({ min: 0, max: 6 }),
      agent: fc.integer({ min: 1, max: agents }),
      ip: fc.integer({ min: 1, max: 2 }),
    }),
    { minLength: 1, maxLength: 120 },
  );

const LASTING = loadTestRuleset(group(BASE + storm('<same_source_ip/>', 'frequency="3" timeframe="99999"')));

/** Different addresses, so that none makes another superfluous. */
function flood(engine: TestEngine, agent: number, count: number): void {
  for (let i = 0; i < count; i += 1) {
    engine.app({ srcip: `10.${String(agent)}.${String(i >> 8)}.${String(i & 255)}` }, 'denied', location(agent));
  }
}
describe('shards of remembered events', () => {
  it('puts agents whose ids follow each other into different shards', () => {
    const shards = Array.from({ length: 64 }, (_, i) => {
      const id = String(i + 1).padStart(3, '0');
      expect(shardOfBytes(Buffer.from(`x${id}x`), 1, 1 + id.length, 64)).to.equal(shardOf(id, 64));
      return shardOf(id, 64);
    });
    expect(new Set(shards).size).to.be.greaterThan(40);
    expect(Math.max(...shards)).to.be.lessThan(64);
    expect(Math.min(...shards)).to.be.at.least(0);
  });

  it('gives the alerts of one store, also when a snapshot changes the number of shards', () => {
    const counts = fc.constantFrom(1, 2, 64);
    fc.assert(
      fc.property(series(9), counts, counts, fc.nat(120), (events, before, after, cut) => {
        const plain = engineOf(STORM, 1);
        let engine = engineOf(STORM, before);
        events.forEach((event, i) => {
          if (i === cut) {
            const { now } = engine;
            engine = engineOf(STORM, after, engine.engine.state.snapshot());
            engine.now = now;
          }
          expect(send(engine, event)).to.equal(send(plain, event));
        });
      }),
      { numRuns: 60 },
    );
  });

  it('are joined from what several hold as they were in one place', () => {
    fc.assert(
      fc.property(series(30), fc.integer({ min: 1, max: 5 }), (events, holders) => {
        const whole = engineOf(LASTING, 64, undefined, 2_000_000);
        events.forEach((event, index) => {
          send(whole, event);
          if (index % 3 === 0) flood(whole, event.agent, 40);
        });
        const { correlation: snapshot } = whole.engine.state.snapshot();
        const parts = Array.from({ length: holders }, (_, holder) => {
          const own = partOfSnapshot(snapshot, holder, (shard) => shard % holders, 64);
          const memory = {
            maxBytes: 2_000_000,
            shards: 64,
            pieces: { take: () => expect.fail('takes'), giveBack: () => expect.fail('gives back') },
          };
          const held = new CorrelationShards(LASTING.rules.lists, LASTING.rules.correlationFields, memory);
          held.restore(own);
          return held.snapshot();
        });
        const layouts = parts.map((part) => ({ layout: part, count: part.events.length }));
        const joined = joinLayouts(layouts, snapshot.shards?.pieces ?? [], (shard) => shard % holders);
        const again = new EngineState(LASTING.rules, {
          ...DEFAULT_STATE_OPTIONS,
          maxRememberedBytes: 2_000_000,
          shards: 64,
        });
        again.correlation.restore({ ...joined, events: parts.flatMap(({ events: some }) => some) });
        expect(again.correlation.snapshot()).to.deep.equal(snapshot);
      }),
      { numRuns: 20 },
    );
  });

  it('puts all agents into one shard for a rule that compares them, and back', () => {
    const before = engineOf(STORM, 64);
    const sent = [3, 1, 2].map((agent) => ({ wait: 1, agent, ip: agent }));
    for (const event of sent) send(before, event);
    const options = { ...DEFAULT_STATE_OPTIONS, shards: 64 };
    const state = before.engine.state.transferTo(GLOBAL.rules, options);
    expect([before.engine.state.correlation.count, state.correlation.count]).to.deep.equal([64, 1]);
    const after = new TestEngine(GLOBAL, { state });
    after.now = before.now;
    const { full_log: log, previous_output: previous } = JSON.parse(send(after, { wait: 1, agent: 4, ip: 9 })) as {
      full_log: string;
      previous_output: string;
    };
    expect(log).to.contain('10.0.0.9');
    expect(previous.split('\n').map((line) => line.slice(-2, -1))).to.deep.equal(['2', '1']);
    // As many as a search looks at.
    expect(state.transferTo(STORM.rules, options).correlation.size).to.equal(2);
  });

  it('keeps the order of a shard whose clock was set back when shards are joined', () => {
    const before = engineOf(STORM, 64);
    for (const [agent, wait] of [
      [1, 0],
      [1, -5],
      [2, 1],
    ] as const) {
      send(before, { wait, agent, ip: 1 });
    }
    const times = (engine: TestEngine): number[] =>
      engine.engine.state.snapshot().correlation.events.map(({ time }) => time);
    const { now } = before;
    expect(times(engineOf(STORM, 1, before.engine.state.snapshot()))).to.deep.equal([now, now + 4, now - 1]);
  });
});

describe('memory of shards', () => {
  const MAX = 400_000;

  it('lets a flood have what nobody needs, and nothing of what others have', () => {
    const engine = engineOf(LASTING, 4, undefined, MAX);
    const { correlation } = engine.engine.state;
    flood(engine, 2, 10);
    flood(engine, 1, 2000);
    expect(correlation.of('001').bytes).to.be.greaterThan(MAX * 0.6);
    expect(correlation.bytes).to.be.at.most(MAX);
    expect(correlation.evicted).to.be.greaterThan(1000);
    expect(correlation.of('002').count).to.equal(10);
    expect(correlation.of('002').evicted).to.equal(0);
    flood(engine, 3, 20);
    expect(correlation.of('003').count, 'each shard has a part of its own').to.equal(20);
  });

  it('has an agent that floods push out what it did itself, and nothing of others of its shard', () => {
    for (const shards of [1, 4]) {
      const engine = engineOf(LASTING, shards, undefined, MAX);
      const { correlation } = engine.engine.state;
      const others = Array.from({ length: 20 }, (_, index) => 5 + 4 * index);
      const { count } = correlation.of('001');
      for (const agent of others) for (let time = 0; time < 2; time += 1) flood(engine, agent, 1);
      flood(engine, 1, 3000);
      expect(correlation.evicted).to.be.greaterThan(2000);
      // The third of each completes the rule: the first two are still counted.
      for (const agent of others) {
        const third = engine.app({ srcip: `10.${String(agent)}.0.0` }, 'denied', location(agent));
        expect(third, `agent ${String(agent)}, ${String(shards)} shards`).to.equal(200);
      }
      expect(correlation.of('001').count).to.be.above(count + 100);
    }
  });

  it('divides what there is between agents that flood together', () => {
    const engine = engineOf(LASTING, 1, undefined, MAX);
    for (let round = 0; round < 20; round += 1) for (const agent of [1, 2, 3]) flood(engine, agent, 100 * agent);
    const { events } = engine.engine.state.snapshot().correlation;
    const counts = ['001', '002', '003'].map((id) => events.filter(({ agentId }) => agentId === id).length);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.below(40);
    const newest = events.filter(({ agentId }) => agentId === '003').at(-1);
    expect(newest?.fullLog, 'the oldest go first').to.include(';srcip=10.3.1.43;');
  });

  it('gives back what is forgotten, for others to have', () => {
    const engine = engineOf(LASTING, 4, undefined, MAX);
    const { correlation } = engine.engine.state;
    flood(engine, 1, 2000);
    engine.now += 100_000;
    flood(engine, 1, 1);
    flood(engine, 2, 2000);
    expect(correlation.of('002').bytes).to.be.greaterThan(MAX * 0.5);
  });

  it('goes on from a snapshot as without it', () => {
    const one = engineOf(LASTING, 4, undefined, MAX);
    for (const agent of [1, 2, 1, 3, 2]) flood(one, agent, 150);
    const two = engineOf(LASTING, 4, one.engine.state.snapshot(), MAX);
    two.now = one.now;
    for (const engine of [one, two]) for (const agent of [3, 1, 2, 4]) flood(engine, agent, 170);
    expect(two.engine.state.snapshot()).to.deep.equal(one.engine.state.snapshot());
  });

  it('divides a quarter beforehand and the rest by pieces', () => {
    const layout = allowanceLayout(1024, 4);
    expect(layout).to.deep.equal({ piece: 64, pieces: 12 });
    const pieces = new SharedPieces(layout, 4, [2, 9]);
    const allowance = new ShardAllowance(0, layout, pieces, 2);
    expect(allowance.bytes).to.equal(192);
    expect([allowance.more(), allowance.more(), allowance.bytes]).to.deep.equal([true, false, 256]);
    allowance.giveBack(60);
    expect([allowance.bytes, pieces.taken]).to.deep.equal([128, [1, 9, 0, 0]]);
    expect(new ShardAllowance(3, layout, pieces, 0).more()).to.equal(true);
  });
});
