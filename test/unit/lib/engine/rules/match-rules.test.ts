import { expect } from 'chai';
import { group, type TestEngine, testEngine } from '../../../../support/engine/engine-kit.js';

function rule(id: number, level: number, inside: string, attributes = ''): string {
  return `<rule id="${String(id)}" level="${String(level)}" ${attributes}>${inside}<description>d</description></rule>`;
}

describe('matching rules', () => {
  it('a level-0 match silences its siblings unless a child of it matches', () => {
    const engine = testEngine(
      group(
        rule(100, 0, '<match>quiet</match>') +
          rule(101, 3, '<if_sid>100</if_sid><match>but</match>') +
          rule(102, 10, '<match>loud</match>'),
      ),
    );
    expect(engine.app({}, 'quiet loud')).to.equal(100);
    expect(engine.app({}, 'quiet loud but')).to.equal(101);
    expect(engine.app({}, 'loud')).to.equal(102);
    expect(engine.send('quiet').isAlert).to.equal(false);
  });

  it('a noalert rule without a matching child lets its siblings try', () => {
    const engine = testEngine(
      group(
        rule(100, 5, '<match>a</match>', 'noalert="1"') +
          rule(101, 3, '<if_sid>100</if_sid><match>b</match>') +
          rule(102, 4, '<match>a</match>'),
      ),
    );
    expect(engine.app({}, 'a')).to.equal(102);
    expect(engine.app({}, 'a b')).to.equal(101);
  });

  it('a deeper match of a low level beats a later sibling of a high level', () => {
    const engine = testEngine(
      group(
        rule(100, 9, '<match>x</match>') +
          rule(101, 1, '<if_sid>100</if_sid><match>x</match>') +
          rule(102, 8, '<match>x</match>'),
      ),
    );
    expect(engine.app({}, 'x')).to.equal(101);
  });

  it('a missing attribute fails a condition, negated or not', () => {
    const engine = testEngine(group(rule(100, 3, '<url negate="yes">^/admin</url>')));
    expect(engine.app({})).to.equal(undefined);
    expect(engine.app({ url: '/admin/x' })).to.equal(undefined);
    expect(engine.app({ url: '/index' })).to.equal(100);
  });

  it('an address that is none is in no list, so it passes a negated one', () => {
    const engine = testEngine(
      group(rule(100, 3, '<srcip>10.0.0.0/8</srcip>') + rule(101, 3, '<srcip negate="yes">10.0.0.0/8</srcip>')),
    );
    expect(engine.app({ srcip: '10.1.2.3' })).to.equal(100);
    expect(engine.app({ srcip: 'host' })).to.equal(101);
    expect(engine.app({})).to.equal(undefined);
  });

  it('several srcip are alternatives, several fields must all hold', () => {
    const engine = testEngine(
      group(
        rule(100, 3, '<srcip>10.0.0.1</srcip><srcip>10.0.0.2</srcip>') +
          rule(101, 3, '<field name="app.mode">^live$</field><field name="APP.level">^2$</field>'),
      ),
    );
    expect(engine.app({ srcip: '10.0.0.2' })).to.equal(100);
    expect(engine.app({ 'app.mode': 'live' })).to.equal(undefined);
    expect(engine.app({ 'app.mode': 'LIVE', 'App.Level': '2' })).to.equal(101);
  });

  it('user prefers dstuser, a list prefers srcuser', () => {
    const engine = testEngine(
      group(rule(100, 5, '<user>^bob$</user>') + rule(101, 3, '<list field="user">etc/lists/users</list>')),
      { lists: { 'etc/lists/users': 'alice:\n' } },
    );
    expect(engine.app({ srcuser: 'alice', dstuser: 'bob' })).to.equal(100);
    expect(engine.app({ srcuser: 'bob', dstuser: 'alice' })).to.equal(undefined);
    expect(engine.app({ srcuser: 'alice', dstuser: 'carol' })).to.equal(101);
    expect(engine.app({ dstuser: 'alice' })).to.equal(101);
    expect(engine.app({ srcuser: 'bob' })).to.equal(100);
  });

  it('action is compared exactly unless a type is given', () => {
    const engine = testEngine(
      group(rule(100, 5, '<action>Drop</action>') + rule(101, 3, '<action type="osmatch">drop</action>')),
    );
    expect(engine.app({ action: 'Drop' })).to.equal(100);
    expect(engine.app({ action: 'dropped' })).to.equal(101);
  });

  it("hostname is the agent's name, and match does not see the header", () => {
    const engine = testEngine(
      group(rule(100, 5, '<hostname>^web-02$</hostname>') + rule(101, 3, '<match>web-09</match>')),
    );
    expect(engine.send('Mar  4 10:15:30 web-09 app: x').rule?.rule.id).to.equal(100);
    expect(engine.send('Mar  4 10:15:30 web-09 app: x', '/var/log/x').rule?.rule.id).to.equal(undefined);
    expect(engine.send('Mar  4 10:15:30 web-02 app: x', '/var/log/x').rule?.rule.id).to.equal(100);
  });

  it('maxsize is a minimum', () => {
    const engine = testEngine(group(rule(100, 3, '<match>x</match>', 'maxsize="10"')));
    expect(engine.send('x23456789').rule).to.equal(undefined);
    expect(engine.send('x234567890').rule?.rule.id).to.equal(100);
  });

  it('decoded_as compares the decoder', () => {
    const engine = testEngine(group(rule(100, 3, '<decoded_as>json</decoded_as>')));
    expect(engine.send('{"a":"b"}').rule?.rule.id).to.equal(100);
    expect(engine.app({})).to.equal(undefined);
  });

  it('time and weekday follow the local clock of the manager', () => {
    const at = (engine: TestEngine, iso: string): number | undefined => {
      engine.now = Math.floor(new Date(iso).getTime() / 1000);
      return engine.app({});
    };
    // local times: no zone in the texts
    const night = testEngine(group(rule(100, 3, '<time>6 pm - 8:30 am</time>')));
    expect(at(night, '2025-03-04T08:29:59')).to.equal(100);
    expect(at(night, '2025-03-04T08:30:00')).to.equal(undefined);
    expect(at(night, '2025-03-04T18:00:59')).to.equal(undefined);
    expect(at(night, '2025-03-04T18:01:00')).to.equal(100);
    const weekend = testEngine(group(rule(100, 3, '<weekday>weekends</weekday>')));
    expect(at(weekend, '2025-03-08T12:00:00')).to.equal(100);
    expect(at(weekend, '2025-03-10T00:00:00')).to.equal(undefined);
  });

  it('looks lists up by every kind of look-up', () => {
    const lists = { 'etc/lists/net': '10.1.:office\n10.1.2.3:printer\n"a:b":colon\n' };
    const list = (lookup: string, value = ''): string =>
      `<list field="srcip" lookup="${lookup}"${value === '' ? '' : ` check_value="${value}"`}>etc/lists/net</list>`;
    const found = (inside: string, srcip?: string): boolean =>
      testEngine(group(rule(100, 3, inside)), { lists }).app({ srcip }) === 100;
    expect(found(list('match_key'), '10.1.2.3')).to.equal(true);
    expect(found(list('match_key'), '10.1.9.9')).to.equal(false);
    expect(found(list('match_key'), 'a:b')).to.equal(true);
    expect(found(list('not_match_key'), '10.1.9.9')).to.equal(true);
    expect(found(list('not_match_key'))).to.equal(false);
    expect(found(list('address_match_key'), '10.1.9.9')).to.equal(true);
    expect(found(list('address_match_key'), '10.2.9.9')).to.equal(false);
    expect(found(list('not_address_match_key'), '10.2.9.9')).to.equal(true);
    expect(found(list('not_address_match_key'))).to.equal(false);
    expect(found(list('match_key_value', '^print'), '10.1.2.3')).to.equal(true);
    expect(found(list('match_key_value', '^scan'), '10.1.2.3')).to.equal(false);
    expect(found(list('match_key_value'), '10.1.2.3')).to.equal(false);
    expect(found(list('address_match_key_value', 'office'), '10.1.9.9')).to.equal(true);
    expect(found(list('address_match_key_value', 'printer'), '10.1.9.9')).to.equal(false);
    // all lists must hold, the first of three as well
    expect(found(list('not_match_key') + list('match_key') + list('match_key'), '10.1.2.3')).to.equal(false);
  });

  it('compiled functions', () => {
    const matches = (name: string, fields: Record<string, string>, text = ''): boolean =>
      testEngine(group(rule(100, 3, `<compiled_rule>${name}</compiled_rule>`))).app(fields, text) === 100;
    expect(matches('comp_srcuser_dstuser', { srcuser: 'a', dstuser: 'a' })).to.equal(true);
    expect(matches('comp_srcuser_dstuser', { srcuser: 'a', dstuser: 'b' })).to.equal(false);
    expect(matches('comp_srcuser_dstuser', { srcuser: 'a' })).to.equal(true);
    expect(matches('check_id_size', { id: '1234567890' })).to.equal(true);
    expect(matches('check_id_size', { id: '123456789' })).to.equal(false);
    expect(matches('is_simple_http_request', { url: '/a' })).to.equal(true);
    expect(matches('is_simple_http_request', { url: '/a?b' })).to.equal(false);
    expect(matches('is_simple_http_request', {})).to.equal(false);
    expect(matches('is_valid_crawler', {}, '66.249.1.1 GET')).to.equal(true);
    expect(matches('is_valid_crawler', {}, '66.248.1.1 GET')).to.equal(false);
    const users = (a: string, b: string): string => `Target Account Name: ${a}  Caller User Name: ${b}  x`;
    expect(matches('comp_mswin_targetuser_calleruser_diff', {}, users('a', 'b'))).to.equal(true);
    expect(matches('comp_mswin_targetuser_calleruser_diff', {}, users('a', 'a'))).to.equal(false);
  });

  it('if_fts takes a key only once, and tells it', () => {
    const keys: string[] = [];
    const decoders =
      '<decoder name="app"><program_name>^app$</program_name><regex>user=(\\S+) from (\\S+);</regex><order>user, srcip</order><fts>name, user, location</fts></decoder>';
    const engine = testEngine(
      group(rule(100, 3, '<match>login</match>') + rule(101, 4, '<if_sid>100</if_sid><if_fts/>')),
      {
        decoders,
        hooks: { firstTimeSeen: (key) => keys.push(key) },
      },
    );
    const login = (user: string, ip: string): number | undefined =>
      engine.send(`Mar  4 10:15:30 h app: login user=${user} from ${ip};`).rule?.rule.id;
    expect(login('bob', '10.0.0.1')).to.equal(101);
    expect(login('bob', '10.0.0.2')).to.equal(100);
    expect(login('eve', '10.0.0.1')).to.equal(101);
    expect(keys[0]).to.equal('app  bob      (web-02) 10.0.0.24->/var/log/app.log');
    expect(keys).to.have.length(2);
  });

  it('check_diff matches when the log of its host changed', () => {
    const engine = testEngine(group(rule(100, 3, '<match>out</match><check_diff/>')));
    const send = (text: string, location?: string): ReturnType<TestEngine['send']> => engine.send(text, location);
    expect(send('out 1').rule).to.equal(undefined);
    expect(send('out 1').rule).to.equal(undefined);
    expect(send('out 2', '[005] (web-03) any->x').rule).to.equal(undefined);
    const outcome = send('out 2');
    expect(outcome.rule?.rule.id).to.equal(100);
    expect(outcome.alert.previousEvents).to.deep.equal(['Previous output:', 'out 1']);
    const json: unknown = JSON.parse(engine.engine.alertJson(outcome.alert, { id: '1.0' }));
    expect(json).to.include({ previous_output: 'Previous output:\nout 1', previous_log: 'out 1' });
  });

  it('writes what rules with ignore see, and check_if_ignored changes nothing', () => {
    const lines: string[] = [];
    const engine = testEngine(
      group(
        rule(100, 3, '<match>a</match><ignore>srcip, id</ignore>') +
          rule(101, 3, '<match>b</match><check_if_ignored>srcip, id</check_if_ignored>'),
      ),
      { hooks: { ignored: (line) => lines.push(line) } },
    );
    engine.app({ srcip: '10.0.0.1', id: '7' }, 'a');
    expect(lines).to.deep.equal([' 7  10.0.0.1    ']);
    expect(engine.app({ srcip: '10.0.0.1', id: '7' }, 'b')).to.equal(101);
  });

  describe('firewall events', () => {
    const rules = group(rule(100, 3, '<category>firewall</category><action>drop</action>'));

    it('are discarded when something is missing, and copied to the firewall log otherwise', () => {
      const engine = testEngine(rules);
      const complete = engine.send('Mar  4 10:15:30 h fw: drop tcp 10.0.0.1:80 10.0.0.2:443');
      expect(complete).to.include({ disposition: 'processed', firewall: true });
      expect(complete.rule?.rule.id).to.equal(100);
      expect(engine.engine.texts.firewall(complete.event)).to.match(
        /^\d{4} \w{3} \d\d \d\d:\d\d:\d\d \(web-02\) 10\.0\.0\.24->\/var\/log\/app\.log DROP tcp 10\.0\.0\.1:80->10\.0\.0\.2:443\n$/,
      );
      const incomplete = engine.send('Mar  4 10:15:30 h fw: something');
      expect(incomplete).to.include({ disposition: 'discarded', rule: undefined, firewall: false });
    });

    it('go through the rules as they are without log_fw, and in a test', () => {
      expect(testEngine(rules, { logFirewall: false }).send('Mar  4 10:15:30 h fw: x').disposition).to.equal(
        'processed',
      );
      expect(testEngine(rules, { mode: 'test' }).send('Mar  4 10:15:30 h fw: x').disposition).to.equal('processed');
    });
  });

  it('traces attempts, matches and children', () => {
    const trace: string[] = [];
    const engine = testEngine(
      group(
        `${rule(
          100,
          3,
          '<match>x</match>',
        )}<rule id="101" level="3"><if_sid>100</if_sid><match>y</match><description>Name $(srcip)</description></rule>`,
      ),
    );
    engine.send('x', undefined, trace);
    expect(trace).to.deep.equal([
      'Trying rule: 1 - All syslog.',
      '*Rule 1 matched',
      '*Trying child rules',
      'Trying rule: 100 - d',
      '*Rule 100 matched',
      '*Trying child rules',
      'Trying rule: 101 - Name $(srcip)',
    ]);
  });

  it('expands placeholders of descriptions', () => {
    const describeWith = (description: string, fields: Record<string, string>): string | undefined => {
      const engine = testEngine(group(`<rule id="100" level="3"><description>${description}</description></rule>`));
      const pairs = Object.entries(fields).map(([name, value]) => `;${name}=${value};`);
      return engine.send(`Mar  4 10:15:30 web-02 app: ${pairs.join('')}`).alert.description;
    };
    expect(
      describeWith('$(srcip) to $(APP.MODE) by $(user) on $(hostname), $(program_name)', {
        srcip: '10.0.0.1',
        'app.mode': 'live',
      }),
    ).to.equal('10.0.0.1 to live by  on web-02, app');
    expect(describeWith('open $(srcip', { srcip: '10.0.0.1' })).to.equal('open $(srcip');
    const long = 'x'.repeat(1010);
    expect(describeWith(`${long}$(srcip)`, { srcip: '1' })).to.equal(`${long}1`);
    expect(describeWith(`${long}$(srcip)`, { srcip: '10.100.100.100' })).to.equal(`${long}$(srcip)`);
  });

  it('counts how often rules fired, and anew each hour', () => {
    const reports: string[] = [];
    const engine = testEngine(group(rule(100, 3, '<match>x</match>') + rule(101, 0, '<match>y</match>')), {
      hooks: {
        hourEnded: ({ alerts, events, fired }) =>
          reports.push(
            `${String(alerts)}/${String(events)} ${fired.map(({ rule: r, times }) => `${String(r.rule.id)}:${String(times)}`).join()}`,
          ),
      },
    });
    engine.now = Math.floor(new Date('2025-03-04T10:59:58').getTime() / 1000);
    expect(engine.send('x').alert.firedTimes).to.equal(1);
    expect(engine.send('x').alert.firedTimes).to.equal(2);
    engine.send('y');
    engine.send('nothing');
    engine.now += 2;
    expect(engine.send('x').alert.firedTimes).to.equal(1);
    expect(reports).to.deep.equal(['3/4 100:2,101:1']);
  });

  it('counts what comes late in the hour and the day that run, and begins one again when the clock was set back', () => {
    const ended: string[] = [];
    const engine = testEngine(group(rule(100, 3, '<match>x</match>')), {
      hooks: { hourEnded: ({ hourKey, events }) => ended.push(`${hourKey.slice(0, 13)} ${String(events)}`) },
    });
    const { state } = engine.engine;
    const at = (time: string): number | undefined => {
      engine.now = Math.floor(new Date(time).getTime() / 1000);
      return engine.send('x').alert.firedTimes;
    };
    const times = [
      at('2025-03-04T23:59:58'),
      at('2025-03-05T00:00:01'),
      at('2025-03-04T23:59:59'),
      at('2025-03-04T23:00:01'),
      at('2025-03-05T00:00:00'),
    ];
    expect(times).to.deep.equal([1, 1, 2, 3, 4]);
    expect(ended).to.deep.equal(['2025-03-04T23 1']);
    expect(state.statistics.counts[0]).to.equal(4);
    expect(state.statistics.hourly.days).to.equal(1);

    // After a restart, too.
    state.restore(structuredClone(state.snapshot()));
    expect(at('2025-03-04T23:59:59')).to.equal(5);
    expect(at('2025-03-04T23:00:00')).to.equal(1);
    expect(ended).to.deep.equal(['2025-03-04T23 1', '2025-03-05T00 5']);
    expect(state.statistics.snapshot().day).to.equal('2025-03-04');
  });

  it('log flags decide about alerts, responses run without them', () => {
    const engine = testEngine(group(rule(100, 5, '<match>x</match><options>no_log</options>')));
    expect(engine.send('x')).to.include({ isAlert: false, responds: true });
    const test = testEngine(group(rule(100, 5, '<match>x</match><options>no_log</options>')), { mode: 'test' });
    expect(test.send('x').isAlert).to.equal(true);
  });

  it('a location without a closing bracket is dropped with its errors', () => {
    const engine = testEngine(group(rule(100, 5, '<match>x</match>')));
    expect(engine.send('x', '[002 broken').disposition).to.equal('dropped');
    expect(engine.diagnostics.lines[0]).to.equal('error (1106): String not correctly formatted.');
  });
});
