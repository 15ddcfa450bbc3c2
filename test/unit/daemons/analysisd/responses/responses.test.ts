import { expect } from 'chai';
import type {
  RespondingSettings,
  ResponseSettings,
} from '../../../../../daemons/analysisd/responses/response-settings.js';
import { decisionLine, Responses } from '../../../../../daemons/analysisd/responses/responses.js';
import { group, testEngine } from '../../../../support/engine/engine-kit.js';

const RULES = [
  group(
    `<rule id="100" level="0"><decoded_as>app</decoded_as><description>App.</description></rule>
    <rule id="101" level="5"><if_sid>100</if_sid><match>five</match><description>5</description></rule>
    <rule id="102" level="10"><if_sid>100</if_sid><match>ten</match><description>10</description></rule>
    <rule id="103" level="10"><if_sid>100</if_sid><match>never</match><options>no_ar</options><description>-</description></rule>
    <rule id="104" level="10" accuracy="0"><if_sid>100</if_sid><match>vague</match><description>-</description></rule>
    <rule id="105" level="10"><if_sid>100</if_sid><match>quiet</match><options>no_log</options><description>-</description></rule>`,
    'local,',
  ),
  group(
    `<rule id="110" level="5"><if_sid>100</if_sid><match>break in</match><group>attack,</group><description>-</description></rule>
    <rule id="112" level="3"><if_sid>100</if_sid><match>blocked</match><group>active_response,pci_dss_11.4,</group><description>-</description></rule>
    <rule id="111" level="12" ignore="60"><if_sid>100</if_sid><match>alarm</match><group>attack,</group><description>-</description></rule>`,
    'web,',
  ),
].join('\n');

const block = (settings: Partial<ResponseSettings>): ResponseSettings => ({
  name: 'block60',
  command: 'block',
  timeout: 60,
  locations: ['local'],
  agents: [],
  extraArgs: [],
  level: undefined,
  rulesGroup: undefined,
  rulesId: [],
  ...settings,
});

function responding(settings: Partial<RespondingSettings>) {
  const engine = testEngine(RULES);
  const { rules } = engine.engine.ruleset.rules;
  const responses = new Responses(rules, { responses: [], whiteList: [], ...settings }, engine.diagnostics);
  const triggered = (text: string, fields: Readonly<Record<string, string>> = {}): string[] | undefined => {
    const pairs = Object.entries(fields).map(([name, value]) => `;${name}=${value};`);
    const outcome = engine.send(`Mar  4 10:15:30 web-02 app: ${text} ${pairs.join('')}`);
    return responses.triggered(outcome)?.map(({ name }) => name);
  };
  return { engine, responses, triggered };
}

describe('responses', () => {
  const triggers = (settings: Partial<ResponseSettings>, ...texts: readonly string[]): string[] => {
    const { triggered } = responding({ responses: [block(settings)] });
    return texts.filter((text) => triggered(text) !== undefined);
  };
  const TEXTS = ['five', 'ten', 'break in', 'alarm', 'nothing'];

  it('are bound by level, by group, by both, or by the ids of rules in any case', () => {
    expect(triggers({ level: 10 }, ...TEXTS)).to.deep.equal(['ten', 'alarm']);
    expect(triggers({ rulesGroup: 'attack' }, ...TEXTS)).to.deep.equal(['break in', 'alarm']);
    expect(triggers({ rulesGroup: 'attack', level: 10 }, ...TEXTS)).to.deep.equal(['alarm']);
    expect(triggers({ rulesGroup: 'attack', level: 10, rulesId: [101, 999] }, ...TEXTS)).to.deep.equal([
      'five',
      'alarm',
    ]);
    expect(triggers({}, ...TEXTS)).to.deep.equal([]);
  });

  it('look at the raw group string: of the file first, with its commas', () => {
    expect(triggers({ rulesGroup: '^web,attack,$' }, ...TEXTS)).to.deep.equal(['break in', 'alarm']);
    expect(triggers({ rulesGroup: '^attack' }, ...TEXTS)).to.deep.equal([]);
  });

  it('never follow rules of level 0, with no_ar, or of no accuracy, and follow those that are not logged', () => {
    const rulesId = [100, 103, 104, 105];
    expect(triggers({ level: 0, rulesId }, 'nothing', 'never', 'vague', 'quiet')).to.deep.equal(['quiet']);
  });

  it('do not follow what a response did by its level alone, since each is logged and would set off the next', () => {
    expect(triggers({ level: 3 }, 'five', 'blocked')).to.deep.equal(['five']);
    expect(triggers({ level: 3, rulesGroup: 'active_response' }, 'five', 'blocked')).to.deep.equal(['blocked']);
    expect(triggers({ level: 3, rulesId: [112] }, 'five', 'blocked')).to.deep.equal(['five', 'blocked']);
  });

  it('do not come within the ignore time of a rule', () => {
    expect(triggers({ level: 12 }, 'alarm', 'alarm')).to.deep.equal(['alarm']);
  });

  it('are triggered in the order of the configuration', () => {
    const { triggered } = responding({
      responses: [block({ name: 'b0', level: 5 }), block({ name: 'c0' }), block({ name: 'a0', rulesId: [101] })],
    });
    expect(triggered('five')).to.deep.equal(['b0', 'a0']);
  });

  it('are not run for names and addresses that are none, which is said', () => {
    const { engine, triggered } = responding({ responses: [block({ level: 5 })] });
    const started = engine.diagnostics.lines.length;
    expect(triggered('five', { dstuser: 'root@host-1?' })).to.deep.equal(['block60']);
    expect(triggered('five', { srcip: '2001:db8::1' })).to.deep.equal(['block60']);
    expect(engine.diagnostics.lines.slice(started)).to.deep.equal([]);
    expect(triggered('five', { dstuser: 'x`reboot`' })).to.equal(undefined);
    expect(triggered('five', { srcip: '10.0.0.1 -j ACCEPT' })).to.equal(undefined);
    expect(engine.diagnostics.lines.slice(started)).to.deep.equal([
      "warn (1272): Invalid username 'x`reboot`'. Possible logging attack.",
      "warn (1271): Invalid IP Address '10.0.0.1 -j ACCEPT'. Possible logging attack.",
    ]);
  });

  it('are not run against addresses of the white list, wherever an event has them', () => {
    const { responses, engine, triggered } = responding({
      responses: [block({ level: 5 })],
      whiteList: ['10.0.0.0/8', '^gate'],
    });
    for (const srcip of ['10.1.2.3', '::ffff:10.1.2.3', 'gate-7']) {
      expect(triggered('five', { srcip })).to.equal(undefined);
    }
    expect(triggered('five', { srcip: '192.0.2.1' })).to.deep.equal(['block60']);
    expect(triggered('five')).to.deep.equal(['block60']);
    const outcome = engine.send('Mar  4 10:15:30 web-02 app: five');
    outcome.event.fieldNames.push('win.eventdata.ipAddress');
    outcome.event.fieldValues.push('10.9.9.9');
    expect(responses.triggered(outcome)).to.equal(undefined);
  });
});

describe('the line of a decision', () => {
  const decided = (settings: Partial<ResponseSettings>, location?: string): Record<string, unknown> => {
    const engine = testEngine(RULES);
    const outcome = engine.send('Mar  4 10:15:30 web-02 app: five zoë', location);
    const line = decisionLine(block(settings), outcome, engine.engine.alertJson(outcome.alert, { id: '1741.20' }));
    expect(line.indexOf('\n')).to.equal(line.length - 1);
    return JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) as Record<string, unknown>;
  };

  it('has the response, the rule, the alert, and what the place it runs in goes by', () => {
    const { alert, ...decision } = decided({ extraArgs: ['-x', 'ü'], locations: ['local'] });
    expect(decision).to.deep.equal({
      response: 'block60',
      command: 'block',
      timeout: 60,
      locations: ['local'],
      agents: ['004'],
      extra_args: ['-x', 'ü'],
      rule: '101',
    });
    expect(alert).to.deep.include({ id: '1741.20', full_log: 'Mar  4 10:15:30 web-02 app: five zoë' });
  });

  it('names the agent of the event for local, those of the block for defined-agent, none for the others', () => {
    expect(decided({ locations: ['local'] }, '/var/log/app.log')['agents']).to.deep.equal(['000']);
    expect(decided({ locations: ['local', 'defined-agent'], agents: ['007', '004'] })['agents']).to.deep.equal([
      '004',
      '007',
    ]);
    expect(decided({ locations: ['server'] })['agents']).to.deep.equal([]);
    expect(decided({ locations: ['all'] })['agents']).to.deep.equal([]);
  });
});
