import { expect } from 'chai';
import { DEFAULT_STEP_BUDGET, Engine } from '../../../../../lib/engine/engine.js';
import { EngineState } from '../../../../../lib/engine/engine-state.js';
import { MitreTable } from '../../../../../lib/engine/load/mitre-table.js';
import type { EventOutcome } from '../../../../../lib/engine/outcome.js';
import { readLocation } from '../../../../../lib/engine/predecode/read-location.js';
import { bytes } from '../../../../support/engine/decoding.js';
import { group, loadTestRuleset, testEngine } from '../../../../support/engine/engine-kit.js';
import { RecordingDiagnostics } from '../../../../support/recording-diagnostics.js';

const ATTACK = JSON.stringify({
  tactics: [
    { id: 'TA0006', name: 'Credential Access' },
    { id: 'TA0008', name: 'Lateral Movement' },
  ],
  techniques: [
    { id: 'T1110', name: 'Brute Force', tactics: ['Credential Access'] },
    { id: 'T1021', name: 'Remote Services', tactics: ['Lateral Movement'] },
    { id: 'T1043', name: 'Old', tactics: ['Lateral Movement'], revoked: true },
  ],
});

const WIDGET = `
<decoder name="widget"><program_name>^widget$</program_name></decoder>
<decoder name="widget-denied"><parent>widget</parent><prematch>^denied</prematch>
<regex offset="after_prematch">^ (\\S+) from (\\S+)</regex><order>user, srcip</order></decoder>
<decoder name="widget-denied"><parent>widget</parent><regex>build=(\\d+) </regex><order>widget.build</order></decoder>
<decoder name="json"><prematch>^{</prematch><plugin_decoder>JSON_Decoder</plugin_decoder></decoder>`;

const RULES = group(
  '<rule id="100200" level="5"><match>denied</match><description>Widget login denied.</description></rule>' +
    '<rule id="100210" level="10" frequency="4" timeframe="60"><if_matched_sid>100200</if_matched_sid><same_source_ip/>' +
    '<group>authentication_failures,pci_dss_10.2.4,pci_dss_11.4,gdpr_IV_35.7.d,</group><mitre><id>T1110</id></mitre>' +
    '<description>Widget login storm from $(srcip).</description></rule>',
  'local,widget,',
);

function widgetEngine(rules = RULES): Engine {
  const ruleset = loadTestRuleset(rules, { decoders: WIDGET, mitre: MitreTable.parse(ATTACK), mailLevel: 12 });
  return new Engine({
    ruleset,
    state: new EngineState(ruleset.rules),
    diagnostics: new RecordingDiagnostics(),
    options: {
      mode: 'live',
      origin: { managerName: 'mgr1.example.net', cluster: { name: 'prod', node: 'node01' }, showHiddenLabels: false },
      logFirewall: true,
      budget: DEFAULT_STEP_BUDGET,
    },
  });
}

/** Milliseconds of a moment of the local day, so that texts are the same in every zone. */
const AT = new Date(2025, 2, 4, 10, 15, 27, 123).getTime();
const SECONDS = String(Math.floor(AT / 1000) + 3);

function storm(engine: Engine): EventOutcome {
  let outcome: EventOutcome | undefined;
  for (let i = 0; i < 4; i += 1) {
    const clock = `10:15:${String(27 + i)}`;
    outcome = engine.process({
      queue: '1',
      ...readLocation('[004] (web-02) 10.0.0.24->/var/log/widget.log'),
      message: `Mar  4 ${clock} web-02 widget[7]: denied bob from 203.0.113.9 build=77 `.replace(
        / build=77 $/,
        i === 3 ? ' build=77 ' : '',
      ),
      receivedAt: AT + i * 1000,
      labels: new Map([
        ['site.floor', '2'],
        ['_agent_version', 'v4.14.7'],
        ['!secret', 'x'],
      ]),
    });
  }
  return outcome!;
}

describe('alerts', () => {
  it('write every member of the JSON form in its place', () => {
    const engine = widgetEngine();
    const outcome = storm(engine);
    const zone = /[+-]\d{4}/.exec(engine.clock.timestamp(AT))![0];
    expect(engine.alertJson(outcome.alert, { id: `${SECONDS}.48211` })).to.equal(
      `{"timestamp":"2025-03-04T10:15:30.123${zone}","rule":{"level":10,"description":"Widget login storm from 203.0.113.9.","id":"100210",` +
        '"mitre":{"id":["T1110"],"tactic":["Credential Access"],"technique":["Brute Force"]},"frequency":4,"firedtimes":1,"mail":false,' +
        '"groups":["local","widget","authentication_failures"],"pci_dss":["10.2.4","11.4"],"gdpr":["IV_35.7.d"]},' +
        '"agent":{"id":"004","name":"web-02","ip":"10.0.0.24","labels":{"site":{"floor":"2"}}},"manager":{"name":"mgr1.example.net"},' +
        `"id":"${SECONDS}.48211","cluster":{"name":"prod","node":"node01"},` +
        '"previous_output":"Mar  4 10:15:29 web-02 widget[7]: denied bob from 203.0.113.9\\nMar  4 10:15:28 web-02 widget[7]: denied bob from 203.0.113.9\\nMar  4 10:15:27 web-02 widget[7]: denied bob from 203.0.113.9",' +
        '"full_log":"Mar  4 10:15:30 web-02 widget[7]: denied bob from 203.0.113.9 build=77 ",' +
        '"predecoder":{"program_name":"widget","timestamp":"Mar  4 10:15:30","hostname":"web-02"},"decoder":{"parent":"widget","name":"widget"},' +
        '"data":{"srcip":"203.0.113.9","dstuser":"bob","widget":{"build":"77"}},"location":"/var/log/widget.log"}',
    );
  });

  it('write the text form', () => {
    const engine = widgetEngine();
    const outcome = storm(engine);
    expect(engine.alertText(outcome.alert, `${SECONDS}.48211`)).to.equal(
      [
        `** Alert ${SECONDS}.48211: - local,widget,authentication_failures,pci_dss_10.2.4,pci_dss_11.4,gdpr_IV_35.7.d,`,
        '2025 Mar 04 10:15:30 (web-02) 10.0.0.24->/var/log/widget.log',
        'site.floor: 2',
        "Rule: 100210 (level 10) -> 'Widget login storm from 203.0.113.9.'",
        'Src IP: 203.0.113.9',
        'User: bob',
        'Mar  4 10:15:30 web-02 widget[7]: denied bob from 203.0.113.9 build=77 ',
        'widget.build: 77',
        'Mar  4 10:15:29 web-02 widget[7]: denied bob from 203.0.113.9',
        'Mar  4 10:15:28 web-02 widget[7]: denied bob from 203.0.113.9',
        'Mar  4 10:15:27 web-02 widget[7]: denied bob from 203.0.113.9',
        '',
        '',
      ].join('\n'),
    );
  });

  it('mark mails, name the host of the manager and keep the full log in the text form', () => {
    const engine = testEngine(
      group(
        '<rule id="100" level="12"><match>x</match><options>no_full_log</options><options>no_counter</options><description>d</description></rule>',
      ),
    );
    const outcome = engine.send('x', '/var/log/messages');
    const text = engine.engine.alertText(outcome.alert, '5.6');
    expect(text).to.match(
      /^\*\* Alert 5\.6: mail {2}- local,\n\d{4} \w{3} \d\d \d\d:\d\d:\d\d mgr1->\/var\/log\/messages\n/,
    );
    expect(text).to.match(/\nx\n\n$/);
    const json = engine.engine.alertJson(outcome.alert, { id: '5.6' });
    expect(json).to.not.include('full_log').and.to.not.include('firedtimes');
    expect(engine.engine.alertJson(outcome.alert, { id: '5.6', alwaysFullLog: true })).to.include('"full_log":"x"');
    expect(JSON.parse(json)).to.have.nested.property('rule.mail', true);
    expect(JSON.parse(json)).to.deep.include({
      agent: { id: '000', name: 'mgr1.example.net' },
      location: '/var/log/messages',
      decoder: {},
    });
    expect(json).to.not.include('"data"').and.to.not.include('cluster');
  });

  it('never write what is added later by others', () => {
    const engine = widgetEngine();
    const json: unknown = JSON.parse(engine.alertJson(storm(engine).alert, { id: '1.0' }));
    expect(json).to.not.have.any.keys('input', 'GeoLocation', '@timestamp');
  });

  it('nest dotted names, drop names that are there already in any case, and turn array texts into arrays', () => {
    const engine = testEngine(group('<rule id="100" level="3"><match>{</match><description>d</description></rule>'));
    const dataOf = (log: unknown): unknown => {
      const outcome = engine.send(JSON.stringify(log), '/x');
      const json: unknown = JSON.parse(engine.engine.alertJson(outcome.alert, { id: '1.0' }));
      return (json as { data?: unknown }).data;
    };
    expect(
      dataOf({
        id: 'E1',
        ID: 'E2',
        sub: { a: 1, A: 2, l: [1, { b: 'x' }] },
        n: 5e9,
        f: 1.5,
        ok: true,
        z: null,
        tags: ['a', 'b'],
        e: '',
      }),
    ).to.deep.equal({
      id: 'E1',
      sub: { a: '1', l: [1, { b: 'x' }] },
      n: '5000000000.000000',
      f: '1.500000',
      ok: 'true',
      z: 'null',
      tags: ['a', 'b'],
    });
    expect(dataOf({ a: 'x', A: { b: 'y' } })).to.deep.equal({ a: 'x' });
    expect(dataOf({ t: '[1, 2' })).to.deep.equal({ t: '[1, 2' });
    expect(dataOf({ t: '[1,2] x' })).to.deep.equal({ t: '[1,2] x' });
    expect(dataOf({ t: '[1,2]' })).to.deep.equal({ t: [1, 2] });
    expect(dataOf({ __proto__x: 'a', constructor: 'b', toString: { valueOf: 'c' } })).to.deep.equal({
      __proto__x: 'a',
      constructor: 'b',
      toString: { valueOf: 'c' },
    });
  });

  it('write UTF-8 as it came, and replace what is none', () => {
    const engine = testEngine(group('<rule id="100" level="3"><match>x</match><description>d</description></rule>'));
    const shown = (message: string): string => {
      const outcome = engine.engine.process({ queue: '1', location: '/x', message, receivedAt: 0 });
      return Buffer.from(engine.engine.alertJson(outcome.alert, { id: '1.0' }), 'latin1').toString('utf8');
    };
    expect(shown(bytes('x Grüße \u{1F600}'))).to.include('"full_log":"x Grüße \u{1F600}"');
    expect(shown('x \xff\xfe y')).to.include('"full_log":"x \uFFFD\uFFFD y"');
    expect(shown('x \u0001\u001f\t"\\/\u007f')).to.include('"full_log":"x \\u0001\\u001f\\t\\"\\\\/\u007f"');
  });

  it('show the header host name only for the old date form, after data when nothing else was found', () => {
    const engine = testEngine(group('<rule id="100" level="3"><match>x</match><description>d</description></rule>'));
    const of = (message: string, location = '/x'): string =>
      engine.engine.alertJson(engine.send(message, location).alert, { id: '1.0' });
    expect(of('2024 Mar 07 09:15:02 gate app: x')).to.include(
      '"predecoder":{"program_name":"app","timestamp":"2024 Mar 07 09:15:02"}',
    );
    expect(of('Mar  7 09:15:02 gate app: x', '[001] (a) any->/y')).to.include(
      '"predecoder":{"program_name":"app","timestamp":"Mar  7 09:15:02","hostname":"gate"}',
    );
  });

  it('know agents without a fixed address, agentless hosts and odd locations', () => {
    const engine = testEngine(group('<rule id="100" level="3"><match>x</match><description>d</description></rule>'));
    const of = (location: string): Record<string, unknown> => {
      const outcome = engine.send('x', location);
      return JSON.parse(engine.engine.alertJson(outcome.alert, { id: '1.0' })) as Record<string, unknown>;
    };
    expect(of('[007] (db) any->/y')).to.deep.include({ agent: { id: '007', name: 'db' }, location: '/y' });
    expect(of('[007] (db) 10.0.0.7->a->b')).to.deep.include({
      agent: { id: '007', name: 'db', ip: '10.0.0.7' },
      location: 'a->b',
    });
    expect(of('[007] ')).to.deep.include({ agent: { id: '007' }, location: '' });
    const agentless = of('(ssh_diff) root@switch1->svc-agentlessd');
    expect(agentless).to.deep.include({ agentless: { script: 'ssh_diff', user: 'root', host: 'switch1' } });
    expect(agentless).to.not.have.property('agent');
    expect(Object.keys(agentless).at(-1)).to.equal('agentless');
  });

  it('look techniques up, in both notations, and leave the member out when nothing results', () => {
    const shown = (mitre: string): unknown => {
      const engine = widgetEngine(group(`<rule id="100" level="3">${mitre}<description>d</description></rule>`));
      const outcome = engine.process({ queue: '1', location: '/x', message: 'x', receivedAt: 0 });
      const json = JSON.parse(engine.alertJson(outcome.alert, { id: '1.0' })) as { rule: { mitre?: unknown } };
      return [json.rule.mitre, engine.mitreWarnings(outcome.rule!)];
    };
    expect(shown('<mitre><id>T1110</id><id>T9999</id></mitre>')).to.deep.equal([
      { id: ['T1110', 'T9999'], tactic: ['Credential Access'], technique: ['Brute Force'] },
      ["Mitre Technique ID 'T9999' not found in database."],
    ]);
    expect(shown('<mitre><id>T1043</id></mitre>')).to.deep.equal([
      undefined,
      ["Mitre Technique ID 'T1043' not found in database."],
    ]);
    expect(
      shown(
        '<mitre><tacticID>TA0006</tacticID><techniqueID>T1110</techniqueID></mitre><mitre><tacticID>TA0006</tacticID><techniqueID>T1021</techniqueID></mitre>',
      ),
    ).to.deep.equal([
      { id: ['T1110'], tactic: ['Credential Access'], technique: ['Brute Force'] },
      ["Mitre Tactic ID 'TA0006' is not a tactic of 'T1021'."],
    ]);
  });

  it('show level 0 only in tests, as the last member', () => {
    const engine = testEngine(group('<rule id="100" level="0"><match>x</match><description>d</description></rule>'), {
      mode: 'test',
    });
    const { alert } = engine.send('x');
    expect(engine.engine.alertJson(alert, { id: '1.0', showLevelZero: true })).to.include(
      '"rule":{"description":"d","id":"100","firedtimes":1,"mail":false,"groups":["local"],"level":0}',
    );
    expect(engine.engine.alertJson(alert, { id: '1.0' })).to.not.include('"level"');
  });

  it('archive lines leave keep-alive messages out', () => {
    const engine = testEngine(group('<rule id="100" level="3"><match>y</match><description>d</description></rule>'));
    const line = (location: string): string | undefined =>
      engine.engine.texts.archive(engine.send('x', location).event);
    expect(line('/var/log/a')).to.match(/^\d{4} \w{3} \d\d \d\d:\d\d:\d\d mgr1->\/var\/log\/a x\n$/);
    expect(line('[001] (a) any->/y')).to.match(/ \(a\) any->\/y x\n$/);
    expect(line('ossec-keepalive')).to.equal(undefined);
    expect(line('[001] (a) any->ossec-keepalive')).to.equal(undefined);
  });

  it('fill a format of the configuration', () => {
    const engine = testEngine(group('<rule id="100" level="3"><match>x</match><description>d</description></rule>'));
    const { alert } = engine.send('x\ny', '/var/log/a');
    const format =
      '$TIMESTAMP $FTELL "$RULEALERT" $HOSTNAME $LOCATION $RULEID $RULELEVEL $SRCIP $DSTUSER $FULLLOG $RULECOMMENT $RULEGROUP $OTHER';
    expect(engine.engine.texts.custom(alert, '7.8', format)).to.equal(
      '7 8 "" mgr1 /var/log/a 100 3 None None x\\ny d local, $OTHER\n',
    );
  });

  it('give the statistics alert its text and no description', () => {
    const engine = testEngine(
      group('<rule id="100" level="3"><match>never</match><description>d</description></rule>'),
      {
        stateOptions: { statistics: { level: 4, maxDiff: 100, minDiff: 10, percentDiff: 150 } },
      },
    );
    const day = new Date(2025, 2, 1, 9, 0, 0).getTime() / 1000;
    let alert: EventOutcome['statistics'];
    for (let d = 0; d < 4; d += 1) {
      engine.now = day + d * 86400;
      for (let i = 0; i < (d < 3 ? 5 : 200); i += 1) alert ??= engine.send('x').statistics;
    }
    const json = JSON.parse(engine.engine.alertJson(alert!, { id: '1.0' })) as Record<string, unknown>;
    expect(json['rule']).to.deep.equal({ level: 4, id: '11', mail: false, groups: ['stats'] });
    expect(json['full_log']).to.match(/^The average number of logs between 9:00 and 10:00 is \d+\. We reached \d+\.$/);
    expect(engine.engine.alertText(alert!, '1.0')).to.include("Rule: 11 (level 4) -> '(null)'");
  });
});
