import { serialize } from 'node:v8';
import { expect } from 'chai';
import fc from 'fast-check';
import { columnsOf } from '../../../../../lib/engine/correlate/correlation-columns.js';
import type { CorrelationSnapshot } from '../../../../../lib/engine/correlate/correlation-snapshot.js';
import { RememberedEvent } from '../../../../../lib/engine/correlate/remembered-event.js';
import { decodeEvents } from '../../../../../lib/engine/correlate/remembered-events.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../../../../lib/engine/engine-state.js';
import { group, loadTestRuleset, TestEngine } from '../../../../support/engine/engine-kit.js';

const RULES = loadTestRuleset(
  group(
    '<rule id="100" level="5"><match>denied</match><description>base</description></rule>' +
      '<rule id="200" level="10" frequency="3" timeframe="60"><if_matched_sid>100</if_matched_sid><same_source_ip/><description>a</description></rule>' +
      '<rule id="201" level="11" frequency="4" timeframe="30"><if_matched_sid>200</if_matched_sid><different_url/><description>b</description></rule>',
  ),
);
const options = (shards: number) => ({ ...DEFAULT_STATE_OPTIONS, maxRememberedBytes: 40_000, shards });

/** What a checkpoint has, as a start reads it. */
function captured(state: EngineState): CorrelationSnapshot {
  const { snapshot, events } = state.capture();
  const parts = Array.from({ length: events.parts }, (_, part) => events.encode(part));
  const decoded = parts.flatMap((part) => decodeEvents(part));
  expect(decoded).to.have.length(events.count);
  return { ...snapshot.correlation, events: decoded };
}

describe('remembered events of a checkpoint', () => {
  it('are those there are, whatever was encoded before and has been forgotten or marked since', () => {
    const step = fc.record({
      agent: fc.integer({ min: 1, max: 9 }),
      ip: fc.nat(3),
      url: fc.nat(2),
      wait: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.nat(40)),
      capture: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), fc.constantFrom(1, 4), (steps, shards) => {
        const state = new EngineState(RULES.rules, options(shards));
        const engine = new TestEngine(RULES, { state });
        for (const { agent, ip, url, wait, capture } of steps) {
          engine.now += wait;
          const location = `[00${String(agent)}] (a) any->/x`;
          engine.app({ srcip: `10.0.0.${String(ip)}`, url: `/${String(url)}` }, 'denied', location);
          if (!capture) continue;
          const restored = [state.snapshot().correlation, captured(state)].map((correlation) => {
            const other = new EngineState(RULES.rules, options(shards));
            other.correlation.restore(structuredClone(correlation));
            return other.correlation.snapshot();
          });
          expect(restored[1]).to.deep.equal(restored[0]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('are encoded once, a thousand at a time, and anew when half of a part is forgotten', () => {
    const state = new EngineState(RULES.rules, { ...DEFAULT_STATE_OPTIONS, shards: 4 });
    const engine = new TestEngine(RULES, { state });
    const send = (count: number, from: number): void => {
      for (let number = from; number < from + count; number += 1) {
        const location = `[${String(number % 500)}] (a) any->/x`;
        engine.app({ srcip: `10.0.${String(number >> 8)}.${String(number & 255)}` }, 'denied', location);
      }
    };
    const encoded = (): Buffer[] => {
      const { events } = state.capture();
      return Array.from({ length: events.parts }, (_, part) => events.encode(part));
    };
    send(2500, 0);
    const first = encoded();
    expect(first).to.have.length(3);
    send(10, 2500);
    const second = encoded();
    expect(second).to.have.length(3);
    expect([second[0], second[1]]).to.deep.equal([first[0], first[1]]);
    expect(decodeEvents(second[2] ?? first[0]!)).to.have.length(510);
    engine.now += 50;
    send(100, 3000);
    expect(encoded()).to.have.length(4);
    // All but the last hundred can count no more; each shard sees that with its next event.
    engine.now += 20;
    send(40, 3100);
    expect(state.correlation.size).to.be.below(200);
    const left = encoded();
    expect(left).to.have.length(1);
    expect(decodeEvents(left[0] ?? Buffer.alloc(0))).to.have.length(state.correlation.size);
  });

  it('are read as they were written before parts were kept', () => {
    const event = new RememberedEvent(5, '001', 'syslog', 'a log', 'log', ['x', undefined], true, ['y']);
    event.mark = 7;
    const [read, ...more] = decodeEvents(serialize(columnsOf([event], ['name'])));
    expect(more).to.deep.equal([]);
    expect(read).to.deep.equal({
      time: 5,
      agentId: '001',
      category: 'syslog',
      fullLog: 'a log',
      log: 'log',
      attributes: ['x', null],
      hasFields: true,
      fields: [['name', 'y']],
      mark: 7,
    });
  });
});
