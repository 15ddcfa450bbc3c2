import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { filterFiles } from '../../../../../api/ruleset/filter-files.js';
import {
  filterRules,
  parseLevelRange,
  requirementOf,
  ruleGroups,
  ruleRequirementValues,
  unknownRuleIds,
} from '../../../../../api/ruleset/filter-rules.js';
import { filterDecoders, listDecoders } from '../../../../../api/ruleset/list-decoders.js';
import { xmlAsJson } from '../../../../../api/ruleset/xml-as-json.js';
import { listRules } from '../../../../../lib/engine/listing/list-rules.js';
import type { ListedFile } from '../../../../../lib/engine/listing/listing-source.js';
import { parseXml } from '../../../../../lib/xml/parse-xml.js';
import { sharedData } from '../../../../support/shared-data.js';

const file: ListedFile = { filename: 'local_rules.xml', relative_dirname: 'etc/rules', status: 'enabled' };
const list = (content: string, of: ListedFile = file) => listRules({ file: of, content });
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('listing of rules', () => {
  it('shows the worked example of the specification', () => {
    const { items, problems } = list(`
<var name="W">widget</var>
<group name="local,">
  <rule id="100210" level="10" frequency="4" timeframe="60">
    <if_matched_sid>100200</if_matched_sid><same_source_ip />
    <match negate="yes">ok</match><match>$W</match>
    <field name="app.mode" type="pcre2">^live$</field>
    <list field="srcip" lookup="address_match_key">etc/lists/partners</list>
    <options>no_full_log</options><options>no_counter</options>
    <group>auth,pci_dss_10.2.4,</group><mitre><id>T1110</id></mitre><description>Storm.</description>
  </rule>
</group>`);
    expect(problems).to.deep.equal([]);
    expect(JSON.stringify(items)).to.equal(
      '[{"filename":"local_rules.xml","relative_dirname":"etc/rules","id":100210,"level":10,"status":"enabled",' +
        '"details":{"frequency":"4","timeframe":"60","if_matched_sid":"100200","same_source_ip":"","match":{"pattern":"okwidget"},' +
        '"app.mode":{"pattern":"^live$","type":"pcre2"},"list":{"name":"etc/lists/partners","field":"srcip","lookup":"address_match_key"},' +
        '"options":["no_full_log","no_counter"]},' +
        '"pci_dss":["10.2.4"],"gpg13":[],"gdpr":[],"hipaa":[],"nist_800_53":[],"tsc":[],"mitre":["T1110"],"groups":["auth","local"],"description":"Storm."}]',
    );
  });

  it('resolves variables in id and level, wherever the definition stands', () => {
    const { items } = list(
      '<group name="a"><rule id="$N" level="$L"><info>x</info><description>d</description></rule></group>' +
        '<var name="N">100001</var><var name="L">3</var>',
    );
    expect(items[0]).to.include({ id: 100001, level: 3 });
  });

  it('splits groups by prefix, the rest staying in order and with duplicates', () => {
    const { items } = list(
      '<group name="a, b,\n b,tscanner,cis_x">' +
        '<rule id="1" level="0"><group>gdpr_IV_35.7.d,nist_800_53_AU.14,gpg13_7.1,hipaa_164.312.b,tsc_CC6.1,tsc_CC6.1</group>' +
        '<description>one</description><description> two</description></rule></group>',
    );
    expect(plain(items[0])).to.deep.include({
      gdpr: ['IV_35.7.d'],
      nist_800_53: ['AU.14'],
      gpg13: ['7.1'],
      hipaa: ['164.312.b'],
      tsc: ['CC6.1', 'nner'],
      groups: ['a', 'b', 'b', 'cis_x'],
      description: 'one two',
    });
  });

  it('makes arrays of repeated texts, lists and informations', () => {
    const { items } = list(
      '<group name="a"><rule id="10" level="1"><if_sid>1</if_sid><if_sid>2</if_sid><if_sid>3</if_sid>' +
        '<list field="user">x</list><list field="id">y</list><list field="url">z</list>' +
        '<info type="link">i</info><srcip negate="yes">10.0.0.1</srcip><MATCH>up</MATCH><description/></rule></group>',
    );
    expect(plain(items[0]?.details)).to.deep.equal({
      if_sid: ['1', '2', '3'],
      list: [
        { name: 'x', field: 'user' },
        { name: 'y', field: 'id' },
        { name: 'z', field: 'url' },
      ],
      info: { name: 'i', type: 'link' },
      srcip: '10.0.0.1',
      match: { pattern: 'up' },
    });
  });

  it('shows entities and escaped angle brackets as written', () => {
    const { items } = list(
      '<group name="a"><rule id="10" level="1"><match>&lt;a \\< b & c < d</match><description/></rule></group>',
    );
    expect(plain(items[0]?.details)).to.deep.equal({ match: { pattern: '&lt;a \\< b & c < d' } });
  });

  it('keeps names of members of Object harmless', () => {
    const { items } = list(
      '<group name="a"><rule id="10" level="1" __proto__="x"><field name="__proto__">y</field>' +
        '<constructor>z</constructor><description/></rule></group>',
    );
    expect(Object.keys(items[0]?.details ?? {})).to.deep.equal(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['pattern']).to.equal(undefined);
  });

  it('names file and line of broken XML, and of a rule without number, keeping the others', () => {
    expect(list('<group name="a">\n<rule id="1" level="0">\n</group>')).to.deep.equal({
      items: [],
      problems: [
        {
          filename: 'local_rules.xml',
          relative_dirname: 'etc/rules',
          line: 3,
          message: "XMLERR: Element 'rule' not closed.",
        },
      ],
    });
    const { items, problems } = list(
      '<group name="a">\n<rule id="x" level="0"><description/></rule><rule id="2"><description/></rule>\n' +
        '<rule id="3" level="0"><description/></rule></group>',
    );
    expect(items.map(({ id }) => id)).to.deep.equal([3]);
    expect(problems.map(({ line, message }) => [line, message])).to.deep.equal([
      [2, 'Rule without a numeric id'],
      [2, 'Rule without a numeric level'],
    ]);
  });

  it('never throws, whatever the text', () => {
    const piece = fc.constantFrom(
      '<rule id="7" level="3">',
      '</rule>',
      '<group name="g">',
      '</group>',
      '<match>',
      '$',
      '<',
      '"',
      '!',
      '>',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 30 }), (pieces) => {
        const content = pieces.join('');
        const { items, problems } = list(content);
        listDecoders({ file, content });
        return items.length + problems.length >= 0;
      }),
    );
  });
});

describe('filters of rules', () => {
  const other: ListedFile = { filename: '0095-sshd_rules.xml', relative_dirname: 'ruleset/rules', status: 'disabled' };
  const rules = [
    ...list(
      '<group name="local,"><rule id="100001" level="5"><group>auth,pci_dss_10.2.4</group><mitre><id>T1110</id></mitre><description/></rule>' +
        '<rule id="100002" level="12"><group>pci_dss_10.2.5,nist_800_53_AU.6</group><description/></rule></group>',
    ).items,
    ...list('<group name="sshd,"><rule id="5700" level="0"><description/></rule></group>', other).items,
  ];
  const ids = (filter: Parameters<typeof filterRules>[1]) => filterRules(rules, filter).map(({ id }) => id);

  it('needs every condition to hold', () => {
    expect(ids({})).to.deep.equal([100001, 100002, 5700]);
    expect(ids({ rule_ids: [5700, 100001, 9] })).to.deep.equal([100001, 5700]);
    expect(ids({ group: 'local' })).to.deep.equal([100001, 100002]);
    expect(ids({ group: 'loc' })).to.deep.equal([]);
    expect(ids({ requirements: { pci_dss: '10.2.4' } })).to.deep.equal([100001]);
    expect(ids({ group: 'local', requirements: { pci_dss: '10.2.5', nist_800_53: 'AU.6' } })).to.deep.equal([100002]);
    expect(ids({ requirements: { mitre: 'T1110' }, level: { min: 6, max: 16 } })).to.deep.equal([]);
    expect(ids({ level: { min: 0, max: 5 } })).to.deep.equal([100001, 5700]);
    expect(ids({ status: 'disabled' })).to.deep.equal([5700]);
    expect(ids({ status: 'all' })).to.have.length(3);
    expect(ids({ filename: ['0095-sshd_rules.xml', 'x'] })).to.deep.equal([5700]);
    expect(ids({ relative_dirname: 'rules' })).to.have.length(3);
    expect(ids({ relative_dirname: 'etc' })).to.deep.equal([100001, 100002]);
  });

  it('compares directories of files exactly when asked to', () => {
    expect(filterFiles([file, other], { relative_dirname: 'etc', exactDirname: true })).to.deep.equal([]);
    expect(filterFiles([file, other], { relative_dirname: 'etc/rules', exactDirname: true })).to.deep.equal([file]);
  });

  it('reads levels and requirement names', () => {
    expect(parseLevelRange('7')).to.deep.equal({ min: 7, max: 7 });
    expect(parseLevelRange('2-15')).to.deep.equal({ min: 2, max: 15 });
    for (const bad of ['', '-', '1-', '-2', 'a', '1-2-3', ' 1', '100']) {
      expect(parseLevelRange(bad), bad).to.equal(undefined);
    }
    expect(requirementOf('nist-800-53')).to.equal('nist_800_53');
    expect(requirementOf('tsc')).to.equal('tsc');
  });

  it('collects groups, requirement values and unknown ids', () => {
    expect(ruleGroups(rules)).to.deep.equal(['auth', 'local', 'sshd']);
    expect(ruleRequirementValues(rules, 'pci_dss')).to.deep.equal(['10.2.4', '10.2.5']);
    expect(unknownRuleIds(rules, [5, 5700, 4, 5])).to.deep.equal([5, 4]);
  });
});

describe('listing of decoders', () => {
  it('shows details and positions, and finds parents and names', () => {
    const { items } = listDecoders({
      file,
      content:
        '<decoder name="a"><program_name>^a</program_name></decoder>\n' +
        '<decoder name="b"><parent>a</parent><prematch offset="after_parent" type="pcre2">x</prematch>' +
        '<regex>1</regex><regex offset="after_regex">2</regex><order>srcip, user</order></decoder>',
    });
    expect(plain(items)).to.deep.equal([
      { ...file, name: 'a', position: 0, details: { program_name: { pattern: '^a' } } },
      {
        ...file,
        name: 'b',
        position: 1,
        details: {
          parent: 'a',
          prematch: { pattern: 'x', offset: 'after_parent', type: 'pcre2' },
          regex: { pattern: '12', offset: 'after_regex' },
          order: 'srcip, user',
        },
      },
    ]);
    expect(filterDecoders(items, { parentsOnly: true }).map(({ name }) => name)).to.deep.equal(['a']);
    expect(filterDecoders(items, { decoder_names: ['b', 'c'] }).map(({ name }) => name)).to.deep.equal(['b']);
    expect(filterDecoders(items, { status: 'disabled' })).to.deep.equal([]);
  });

  it('turns XML into JSON', () => {
    const roots = parseXml('<g name="n"><r id="1">a</r><r>b</r><e/></g><v name="x">y</v>', 'f');
    expect(plain(xmlAsJson(roots))).to.deep.equal({
      g: { '@name': 'n', r: [{ '@id': '1', '#text': 'a' }, 'b'], e: null },
      v: { '@name': 'x', '#text': 'y' },
    });
  });
});

describe('listing of a public ruleset', () => {
  it('reads every rule and decoder of it', function () {
    const data = sharedData('ruleset');
    if (data === undefined) {
      this.skip();
    }
    let rules = 0;
    for (const [directory, read] of [
      ['rules', listRules],
      ['decoders', listDecoders],
    ] as const) {
      for (const filename of readdirSync(join(data, directory))) {
        const content = readFileSync(join(data, directory, filename), 'utf8');
        const { items, problems } = read({
          file: { filename, relative_dirname: directory, status: 'enabled' },
          content,
        });
        expect(problems, filename).to.deep.equal([]);
        expect(items.length, filename).to.be.greaterThan(0);
        rules += directory === 'rules' ? items.length : 0;
      }
    }
    expect(rules).to.be.greaterThan(3000);
  });
});
