import { expect } from 'chai';
import fc from 'fast-check';
import { renderExplanation } from '../../../../bin/offline/render-explanation.js';
import { junitReport } from '../../../../bin/ruletest/junit-report.js';
import { renderCoverage, renderResult, renderSummary } from '../../../../bin/ruletest/render-results.js';
import { testCoverage } from '../../../../bin/ruletest/test-coverage.js';
import { textStyle } from '../../../../bin/terminal/text-style.js';
import { loadRuleset } from '../../../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../../../lib/engine/load/mitre-table.js';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { readIniTests } from '../../../../lib/ruleset/tests/read-ini-tests.js';
import { readYamlTests } from '../../../../lib/ruleset/tests/read-yaml-tests.js';
import { RuleTestError } from '../../../../lib/ruleset/tests/rule-test.js';
import { type RuleTestResult, RuleTestRunner } from '../../../../lib/ruleset/tests/run-rule-test.js';
import { parseXml } from '../../../../lib/xml/parse-xml.js';
import { RecordingDiagnostics } from '../../../support/recording-diagnostics.js';

const DECODERS =
  '<decoder name="doord"><program_name>^doord$</program_name></decoder>' +
  '<decoder name="doord-open"><parent>doord</parent><prematch>^open </prematch>' +
  '<regex offset="after_prematch">^(\\S+) from (\\S+)</regex><order>user, door.name</order></decoder>' +
  '<decoder name="never"><prematch>^never</prematch></decoder>';
const RULES =
  '<group name="syslog,"><rule id="1" level="0" noalert="1"><category>syslog</category><description>all</description></rule></group>' +
  '<group name="door,"><rule id="100" level="0"><decoded_as>doord</decoded_as><description>door</description></rule>' +
  '<rule id="101" level="5"><if_sid>100</if_sid><match>^open</match><group>opened,</group><description>$(dstuser) came</description></rule>' +
  '<rule id="102" level="10" frequency="3" timeframe="60"><if_matched_sid>101</if_matched_sid><same_user/><description>often</description></rule>' +
  '<rule id="103" level="3"><if_sid>101</if_sid><time>8 am - 9 am</time><description>morning</description></rule></group>';

const diagnostics = new RecordingDiagnostics();
const ruleset = loadRuleset(
  { decoders: [{ path: 'd.xml', content: DECODERS }], rules: [{ path: 'r.xml', content: RULES }], lists: [] },
  { diagnostics, compilePattern, mitre: MitreTable.empty, logLevel: 3, mailLevel: 12 },
);
const runner = new RuleTestRunner(ruleset, diagnostics);
const LOG = 'Mar  7 09:15:02 gate doord[1]: open ann from cellar';
const results = (yaml: string) => readYamlTests(yaml, 't.yml').map((test) => runner.run(test));
const textsOf = (result: RuleTestResult | undefined): string[] => result?.problems.map(({ text }) => text) ?? [];
const problems = (yaml: string): string[] => textsOf(results(yaml)[0]);

describe('YAML tests of rules', () => {
  it('hold what a rule, a decoder and fields are expected to be', () => {
    const [passed] = results(`
- name: all of it
  log: '${LOG}'
  location: /var/log/door.log
  expect:
    rule: 101
    level: 5
    decoder: doord
    parent: doord
    alert: true
    description: ann came
    groups: [door, opened]
    through: [1, 100]
    fields: { dstuser: ann, Door.Name: cellar, srcip: null }
  expect_not: { rule: [100, 102], through: 103 }
`);
    expect(passed).to.deep.include({ status: 'passed', problems: [] });
    expect(passed?.test.line).to.equal(2);
  });

  it('say what is otherwise', () => {
    const [failed] = results(`
- name: all wrong
  log: '${LOG}'
  expect:
    rule: 102
    level: 7
    decoder: none
    parent: x
    alert: false
    description: y
    groups: [z]
    through: [103]
    fields: { dstuser: bob, srcip: 1.2.3.4, door.name: null }
  expect_not: { rule: '101', through: [100] }
`);
    expect(failed?.problems[0]).to.deep.include({ what: 'rule', expected: '102', actual: '101' });
    expect(textsOf(failed)).to.deep.equal([
      'rule: expected 102, got 101',
      'level: expected 7, got 5',
      "decoder: expected none, got 'doord'",
      "parent: expected 'x', got 'doord'",
      'alert: expected false, got true',
      "description: expected 'y', got 'ann came'",
      "groups: 'z' is missing",
      'through: rule 103 did not match',
      "field dstuser: expected 'bob', got 'ann'",
      "field srcip: expected '1.2.3.4', got none",
      "field door.name: expected none, got 'cellar'",
      'rule: 101 was not expected',
      'through: rule 100 matched',
    ]);
    expect(failed?.explanation).to.deep.equal([
      `log: ${LOG}`,
      'program: doord',
      'decoder: \'doord\' (child of doord), dstuser="ann" door.name="cellar"',
      'matched: 1 > 100 > 101',
      'Rule 102 was tried, and did not match: 1 of 3 events of rule 101 within 60 s with the same dstuser.',
      'Rule 102 is at r.xml:1.',
    ]);
  });

  it('explain why a rule was not the one', () => {
    const why = (rule: number, log: string): string | undefined =>
      results(`- {name: x, log: '${log}', expect: {rule: ${String(rule)}}}`)[0]?.explanation.join(' ');
    expect(why(100, LOG)).to.match(/Rule 100 .*101/);
    expect(why(999, LOG)).to.include('Rule 999 is in no rule file that was loaded.');
    expect(why(101, 'other')).to.match(/matched: 1 Rule .*100.*Rule 101/);
  });

  it('show every step of an event', () => {
    const [test] = readYamlTests(`- {name: x, log: '${LOG}', expect: {rule: 102}}`, 't.yml');
    const explanation = new Map([['explain', test === undefined ? undefined : runner.explain(test)]]);
    const steps = renderExplanation(explanation, textStyle(false, {}), false);
    expect(steps).to.include("program_name osmatch '^doord$'").and.include('yes  101 (level 5)');
    expect(steps).to.include('Result: Rule 101 (level 5) took the event');
  });

  it('run sequences with their times, each test with a state of its own', () => {
    const sequence = (every: number) => `
- name: thrice
  logs: [{log: '${LOG}', times: 3, every: ${String(every)}}]
  expect: {rule: 102}
`;
    expect(problems(sequence(10))).to.deep.equal([]);
    expect(problems(sequence(40))).to.deep.equal(['rule: expected 102, got 101']);
    expect(
      problems(`
- name: another one comes between
  logs:
    - '${LOG}'
    - {log: '${LOG.replace('ann', 'bob')}', after: 1}
    - {log: '${LOG}', after: 1}
  expect: {rule: 101}
`),
    ).to.deep.equal([]);
  });

  it('can set the time of day', () => {
    const at = new Date(2024, 2, 7, 8, 30, 0).toISOString();
    expect(problems(`- {name: x, log: '${LOG}', at: '${at}', expect: {rule: 103}}`)).to.deep.equal([]);
  });

  it('takes numbers and truth values of fields as the texts they are in events', () => {
    const [test] = readYamlTests('- {name: x, log: a, expect: {fields: {a: 1, b: true}}}', 'f');
    expect([...(test?.expect.fields ?? [])]).to.deep.equal([
      ['a', '1'],
      ['b', 'true'],
    ]);
  });

  it('can be skipped, with the reason', () => {
    const [skipped] = results(`- {name: x, log: a, skip: no such decoder yet, expect: {rule: 5}}`);
    expect(skipped).to.deep.include({ status: 'skipped', problems: [{ what: 'skip', text: 'no such decoder yet' }] });
  });

  it('are refused with file, line and member', () => {
    const refused = (yaml: string): string => {
      try {
        readYamlTests(yaml, 't.yml');
        return 'accepted';
      } catch (error) {
        expect(error).to.be.instanceOf(RuleTestError);
        return error instanceof Error ? error.message : '';
      }
    };
    expect(refused('a: 1')).to.equal('t.yml:1: a test file is a list of entries with name, log and expect');
    expect(refused('- name: "x')).to.match(/^t\.yml:2: unexpected end/);
    expect(refused('# c\n\n- name: x\n  log: a\n  expect: {rule: one}\n')).to.match(/^t\.yml:3: expect\.rule: /);
    expect(refused('- name: x\n  log: a\n  expekt: {rule: 1}\n')).to.match(/^t\.yml:1: .*expekt/);
    expect(refused('- name: x\n  expect: {rule: 1}\n')).to.equal('t.yml:1: a test has either log or logs');
    expect(refused('- name: x\n  log: a\n  logs: [b]\n  expect: {rule: 1}\n')).to.include('either log or logs');
    expect(refused('- name: x\n  log: a\n')).to.include('shows nothing');
    expect(refused('- name: x\n  logs: [{log: a, times: 1000000}]\n  expect: {rule: 1}\n')).to.match(/logs/);
    expect(
      refused('- name: x\n  logs: [{log: a, times: 90000}, {log: a, times: 90000}]\n  expect: {rule: 1}\n'),
    ).to.include('more than 100000 events');
    expect(readYamlTests('# nothing\n', 't.yml')).to.deep.equal([]);
  });

  it('never fail otherwise, whatever the file', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        for (const read of [readYamlTests, readIniTests]) {
          try {
            read(text, 'f');
          } catch (error) {
            expect(error).to.be.instanceOf(RuleTestError);
          }
        }
      }),
    );
  });
});

describe('.ini tests of rules', () => {
  const INI = `; comment
[door: opened]
log 1 pass = ${LOG}
log 2 pass = ${LOG}
log 2 pass = ${LOG.replace('ann', 'bob')}
log 3 fail = Mar  7 09:15:02 gate doord[1]: closed = yes
log 4 fail = ${LOG}

rule = 101
alert = 5
decoder = doord

[nothing]
log 1 pass: no decoder here
rule =
alert =
decoder =
`;
  it('are read as the reference reads them', () => {
    const tests = readIniTests(INI, 'door.ini');
    expect(tests.map(({ name, line, events }) => [name, line, events.length])).to.deep.equal([
      ['door: opened: log 1 pass', 3, 1],
      ['door: opened: log 2 pass', 4, 2],
      ['door: opened: log 3 fail', 6, 1],
      ['door: opened: log 4 fail', 7, 1],
      ['nothing: log 1 pass', 14, 1],
    ]);
    expect(tests[2]?.events[0]?.log).to.equal('Mar  7 09:15:02 gate doord[1]: closed = yes');
    expect(tests.map((test) => runner.run(test).status)).to.deep.equal([
      'passed',
      'passed',
      'passed',
      'failed',
      'passed',
    ]);
    expect(textsOf(tests[3] && runner.run(tests[3]))).to.deep.equal([
      "expected anything but rule 101 of decoder 'doord'",
    ]);
  });

  it('are refused with their line', () => {
    expect(() => readIniTests('x = 1', 'f.ini')).to.throw(RuleTestError, 'f.ini:1: text before the first [section]');
    expect(() => readIniTests('[a]\nnonsense', 'f.ini')).to.throw(RuleTestError, 'f.ini:2: not "key = value"');
    expect(() => readIniTests('[a]\nlog 1 pass = x\nrule = y', 'f.ini')).to.throw(
      RuleTestError,
      "rule: 'y' is not a number",
    );
  });
});

describe('reports on tests of rules', () => {
  const yaml = `
- {name: good, log: '${LOG}', expect: {rule: 101, through: [100]}, expect_not: {rule: [102]}}
- {name: 'bad <&>"', log: "a\\u0001\\e[31m]]>", expect: {rule: 101}}
- {name: later, log: x, skip: waits, expect: {rule: 102}}
`;
  const plain = textStyle(false, {});

  it('name what is not covered', () => {
    const coverage = testCoverage(ruleset, results(yaml));
    expect(coverage).to.deep.equal({
      rules: 5,
      neverExpected: [1, 102, 103],
      neverExcluded: [1, 100, 101, 103],
      decoders: 2,
      neverDecoded: ['never'],
    });
    expect(renderCoverage(coverage, plain)).to.equal(
      'Rules that a test fires: 2 of 5 (40 %)\n  without: 1 102 103\n' +
        'Rules that a test rules out: 1 of 5 (20 %)\n  without: 1 100 101 103\n' +
        'Decoders that take a tested log: 1 of 2 (50 %)\n  without: never\n',
    );
  });

  it('are lines for people, whose terminal logs cannot steer', () => {
    const all = results(yaml);
    expect(all.map((each) => renderResult(each, plain).split('\n')[0])).to.deep.equal([
      'pass t.yml:2 good',
      'FAIL t.yml:3 bad <&>"',
      'skip t.yml:4 later: waits',
    ]);
    const shown = all.map((each) => renderResult(each, textStyle(true, { NO_COLOR: '1' }))).join('');
    expect(shown).to.include('log: a\\x01\\x1b[31m]]>').and.not.include('\u001b');
    expect(renderSummary(all, 1234, plain)).to.equal('1 passed, 1 failed, 1 skipped (1.2 s)\n');
  });

  it('are JUnit XML', () => {
    const report = junitReport(results(yaml));
    expect(report).to.match(
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites tests="3" failures="1" skipped="1" time="/,
    );
    expect(report).to.include('name="bad &lt;&amp;&gt;&quot;" line="3"');
    expect(report).to.include('<failure message="rule: expected 101, got none">');
    expect(report).to.include('<skipped message="waits"/>');
    // What XML cannot carry.
    expect(report).to.not.match(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
    const [suites] = parseXml(report.slice(report.indexOf('\n')), 'junit.xml');
    expect(suites?.children[0]?.children).to.have.length(3);
  });
});
