import { expect } from 'chai';
import type { EngineRuleset } from '../../../../../lib/engine/load/engine-ruleset.js';
import { loadRuleset } from '../../../../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../../../../lib/engine/load/mitre-table.js';
import type { Rule } from '../../../../../lib/engine/load/rule.js';
import { RulesetError } from '../../../../../lib/engine/load/ruleset-error.js';
import { compilePattern } from '../../../../../lib/patterns/compile-pattern.js';
import {
  group,
  KEY_VALUE_DECODERS,
  loadTestRuleset,
  ROOTS,
  testEngine,
} from '../../../../support/engine/engine-kit.js';
import { RecordingDiagnostics } from '../../../../support/recording-diagnostics.js';

/** One rule with a description inside a group. */
function rule(inside: string, attributes = 'id="100" level="3"'): string {
  return group(`<rule ${attributes}>${inside}<description>d</description></rule>`);
}

type Loaded = { readonly ruleset: EngineRuleset | undefined; readonly lines: string[]; readonly error: unknown };

function load(rules: string, lists: Readonly<Record<string, string>> = {}): Loaded {
  const diagnostics = new RecordingDiagnostics();
  let ruleset: EngineRuleset | undefined;
  let error: unknown;
  try {
    ruleset = loadTestRuleset(rules, { diagnostics, lists });
  } catch (thrown) {
    error = thrown;
  }
  const lines = diagnostics.lines
    .filter((line) => !line.startsWith('info '))
    .filter((line) => !line.startsWith('debug '));
  return { ruleset, lines, error };
}

function loadedRule(rules: string, id = 100): Rule {
  const { ruleset, error } = load(rules);
  if (ruleset === undefined) throw error;
  const found = ruleset.rules.byId.get(id);
  expect(found, `rule ${String(id)}`).to.not.equal(undefined);
  return found!.rule;
}

/** The texts that were reported, without their level and place. */
function texts(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^\w+ /, '').replace(/ @[^@]*$/, ''));
}

describe('loading rules', () => {
  describe('fatal mistakes', () => {
    const cases: readonly (readonly [string, string, ...string[]])[] = [
      ['root element', '<rules name="x"></rules>', 'rules_op: Invalid root element "rules".Only "group" is allowed'],
      [
        'group without name',
        '<group><rule id="1" level="1"/></group>',
        "rules_op: Invalid root element 'group'.Only the group name is allowed",
      ],
      [
        'group with more',
        '<group name="a" b="c"><rule id="1" level="1"/></group>',
        "rules_op: Invalid root element 'group'.Only the group name is allowed",
      ],
      ['empty group', '<group name="a">x</group>', "Group 'group' without any rule."],
      ['other child', group('<role id="100" level="1"/>'), "Invalid configuration. 'role' is not a valid element."],
      [
        'rule without attributes',
        group('<rule><description>x</description></rule>'),
        "Invalid rule '0'. You must specify an ID and a level at least.",
      ],
      ['no id', rule('', 'level="3"'), "No rule id or level specified for rule '0'."],
      ['level that is no number', rule('', 'id="100" level="x"'), "No rule id or level specified for rule '0'."],
      [
        'long id',
        rule('', 'id="1000000" level="3"'),
        'rules_op: Invalid rule id: 1000000. Must be integer (max 6 digits)',
        'Invalid attribute for rule.',
      ],
      [
        'level 17',
        rule('', 'id="100" level="17"'),
        'rules_op: Invalid level: 17. Must be an integer between 0 and 16.',
        'Invalid attribute for rule.',
      ],
      [
        'maxsize',
        rule('', 'id="100" level="3" maxsize="a"'),
        'rules_op: Invalid maxsize: a. Must be integer',
        'Invalid attribute for rule.',
      ],
      [
        'timeframe',
        rule('', 'id="100" level="3" timeframe="-1"'),
        'rules_op: Invalid timeframe: -1. Must be integer (max 5 digits)',
        'Invalid attribute for rule.',
      ],
      [
        'frequency 1',
        rule('', 'id="100" level="3" frequency="1"'),
        'rules_op: Invalid frequency: 1. Must be higher than 1 and lower than 10000.',
        'Invalid attribute for rule.',
      ],
      [
        'frequency 10000',
        rule('', 'id="100" level="3" frequency="10000"'),
        'rules_op: Invalid frequency: 10000. Must be higher than 1 and lower than 10000.',
        'Invalid attribute for rule.',
      ],
      [
        'frequency word',
        rule('', 'id="100" level="3" frequency="x"'),
        'rules_op: Invalid frequency: x. Must be integer',
        'Invalid attribute for rule.',
      ],
      [
        'accuracy',
        rule('', 'id="100" level="3" accuracy="x"'),
        'rules_op: Invalid accuracy: x. Must be integer',
        'Invalid attribute for rule.',
      ],
      [
        'ignore',
        rule('', 'id="100" level="3" ignore="x"'),
        'rules_op: Invalid ignore_time: x. Must be integer (max 6 digits)',
        'Invalid attribute for rule.',
      ],
      [
        'overwrite',
        rule('', 'id="100" level="3" overwrite="true"'),
        "rules_op: Invalid overwrite: true. Can only by 'yes' or 'no'.",
        'Invalid attribute for rule.',
      ],
      [
        'other attribute',
        rule('', 'id="100" level="3" severity="3"'),
        'rules_op: Invalid attribute "severity". Only id, level, maxsize, accuracy, noalert, ignore, frequency and timeframe are allowed.',
        'Invalid attribute for rule.',
      ],
      [
        'no options',
        group('<rule id="100" level="3"></rule>'),
        "Rule '100' without any option. It may lead to false positives and some other problems for the system. Exiting.",
      ],
      [
        'no description',
        group('<rule id="100" level="3"><match>x</match></rule>'),
        "No such description at rule '100'.",
      ],
      ['unknown element', rule('<mach>x</mach>'), "Invalid option 'mach' for rule '100'."],
      ['unknown decoder', rule('<decoded_as>nope</decoded_as>'), "Invalid decoder name: 'nope'."],
      ['unknown category', rule('<category>Syslog</category>'), "(1273): Invalid category 'Syslog' chosen."],
      [
        'unknown function',
        rule('<compiled_rule>f</compiled_rule>'),
        "Compiled rule not found: 'f'",
        "(1274): Invalid configuration. Element 'compiled_rule': f.",
      ],
      [
        'time',
        rule('<time>25 - 26</time>'),
        "(1240): Invalid time format: '25 - 26'.",
        "(1274): Invalid configuration. Element 'time': 25 - 26.",
      ],
      [
        'weekday',
        rule('<weekday>!sunday</weekday>'),
        "(1241): Invalid day format: '!sunday'.",
        "(1274): Invalid configuration. Element 'weekday': !sunday.",
      ],
      ['address', rule('<srcip>10.0.0</srcip>'), "(1237): Invalid ip address: '10.0.0'."],
      ['static field', rule('<field name="srcip">x</field>'), "Failure to read rule 100. Field 'srcip' is static."],
      [
        'static field in capitals',
        rule('<field name="DstUser">x</field>'),
        "Failure to read rule 100. Field 'DstUser' is static.",
      ],
      [
        'field without name',
        rule('<field type="pcre2">x</field>'),
        "Failure to read rule 100. No such attribute 'name' for field.",
      ],
      [
        'list without attributes',
        rule('<list>etc/lists/a</list>'),
        'List must have a correctly formatted field attribute',
        "(1274): Invalid configuration. Element 'list': etc/lists/a.",
      ],
      [
        'list without field',
        rule('<list lookup="match_key">etc/lists/a</list>'),
        'List requires the field="" attribute',
        "(1274): Invalid configuration. Element 'list': etc/lists/a.",
      ],
      [
        'list attribute',
        rule('<list fild="srcip">etc/lists/a</list>'),
        'List field="srcip" is not valid',
        "(1274): Invalid configuration. Element 'list': etc/lists/a.",
      ],
      [
        'list look-up',
        rule('<list field="srcip" lookup="no">etc/lists/a</list>'),
        "(1274): Invalid configuration. Element 'list': etc/lists/a.",
        'List match lookup="no" is not valid.',
      ],
      [
        'option',
        rule('<options>no_log </options>'),
        "(1235): Invalid value for element 'options': no_log .",
        "Invalid option 'options' for rule '100'.",
      ],
      ['empty ignore word', rule('<ignore>srcip,,id</ignore>'), "Wrong ignore option: 'srcip,,id'"],
      [
        'frequency without if_matched',
        rule('', 'id="100" level="3" frequency="3"'),
        "Invalid use of frequency/context options. Missing if_matched on rule '100'.",
      ],
      [
        'same_* without if_matched',
        rule('<same_user/>'),
        "Invalid use of frequency/context options. Missing if_matched on rule '100'.",
      ],
      [
        'case-sensitive correlation name',
        rule('<if_matched_sid>1</if_matched_sid><Same_Id/>'),
        "Invalid option 'Same_Id' for rule '100'.",
      ],
      ['bad regex', rule('<regex>(a</regex>'), "(5107): Syntax error on tag 'regex' in rule 100"],
      [
        'bad protocol names the pattern',
        rule('<protocol type="osregex">(a</protocol>'),
        "(5107): Syntax error on tag '(a' in rule 100",
      ],
      ['bad field names the field', rule('<field name="f">(a</field>'), "(5107): Syntax error on tag 'f' in rule 100"],
      [
        'bad if_matched_regex',
        rule('<if_matched_regex>(a</if_matched_regex>'),
        "(1450): Syntax error on regex: '(a': 7.",
      ],
      [
        'broken XML',
        '<group name="a">',
        "(1226): Error reading XML file 'rules/test.xml': XMLERR: End of file and some elements were not closed. (line 1).",
      ],
      [
        'unknown variable',
        `<var name="A">1</var>${rule('<match>$Bee</match>')}`,
        "(1227): Error applying XML variables 'rules/test.xml': XMLERR: Unknown variable: 'Bee'.",
      ],
      ['only comments', '<!-- nothing -->\n', "(1202): Configuration error at 'rules/test.xml'."],
    ];
    for (const [name, xml, ...expected] of cases) {
      it(`${name}: ends the load with its texts and its place`, () => {
        const { error, lines } = load(xml);
        expect(error).to.be.instanceOf(RulesetError);
        expect(texts(lines)).to.deep.equal(expected);
        const { text, place } = error as RulesetError;
        expect(text).to.equal(expected.at(-1));
        expect(place.file).to.equal('rules/test.xml');
      });
    }

    it('names the line of the element and the rule', () => {
      const { error } = load(
        '<group name="a">\n<rule id="100" level="3">\n<decoded_as>no</decoded_as>\n</rule></group>',
      );
      expect((error as RulesetError).place).to.deep.equal({ file: 'rules/test.xml', line: 3, ruleId: 100 });
      expect((error as RulesetError).message).to.equal("Invalid decoder name: 'no'. (rules/test.xml:3, rule 100)");
    });

    it('checks all groups of a file before any of its rules', () => {
      const { lines } = load(`${rule('<mach/>')}<other/>`);
      expect(texts(lines)).to.deep.equal(['rules_op: Invalid root element "other".Only "group" is allowed']);
    });
  });

  describe('rules that are dropped', () => {
    const cases: readonly (readonly [string, string, string])[] = [
      ['if_sid text', '<if_sid>1,\n2</if_sid>', "(7618): Invalid 'if_sid' value: '1,\n2'. Rule '100' will be ignored."],
      ['if_sid unknown', '<if_sid>99</if_sid>', "(7619): Empty 'if_sid' value. Rule '100' will be ignored."],
      ['if_level', '<if_level>x</if_level>', "(7609): Invalid 'if_level' value: 'x'. Rule '100' will be ignored."],
      ['if_level 0', '<if_level>0</if_level>', "(7609): Invalid 'if_level' value: '0'. Rule '100' will be ignored."],
      [
        'if_group unknown',
        '<if_group>nope</if_group>',
        "(7610): Group 'nope' was not found. Invalid 'if_group'. Rule '100' will be ignored.",
      ],
      [
        'if_matched_sid',
        '<if_matched_sid>1,2</if_matched_sid>',
        "(7615): Invalid 'if_matched_sid' value: '1,2'. Rule '100' will be ignored.",
      ],
      [
        'if_matched_sid with unknown if_sid',
        '<if_sid>99</if_sid><if_matched_sid>1</if_matched_sid>',
        "(7620): Signature ID '99' was not found. Invalid 'if_matched_sid'.Rule '100' will be ignored.",
      ],
      [
        'list unknown',
        '<list field="srcip">etc/lists/none</list>',
        "(7616): List 'etc/lists/none' could not be loaded. Rule '100' will be ignored.",
      ],
    ];
    for (const [name, inside, text] of cases) {
      it(`${name}: only this rule is missing`, () => {
        const { ruleset, lines } = load(rule(inside) + rule('<match>y</match>', 'id="101" level="3"'));
        expect(texts(lines)).to.include(text);
        expect(lines.every((line) => line.startsWith('warn '))).to.equal(true);
        expect([...ruleset!.rules.byId.keys()].filter((id) => id >= 100)).to.deep.equal([101]);
      });
    }

    it('a level that no rule reaches drops the rule, and the text shows the level times 100', () => {
      const { lines } = load(rule('<if_level>7</if_level>'), {});
      // the level-0 roots count as the highest level, so there is always a parent
      expect(lines).to.deep.equal([]);
      const diagnostics = new RecordingDiagnostics();
      const content = rule('<if_level>7</if_level>');
      loadRuleset(
        { decoders: [{ path: 'd', content: KEY_VALUE_DECODERS }], rules: [{ path: 'r', content }], lists: [] },
        { diagnostics, compilePattern, mitre: MitreTable.empty, logLevel: 1, mailLevel: 7 },
      );
      expect(texts(diagnostics.lines)).to.include(
        "(7608): Level ID '700' was not found. Invalid 'if_level'. Rule '100' will be ignored.",
      );
    });

    it('a condition that is too long never disappears: the rule does', () => {
      const { ruleset, lines } = load(rule(`<match>${'a'.repeat(2048)}</match>`));
      expect(lines[0]).to.match(/^error \(1104\): Maximum string size reached for: a+/);
      expect(ruleset!.rules.byId.has(100)).to.equal(false);
    });

    it('a rule whose category has no root', () => {
      const diagnostics = new RecordingDiagnostics();
      const content = rule('<match>x</match>');
      loadRuleset(
        { decoders: [{ path: 'd', content: KEY_VALUE_DECODERS }], rules: [{ path: 'r', content }], lists: [] },
        { diagnostics, compilePattern, mitre: MitreTable.empty, logLevel: 1, mailLevel: 7 },
      );
      expect(texts(diagnostics.lines)).to.include(
        "(7611): Category was not found. Invalid 'category'. Rule '100' will be ignored.",
      );
    });
  });

  describe('warnings after which the rule is there', () => {
    const cases: readonly (readonly [string, string, string])[] = [
      [
        'noalert',
        group('<rule id="100" level="3" noalert="yes"><match>x</match><description>d</description></rule>'),
        "warn Invalid value for attribute 'noalert'",
      ],
      [
        'type',
        rule('<match type="regex">x</match>'),
        "warn (7600): Invalid value 'regex' for attribute 'type' in rule 100.",
      ],
      [
        'negate',
        rule('<match negate="true">x</match>'),
        "warn (7600): Invalid value 'true' for attribute 'negate' in rule 100.",
      ],
      [
        'one of two if_sid',
        rule('<if_sid>1, 99</if_sid>'),
        "warn (7617): Signature ID '99' was not found and will be ignored in the 'if_sid' option of rule '100'.",
      ],
      [
        'overwrite of nothing',
        rule('<match>x</match>', 'id="100" level="3" overwrite="yes"'),
        "warn (7613): Rule ID '100' does not exist but 'overwrite' is set to 'yes'. Still, the rule will be loaded.",
      ],
      [
        'same_agent',
        rule('<if_matched_sid>1</if_matched_sid><same_agent/>'),
        'warn Detected a deprecated field option for rule, same_agent is not longer available.',
      ],
      [
        'info type',
        rule('<info type="url">x</info>'),
        'error rules_op: Element info attribute "type" has invalid value "url"',
      ],
      [
        'info attribute',
        rule('<info kind="url">x</info>'),
        'error rules_op: Element info has invalid attribute "kind"',
      ],
      [
        'exclamation mark before an address',
        rule('<srcip>!10.0.0.1</srcip>'),
        "warn Rule 100: '!' before the address '!10.0.0.1' has no effect, use negate=\"yes\".",
      ],
      ['empty mitre', rule('<mitre></mitre>'), "warn Empty Mitre information for rule '100'"],
      [
        'mitre without technique',
        rule('<mitre><tacticID>TA0001</tacticID></mitre>'),
        "warn Mitre techniqueID should be defined in rule '100'",
      ],
      [
        'mitre without tactic',
        rule('<mitre><techniqueID>T1</techniqueID></mitre>'),
        "warn Mitre tacticID should be defined in rule '100'",
      ],
      [
        'mitre with two tactics',
        rule('<mitre><tacticID>a</tacticID><tacticID>b</tacticID><techniqueID>T1</techniqueID></mitre>'),
        "warn In rule '100' is not allowed to join more than one Mitre techniqueID or tacticID in the same block. The Mitre block will be discarded.",
      ],
      [
        'mitre old and new in one block',
        rule('<mitre><id>T1</id><techniqueID>T1</techniqueID></mitre>'),
        "warn Rule '100' combined old and new Mitre formats in the same block. The Mitre block will be discarded.",
      ],
      [
        'mitre old and new in two blocks',
        rule('<mitre><id>T1</id></mitre><mitre><tacticID>a</tacticID><techniqueID>T1</techniqueID></mitre>'),
        "warn Rule '100' combined old and new Mitre formats, the old Mitre Technique format will be discarded.",
      ],
      ['mitre empty id', rule('<mitre><id></id></mitre>'), "warn No Mitre Technique ID found for rule '100'"],
      ['mitre unknown child', rule('<mitre><name>x</name></mitre>'), "error Invalid option 'name' for rule '100'"],
    ];
    for (const [name, xml, line] of cases) {
      it(name, () => {
        const { ruleset, lines } = load(xml);
        expect(lines.map((each) => each.replace(/ @[^@]*$/, ''))).to.deep.equal([line]);
        expect(ruleset!.rules.byId.has(100)).to.equal(true);
      });
    }

    it('a duplicate: the first one stays', () => {
      const { ruleset, lines } = load(rule('<match>one</match>') + rule('<match>two</match>'));
      expect(texts(lines)).to.deep.equal([
        "(7612): Rule ID '100' is duplicated. Only the first occurrence will be considered.",
      ]);
      expect(ruleset!.rules.byId.get(100)!.rule.patterns.match!.source).to.equal('one');
    });
  });

  it('accepts an empty file, frequency 2 without if_matched, and if_sid lists with blanks', () => {
    expect(load('').lines).to.deep.equal([]);
    expect(load(rule('', 'id="100" level="3" frequency="2"')).lines).to.deep.equal([]);
    expect(load(rule('<if_sid> 1,2 , 3</if_sid>')).lines).to.deep.equal([]);
  });

  it('joins repeated elements; the last type and negate count', () => {
    const xml = rule(
      '<match negate="yes">error</match><match> fatal</match><regex type="pcre2">^user=</regex><regex>\\d+$</regex>',
    );
    const { match, regex } = loadedRule(xml).patterns;
    expect(match).to.deep.equal({ source: 'error fatal', language: 'osmatch', negate: false });
    expect(regex).to.deep.equal({ source: '^user=\\d+$', language: 'osregex', negate: false });
  });

  it('joins if_sid texts without a separator', () => {
    const { lines } = load(rule('<if_sid>1</if_sid><if_sid>2</if_sid>'));
    expect(texts(lines)[0]).to.equal(
      "(7617): Signature ID '12' was not found and will be ignored in the 'if_sid' option of rule '100'.",
    );
  });

  it('joins groups without a separator and drops their line ends', () => {
    expect(
      loadedRule(
        group('<rule id="100" level="3"><group>auth,\n</group><description>d</description></rule>', 'local,syslog'),
      ).groups,
    ).to.equal('local,syslogauth,');
  });

  it('turns the first line end of each description into a blank', () => {
    const xml = group(
      '<rule id="100" level="3"><description>a\nb\nc</description><description>\nd</description></rule>',
    );
    expect(loadedRule(xml).description).to.equal('a b\nc d');
  });

  it('sets flags from the level and then from options, and keeps no_counter', () => {
    const plain = loadedRule(rule('', 'id="100" level="7"'));
    expect([plain.mail, plain.log]).to.deep.equal([true, true]);
    const changed = loadedRule(
      rule(
        '<options>no_counter</options><options>no_email_alert</options><options>no_log</options><options>no_ar</options><options>no_full_log</options>',
        'id="100" level="7"',
      ),
    );
    expect(changed).to.include({ mail: false, log: false, noCounter: true, noActiveResponse: true, noFullLog: true });
    const raised = loadedRule(
      rule('<options>alert_by_email</options><options>log_alert</options>', 'id="100" level="0"'),
    );
    expect(raised).to.include({ mail: true, log: true });
  });

  it('applies variables to what comes after them', () => {
    const file = `${rule('<match>$A|b</match>', 'id="100" level="3"')}<var name="A">x.y</var>${rule(
      '<match>p$A|q</match>',
      'id="101" level="3"',
    )}${group('<rule id="102" level="3"><match>z</match><description>$(srcip) $a</description></rule>')}`;
    const { ruleset } = load(file);
    const of = (id: number): Rule => ruleset!.rules.byId.get(id)!.rule;
    expect(of(100).patterns.match!.source).to.equal('$A|b');
    expect(of(101).patterns.match!.source).to.equal('px.y|q');
    expect(of(102).description).to.equal('$(srcip) x.y');
  });

  it('reads numbers only as far as the reference does', () => {
    const read = loadedRule(
      rule(
        '<if_matched_sid>1</if_matched_sid>',
        'id="100" level="3" timeframe="1234567" ignore="12345678" maxsize="54321"',
      ),
    );
    expect(read).to.include({ timeframe: 12345, ignoreTime: 123456, maxsize: 5432 });
  });

  it('loads the files in the order given and knows only what was loaded before', () => {
    const child = rule('<if_sid>200</if_sid>', 'id="100" level="3"');
    const parent = rule('<match>x</match>', 'id="200" level="3"');
    const read = (contents: readonly string[]): readonly number[] => {
      const diagnostics = new RecordingDiagnostics();
      const rules = [ROOTS, ...contents].map((content, i) => ({ path: `r${String(i)}`, content }));
      const { rules: loaded } = loadRuleset(
        { decoders: [{ path: 'd', content: KEY_VALUE_DECODERS }], rules, lists: [] },
        { diagnostics, compilePattern, mitre: MitreTable.empty, logLevel: 1, mailLevel: 7 },
      );
      return [...loaded.byId.keys()].filter((id) => id >= 100);
    };
    expect(read([child, parent])).to.deep.equal([200]);
    expect(read([parent, child])).to.deep.equal([200, 100]);
  });

  it('leaves a list with its .cdb ending to the same list', () => {
    const { ruleset } = load(rule('<list field="srcip">etc/lists/a.cdb</list>'), { 'etc/lists/a.cdb': '10.0.0.1:' });
    expect(ruleset!.rules.byId.has(100)).to.equal(true);
  });

  it('tells how many nodes there are', () => {
    const diagnostics = new RecordingDiagnostics();
    loadTestRuleset(rule('<if_sid>1,2</if_sid>'), { diagnostics });
    expect(diagnostics.lines).to.deep.equal(["info Total rules enabled: '9'"]);
  });

  describe('overwrite', () => {
    const base =
      '<rule id="100" level="5"><if_sid>1</if_sid><match>one</match><description>old</description></rule>' +
      '<rule id="101" level="5"><if_sid>1</if_sid><match>x</match><description>sibling</description></rule>' +
      '<rule id="102" level="3"><if_sid>100</if_sid><match>deep</match><description>child</description></rule>';

    it('replaces the data, keeps place and children, and omitted conditions disappear', () => {
      const rules = group(
        `${base}<rule id="100" level="2" overwrite="yes"><regex>two</regex><description>new</description></rule>`,
      );
      const engine = testEngine(rules);
      // still tried before its sibling although its level is lower now
      expect(engine.app({}, 'two x')).to.equal(100);
      expect(engine.app({}, 'two deep')).to.equal(102);
      expect(engine.app({}, 'one')).to.equal(undefined);
      expect(engine.engine.ruleset.rules.byId.get(100)!.rule).to.include({ level: 2, description: 'new', ifSid: '1' });
    });

    it('warns about what it cannot change', () => {
      const again = (inside: string): string =>
        group(`${base}<rule id="100" level="5" overwrite="yes">${inside}<description>new</description></rule>`);
      const retained = (element: string): string =>
        `(7605): It is not possible to overwrite '${element}' value in rule '100'. The original value is retained.`;
      expect(texts(load(again('<if_sid>2</if_sid>')).lines)).to.deep.equal([retained('if_sid')]);
      expect(texts(load(again('<if_sid>1</if_sid>')).lines)).to.deep.equal([]);
      expect(texts(load(again('<if_group>local</if_group>')).lines)).to.deep.equal([retained('if_group')]);
      expect(texts(load(again('<if_level>3</if_level>')).lines)).to.deep.equal([retained('if_level')]);
      expect(texts(load(again('<if_matched_sid>101</if_matched_sid>')).lines)).to.deep.equal([
        retained('if_matched_sid'),
      ]);
      expect(texts(load(again('<if_matched_group>local</if_matched_group>')).lines)).to.deep.equal([
        retained('if_matched_group'),
      ]);
    });

    it('turns a composite without its if_matched_* into a plain child that still shows its frequency', () => {
      const engine = testEngine(
        group(
          '<rule id="100" level="5"><match>one</match><description>b</description></rule>' +
            '<rule id="101" level="7" frequency="4" timeframe="60"><if_matched_sid>100</if_matched_sid><description>c</description></rule>' +
            '<rule id="101" level="7" overwrite="yes"><description>plain</description></rule>',
        ),
      );
      const outcome = engine.send('Mar  4 10:15:30 h app: one');
      expect(outcome.rule!.rule.id).to.equal(101);
      expect(engine.engine.alertJson(outcome.alert, { id: '1.0' })).to.include('"frequency":2');
    });
  });

  describe('siblings', () => {
    it('are tried by level, load order and accuracy', () => {
      const child = (id: number, attributes: string, inside = ''): string =>
        `<rule id="${String(id)}" ${attributes}><if_sid>100</if_sid>${inside}<match>never</match><description>d</description></rule>`;
      const rules = group(
        `<rule id="100" level="3"><description>parent</description></rule>${child(101, 'level="5"')}${child(
          102,
          'level="0"',
        )}${child(103, 'level="10"', '<if_matched_sid>100</if_matched_sid>')}${child(104, 'level="5"')}${child(
          105,
          'level="3" accuracy="0"',
        )}${child(106, 'level="12"')}`,
      );
      const trace: string[] = [];
      testEngine(rules).send('x', undefined, trace);
      expect(
        trace.filter((line) => /^Trying rule: 10[1-6]/.test(line)).map((line) => line.slice(13, 16)),
      ).to.deep.equal(['102', '106', '103', '101', '104', '105']);
    });
  });

  describe('parents', () => {
    it('a separator at the end of if_sid also attaches to the category, with a warning', () => {
      const rules = group(
        '<rule id="100" level="3"><match>never</match><description>d</description></rule>' +
          '<rule id="101" level="3"><if_sid>100, </if_sid><match>x</match><description>d</description></rule>',
      );
      expect(load(rules).lines[0]).to.include("The list of 'if_sid' in rule '101' ends with a separator");
      expect(testEngine(rules).app({}, 'x')).to.equal(101);
    });

    it('if_group finds parts of group strings without regard to case', () => {
      const rules =
        group(
          '<rule id="100" level="3"><match>x</match><group>Authentication_failed,</group><description>d</description></rule>',
        ) +
        group('<rule id="101" level="3"><if_group>AUTH</if_group><match>y</match><description>d</description></rule>');
      expect(testEngine(rules).app({}, 'x y')).to.equal(101);
    });

    it('if_group sees the groups of rules as they were overwritten', () => {
      const rules = (wanted: string) =>
        group(
          '<rule id="100" level="3"><match>x</match><group>before,</group><description>d</description></rule>' +
            '<rule id="102" level="3"><match>z</match><group>before,</group><description>d</description></rule>' +
            '<rule id="100" level="3" overwrite="yes"><match>x</match><group>behind,</group><description>d</description></rule>',
        ) +
        group(
          `<rule id="101" level="3"><if_group>${wanted}</if_group><match>y</match><description>d</description></rule>`,
        );
      expect(testEngine(rules('behind')).app({}, 'x y')).to.equal(101);
      expect(testEngine(rules('before')).app({}, 'x y')).to.equal(100);
      expect(testEngine(rules('before')).app({}, 'z y')).to.equal(101);
    });

    it('if_level takes level-0 rules for the highest', () => {
      const rules = group(
        '<rule id="100" level="0"><match>x</match><description>d</description></rule>' +
          '<rule id="101" level="3"><if_level>12</if_level><match>y</match><description>d</description></rule>',
      );
      expect(testEngine(rules).app({}, 'x y')).to.equal(101);
    });
  });
});
