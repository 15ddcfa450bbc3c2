import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../../../../lib/engine/engine-state.js';
import { group, loadTestRuleset, TestEngine, testEngine } from '../../../../support/engine/engine-kit.js';

const WEB = (n: number): string => `[${String(n).padStart(3, '0')}] (web-${String(n)}) any->/var/log/app.log`;

function base(extra = '', level = 5): string {
  return `<rule id="100" level="${String(level)}"><match>denied</match><description>base</description></rule>${extra}`;
}

function composite(inside: string, attributes = 'frequency="4" timeframe="60"', id = 200, level = 10): string {
  return `<rule id="${String(id)}" level="${String(level)}" ${attributes}>${inside}<description>storm</description></rule>`;
}

const BY_SID = '<if_matched_sid>100</if_matched_sid>';

/** Sends events one second apart and gives the final rules. */
function series(
  engine: TestEngine,
  count: number,
  fields: (i: number) => Record<string, string | undefined> = () => ({ srcip: '10.0.0.1' }),
  location?: (i: number) => string,
): (number | undefined)[] {
  return Array.from({ length: count }, (_, i) => {
    engine.now += 1;
    return engine.app(fields(i), 'denied', location?.(i));
  });
}

describe('correlation', () => {
  it('frequency 4 fires at events 4, 8 and 12 and shows the earlier ones, newest first', () => {
    const engine = testEngine(group(base(composite(`${BY_SID}<same_source_ip/>`))));
    expect(series(engine, 12)).to.deep.equal([100, 100, 100, 200, 100, 100, 100, 200, 100, 100, 100, 200]);
    const again = testEngine(group(base(composite(`${BY_SID}<same_source_ip/>`))));
    const outcomes = [1, 2, 3, 4].map((i) => {
      again.now += 1;
      return again.send(`Mar  4 10:15:3${String(i)} web-02 app: denied ;srcip=10.0.0.1;`);
    });
    const json: unknown = JSON.parse(again.engine.alertJson(outcomes[3]!.alert, { id: '1.0' }));
    const log = (i: number): string => `Mar  4 10:15:3${String(i)} web-02 app: denied ;srcip=10.0.0.1;`;
    expect(json).to.have.property('previous_output', [3, 2, 1].map(log).join('\n'));
    expect(json).to.have.nested.property('rule.frequency', 4);
    expect(json).to.have.nested.property('rule.firedtimes', 1);
  });

  it('frequency 2, or none, fires on every event after the first, and shows no earlier events', () => {
    for (const attributes of ['frequency="2" timeframe="60"', 'timeframe="60"']) {
      const engine = testEngine(group(base(composite(BY_SID, attributes))));
      expect(series(engine, 5)).to.deep.equal([100, 200, 200, 200, 200]);
    }
    const engine = testEngine(group(base(composite(BY_SID, 'frequency="2"'))));
    engine.app({}, 'denied');
    const outcome = engine.send('Mar  4 10:15:30 web-02 app: denied');
    expect(engine.engine.alertJson(outcome.alert, { id: '1.0' })).to.not.include('previous_output');
  });

  it('events exactly as old as the timeframe count, older ones end the search', () => {
    const send = (gap: number): number | undefined => {
      const engine = testEngine(group(base(composite(BY_SID, 'frequency="2" timeframe="60"'))));
      engine.app({}, 'denied');
      engine.now += gap;
      return engine.app({}, 'denied');
    };
    expect(send(60)).to.equal(200);
    expect(send(61)).to.equal(100);
  });

  it('keeps agents apart unless global_frequency says otherwise', () => {
    const rules = (inside: string): string => group(base(composite(`${BY_SID}${inside}`)));
    const alternate = (i: number): string => WEB(1 + (i % 2));
    const none = (): Record<string, string> => ({});
    expect(series(testEngine(rules('')), 8, none, alternate)).to.deep.equal([100, 100, 100, 100, 100, 100, 200, 200]);
    expect(series(testEngine(rules('<global_frequency/>')), 4, none, alternate)).to.deep.equal([100, 100, 100, 200]);
  });

  it('a missing value is never the same, and always different', () => {
    const same = testEngine(group(base(composite(`${BY_SID}<same_source_ip/>`, 'frequency="2"'))));
    expect(series(same, 3, () => ({}))).to.deep.equal([100, 100, 100]);
    const different = testEngine(group(base(composite(`${BY_SID}<different_url/>`, 'frequency="2"'))));
    expect(series(different, 4, (i) => ({ url: ['/a', '/a', undefined, undefined][i] }))).to.deep.equal([
      100, 100, 200, 200,
    ]);
  });

  it('same_user compares dstuser, same_srcuser the source', () => {
    const fields = (i: number): Record<string, string> => ({ dstuser: 'bob', srcuser: `u${String(i)}` });
    expect(
      series(testEngine(group(base(composite(`${BY_SID}<same_user/>`, 'frequency="2"')))), 2, fields),
    ).to.deep.equal([100, 200]);
    expect(
      series(testEngine(group(base(composite(`${BY_SID}<same_srcuser/>`, 'frequency="2"')))), 2, fields),
    ).to.deep.equal([100, 100]);
  });

  it('same_field and different_field look at dynamic fields', () => {
    const same = testEngine(group(base(composite(`${BY_SID}<same_field>app.MODE</same_field>`, 'frequency="2"'))));
    expect(series(same, 4, (i) => ({ 'app.mode': ['a', 'b', 'a', undefined][i] }))).to.deep.equal([100, 100, 200, 100]);
    const different = testEngine(
      group(base(composite(`${BY_SID}<different_field>app.mode</different_field>`, 'frequency="2"'))),
    );
    expect(series(different, 4, (i) => ({ 'app.mode': ['a', 'a', 'b', undefined][i] }))).to.deep.equal([
      100, 100, 200, 200,
    ]);
    // neither event has any dynamic field
    const bare = testEngine(
      group(base(composite(`${BY_SID}<different_field>app.mode</different_field>`, 'frequency="2"'))),
    );
    expect(series(bare, 2, () => ({}))).to.deep.equal([100, 100]);
  });

  it("the composite's own event is not in the base list; a composite of composites needs a higher level", () => {
    const nested = (level: number): string =>
      group(
        base(composite(BY_SID, 'frequency="2" timeframe="60"')) +
          composite('<if_matched_sid>200</if_matched_sid>', 'frequency="2" timeframe="60"', 300, level),
      );
    expect(series(testEngine(nested(12)), 5)).to.deep.equal([100, 200, 300, 300, 300]);
    expect(series(testEngine(nested(10)), 5)).to.deep.equal([100, 200, 200, 200, 200]);
  });

  it('marks of one composite stop others of at most its level', () => {
    const rules = group(
      base(
        composite(BY_SID, 'frequency="3" timeframe="60"', 200, 10) +
          composite(BY_SID, 'frequency="4" timeframe="60"', 201, 9),
      ),
    );
    expect(series(testEngine(rules), 6)).to.deep.equal([100, 100, 200, 100, 100, 200]);
  });

  it('a rule that an if_matched_sid names feeds no group list', () => {
    const rules = group(
      '<rule id="100" level="5"><match>denied</match><group>auth,</group><description>a</description></rule>' +
        '<rule id="101" level="5"><match>refused</match><group>auth,</group><description>b</description></rule>' +
        '<rule id="200" level="10" frequency="2"><if_matched_group>auth</if_matched_group><description>group</description></rule>' +
        '<rule id="201" level="9" frequency="9"><if_matched_sid>100</if_matched_sid><description>sid</description></rule>',
    );
    const engine = testEngine(rules);
    expect(engine.app({}, 'denied')).to.equal(100);
    expect(engine.app({}, 'denied')).to.equal(100);
    expect(engine.app({}, 'refused')).to.equal(101);
    expect(engine.app({}, 'refused')).to.equal(200);
    expect(engine.app({}, 'denied')).to.equal(200);
  });

  it('a rule with several parents counts once for each in a group list', () => {
    const rules = group(
      '<rule id="90" level="0"><match>one</match><description>p</description></rule>' +
        '<rule id="91" level="0"><match>two</match><description>p</description></rule>' +
        '<rule id="100" level="5"><if_sid>90,91</if_sid><match>denied</match><group>auth,</group><description>a</description></rule>' +
        '<rule id="200" level="10" frequency="3"><if_matched_group>auth</if_matched_group><description>group</description></rule>',
    );
    const engine = testEngine(rules);
    expect([1, 2].map(() => engine.app({}, 'one denied'))).to.deep.equal([100, 200]);
  });

  it('if_matched_regex searches the logs of all remembered events of the category', () => {
    const rules = group(
      base(
        '<rule id="101" level="3"><match>login</match><description>l</description></rule>' +
          '<rule id="200" level="10" frequency="3" timeframe="60"><if_sid>101</if_sid><if_matched_regex>denied</if_matched_regex><description>r</description></rule>',
      ),
    );
    const engine = testEngine(rules);
    expect(engine.app({}, 'denied')).to.equal(100);
    expect(engine.app({}, 'login')).to.equal(101);
    expect(engine.app({}, 'denied')).to.equal(100);
    expect(engine.app({}, 'login', WEB(9))).to.equal(101);
    expect(engine.app({}, 'login')).to.equal(200);
  });

  it('level-0 rules are not remembered, suppressed logs are', () => {
    const zero = testEngine(group(base(composite(BY_SID, 'frequency="2"'), 0)));
    expect(series(zero, 3)).to.deep.equal([100, 100, 100]);
    const silent = testEngine(
      group(
        `<rule id="100" level="5"><match>denied</match><options>no_log</options><description>b</description></rule>${composite(
          BY_SID,
          'frequency="2"',
        )}`,
      ),
    );
    expect(series(silent, 2)).to.deep.equal([100, 200]);
  });

  describe('ignore', () => {
    const rules = group(base(composite(BY_SID, 'frequency="2" timeframe="600" ignore="10"')));

    it('lets the parent stand in while it lasts, for all agents, and then begins anew', () => {
      const engine = testEngine(rules);
      const send = (seconds: number, agent = 1): number | undefined => {
        engine.now += seconds;
        return engine.app({}, 'denied', WEB(agent));
      };
      expect(send(0)).to.equal(100);
      expect(send(1)).to.equal(200);
      const outcome = engine.send('Mar  4 10:15:30 h app: denied', WEB(1));
      expect(outcome.rule?.rule.id).to.equal(100);
      // the composite's counter, and nothing of what it had found
      expect(outcome.alert.firedTimes).to.equal(2);
      expect(outcome.alert.previousEvents).to.deep.equal([]);
      expect(send(0, 2)).to.equal(100);
      expect(send(0, 2)).to.equal(100);
      // the event for which the parent stood in is remembered with its mark, and that stops the next search
      expect(send(10)).to.equal(100);
      expect(send(0)).to.equal(200);
      expect(send(9)).to.equal(100);
      expect(send(1)).to.equal(100);
      expect(send(0)).to.equal(200);
    });

    it('in a test shows the suppressed rule without an alert, and is cleared afterwards', () => {
      const engine = testEngine(rules, { mode: 'test' });
      const send = (seconds: number): [number | undefined, boolean] => {
        engine.now += seconds;
        const outcome = engine.send('Mar  4 10:15:30 h app: denied');
        return [outcome.rule?.rule.id, outcome.isAlert];
      };
      expect(send(0)).to.deep.equal([100, true]);
      expect(send(1)).to.deep.equal([200, true]);
      expect(send(1)).to.deep.equal([200, false]);
      expect(send(10)).to.deep.equal([200, true]);
      expect(send(1)).to.deep.equal([200, true]);
      expect(send(1)).to.deep.equal([200, false]);
    });
  });

  it('an if_matched_sid that was not loaded never matches', () => {
    const engine = testEngine(
      group(
        '<rule id="200" level="10" frequency="2"><if_sid>1</if_sid><if_matched_sid>999</if_matched_sid><description>d</description></rule>',
      ),
    );
    expect(series(engine, 4)).to.deep.equal([undefined, undefined, undefined, undefined]);
    expect(engine.diagnostics.lines).to.include('debug No sid search.');
  });

  describe('memory', () => {
    it('stays flat under a flood of equal events', () => {
      const engine = testEngine(group(base(composite(`${BY_SID}<same_source_ip/>`, 'frequency="8" timeframe="3600"'))));
      for (let i = 0; i < 5000; i += 1) engine.app({ srcip: '10.0.0.1' }, 'denied');
      const { correlation } = engine.engine.state;
      expect(correlation.size).to.be.lessThan(10);
      expect(correlation.bytes, 'what is forgotten is given back').to.be.lessThan(20_000);
      expect(correlation.evicted).to.equal(0);
    });

    it('keeps to its bound under a flood of different events, counts what goes, and still finds the newest', () => {
      const engine = testEngine(
        group(base(composite(`${BY_SID}<same_source_ip/>`, 'frequency="3" timeframe="3600"'))),
        {
          stateOptions: { maxRememberedBytes: 200_000 },
        },
      );
      const { correlation } = engine.engine.state;
      for (let i = 0; i < 3000; i += 1) {
        engine.app({ srcip: `10.0.${String(i >> 8)}.${String(i & 255)}` }, 'denied', WEB(i % 500));
      }
      expect(correlation.bytes).to.be.at.most(200_000);
      expect(correlation.evicted).to.be.greaterThan(1000);
      expect(series(engine, 3, () => ({ srcip: '10.9.9.9' }))).to.deep.equal([100, 100, 200]);
    });

    it('forgets what no timeframe can need', () => {
      const engine = testEngine(group(base(composite(BY_SID, 'frequency="9" timeframe="60"'))));
      for (let i = 0; i < 50; i += 1) engine.app({}, 'denied', WEB(i));
      engine.now += 61;
      engine.app({}, 'denied');
      expect(engine.engine.state.correlation.size).to.equal(1);
    });

    it('does not remember events that nothing searches for', () => {
      const engine = testEngine(group(base()));
      series(engine, 10);
      expect(engine.engine.state.correlation.size).to.equal(0);
    });
  });

  describe('as the reference describes its search', () => {
    // A model of rules-and-alerts.md 5.2 as it is written, one list for each agent.
    type Past = {
      readonly time: number;
      readonly agent: number;
      readonly srcip?: string;
      readonly url?: string;
      mark: number;
    };
    type Composite = {
      readonly id: number;
      readonly level: number;
      readonly frequency: number;
      readonly timeframe: number;
      readonly sameIp: boolean;
      readonly differentUrl: boolean;
      readonly global: boolean;
    };

    class Model {
      readonly list: Past[] = [];
      constructor(readonly composites: readonly Composite[]) {}

      send(event: Past): number {
        for (const each of this.composites) if (this.#search(each, event)) return each.id;
        this.list.push(event);
        return 100;
      }

      #search(each: Composite, event: Past): boolean {
        let count = 0;
        let newest: Past | undefined;
        for (const past of [...this.list].reverse()) {
          if (event.time - past.time > each.timeframe) return false;
          if (!each.global && past.agent !== event.agent) continue;
          if (each.sameIp && (past.srcip === undefined || past.srcip !== event.srcip)) continue;
          if (each.differentUrl && past.url !== undefined && past.url === event.url) continue;
          if (past.mark >= each.level) return false;
          if (count < each.frequency - 2) {
            count += 1;
            newest ??= past;
            continue;
          }
          event.mark = each.level;
          if (newest !== undefined) newest.mark = each.level;
          return true;
        }
        return false;
      }
    }

    it('gives the same rule for every event of any series', () => {
      const composites = fc.array(
        fc.record({
          level: fc.integer({ min: 6, max: 12 }),
          frequency: fc.integer({ min: 2, max: 5 }),
          timeframe: fc.integer({ min: 1, max: 30 }),
          sameIp: fc.boolean(),
          differentUrl: fc.boolean(),
          global: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      );
      const option = (values: readonly string[]): fc.Arbitrary<string | undefined> =>
        fc.constantFrom(undefined, ...values);
      const events = fc.array(
        fc.record({
          wait: fc.integer({ min: 0, max: 6 }),
          agent: fc.integer({ min: 1, max: 2 }),
          srcip: option(['10.0.0.1', '10.0.0.2']),
          url: option(['/a', '/b']),
        }),
        { minLength: 1, maxLength: 60 },
      );
      fc.assert(
        fc.property(composites, events, fc.nat(60), (drafts, sent, cut) => {
          const numbered = drafts.map((draft, i) => ({ ...draft, id: 200 + i }));
          // as siblings are tried
          const ordered = [...numbered].sort((a, b) => b.level - a.level || a.id - b.id);
          const xml = numbered
            .map((each) =>
              composite(
                BY_SID +
                  (each.sameIp ? '<same_source_ip/>' : '') +
                  (each.differentUrl ? '<different_url/>' : '') +
                  (each.global ? '<global_frequency/>' : ''),
                `frequency="${String(each.frequency)}" timeframe="${String(each.timeframe)}"`,
                each.id,
                each.level,
              ),
            )
            .join('');
          const ruleset = loadTestRuleset(group(base(xml)));
          const model = new Model(ordered);
          let engine = new TestEngine(ruleset);
          let { now } = engine;
          sent.forEach((event, i) => {
            if (i === cut) {
              // a checkpoint in between changes nothing
              const snapshot: ReturnType<EngineState['snapshot']> = JSON.parse(
                JSON.stringify(engine.engine.state.snapshot()),
              );
              const state = new EngineState(ruleset.rules, DEFAULT_STATE_OPTIONS);
              state.restore(snapshot);
              engine = new TestEngine(ruleset, { state });
            }
            now += event.wait;
            engine.now = now;
            const { agent, srcip, url } = event;
            const expected = model.send({ time: now, agent, mark: 0, ...(srcip && { srcip }), ...(url && { url }) });
            expect(engine.app({ srcip, url }, 'denied', WEB(agent))).to.equal(expected);
          });
        }),
        { numRuns: 150 },
      );
    });
  });

  describe('a new ruleset', () => {
    const rules = (extra = ''): string => group(base(composite(`${BY_SID}<same_source_ip/>`)) + extra);

    it('takes over what was remembered and counted for rules that are still there', () => {
      const before = testEngine(rules());
      series(before, 3);
      const next = loadTestRuleset(
        rules('<rule id="300" level="3"><match>other</match><description>n</description></rule>'),
      );
      const after = new TestEngine(next, { state: before.engine.state.transferTo(next.rules) });
      after.now = before.now;
      expect(series(after, 1)).to.deep.equal([200]);
      after.now += 1;
      expect(after.send('Mar  4 10:15:30 h app: denied ;srcip=10.0.0.1;').alert.firedTimes).to.equal(4);
    });

    it('forgets what belongs to rules that are gone', () => {
      const before = testEngine(rules());
      series(before, 3);
      const next = loadTestRuleset(group(base()));
      const state = before.engine.state.transferTo(next.rules);
      expect(state.correlation.size).to.equal(0);
      expect(new TestEngine(next, { state }).app({}, 'denied')).to.equal(100);
    });
  });
});
