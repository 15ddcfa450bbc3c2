import { expect } from 'chai';
import fc from 'fast-check';
import { PolicyError } from '../../../../lib/sca/policy-fields.js';
import { readPolicy } from '../../../../lib/sca/read-policy.js';

const HEAD = `policy:
  id: "demo"
  file: "demo.yml"
  name: "Demo baseline"
  description: "Text"
`;
const CHECK = `  - id: 90001
    title: "Root login"
    condition: all
    rules: ["f:/etc/passwd"]
`;
const CHECKS = `checks:\n${CHECK}`;

const read = (text: string) => readPolicy(text, 'etc/demo.yml');
const policyOf = (text: string) => read(text).policy;

describe('the reader of policies', () => {
  it('takes over all that a policy says', () => {
    const text = `${HEAD}  references: ["https://a.example", "https://b.example"]
  regex_type: pcre2
requirements:
  title: "Linux with sshd"
  description: "Why"
  condition: any required
  rules: ["f:/etc/ssh/sshd_config", "not p:r:x"]
variables:
  $sshd: /etc/ssh/sshd_config
checks:
  - id: 20
    title: "Second"
    impact: "Not told"
    condition: none
    regex_type: osregex
    rules: ['f:$sshd -> r:PermitRootLogin\\s+yes']
  - id: 7
    title: "First"
    description: "What"
    rationale: "Why"
    remediation: "How"
    references: https://c.example
    compliance:
      - cis: ["5.10", "1.1"]
      - pci_dss: 2.2
      - cis: ["9"]
      - empty:
    condition: all
    rules: ["c:sshd -T -> r:x"]
`;
    const { policy, problems } = read(text);
    expect(problems).to.deep.equal([]);
    expect(policy).to.deep.include({ id: 'demo', file: 'demo.yml', name: 'Demo baseline', description: 'Text' });
    expect(policy.references).to.deep.equal(['https://a.example', 'https://b.example']);
    expect(policy.requirements).to.deep.include({ title: 'Linux with sshd', condition: 'any', language: 'pcre2' });
    expect(policy.checks.map(({ id, condition, language }) => [id, condition, language])).to.deep.equal([
      [7, 'all', 'pcre2'],
      [20, 'none', 'osregex'],
    ]);
    expect(policy.checks[0]).to.deep.include({ description: 'What', rationale: 'Why', remediation: 'How' });
    expect(policy.checks[0]?.references).to.deep.equal(['https://c.example']);
    expect(policy.checks[0]?.compliance).to.deep.equal([
      ['cis', ['5.10', '1.1', '9']],
      ['pci_dss', ['2.2']],
      ['empty', []],
    ]);
    expect(policy.checks[1]?.rules).to.deep.equal([
      {
        text: 'f:$sshd -> r:PermitRootLogin\\s+yes',
        expanded: 'f:/etc/ssh/sshd_config -> r:PermitRootLogin\\s+yes',
        kind: 'file',
      },
    ]);
  });

  const cases: [string, string, RegExp][] = [
    ['no YAML', 'policy: [', /^etc\/demo\.yml line \d+: /],
    ['nothing', '', /^etc\/demo\.yml: there is no mapping$/],
    ['a list', '- a', /^etc\/demo\.yml: there is no mapping$/],
    ['no policy', CHECKS, /policy: it is no mapping/],
    ...['id', 'file', 'name', 'description'].map((field): [string, string, RegExp] => [
      `no ${field}`,
      HEAD.replace(new RegExp(`  ${field}: .*\n`), '') + CHECKS,
      new RegExp(`^etc/demo\\.yml line 1: policy: '${field}' is missing$`),
    ]),
    [
      'an id with a line end',
      HEAD.replace('"demo"', '"de\\nmo"') + CHECKS,
      /line 2: policy: 'id' has control characters/,
    ],
    ['an id that is a list', HEAD.replace('"demo"', '[a]') + CHECKS, /line 2: policy: 'id' is no text/],
    [
      'a long name',
      HEAD.replace('Demo baseline', 'x'.repeat(1025)) + CHECKS,
      /line 4: policy: 'name' has more than 1024/,
    ],
    ['no checks', HEAD, /there are no 'checks'/],
    ['checks that are none', `${HEAD}checks: []`, /line 6: there are no 'checks'/],
    ['checks that are no list', `${HEAD}checks: {a: b}`, /line 6: 'checks' is no list/],
    ['a check that is no mapping', `${HEAD}checks: [a]`, /line 6: check number 1: it is no mapping/],
    ['a check without an id', HEAD + CHECKS.replace('id: 90001', 'ix: 1'), /line 7: check number 1: 'id' is missing/],
    [
      'an id that is no number',
      HEAD + CHECKS.replace('90001', '9a'),
      /line 7: check number 1: 'id' is '9a': it must be/,
    ],
    ['an id that is too large', HEAD + CHECKS.replace('90001', '2147483648'), /'id' is '2147483648'/],
    ['an id of 0', HEAD + CHECKS.replace('90001', '0'), /'id' is '0'/],
    ['the same id twice', HEAD + CHECKS + CHECK, /line 11: check number 2: 'id' 90001 is that of another check/],
    ['no title', HEAD + CHECKS.replace('title:', 'titel:'), /line 7: check 90001: 'title' is missing/],
    ['no condition', HEAD + CHECKS.replace('condition:', 'x:'), /check 90001: 'condition' is missing/],
    ['an unknown condition', HEAD + CHECKS.replace('all', 'most'), /line 9: check 90001: 'condition' is 'most'/],
    ['a condition of every object', HEAD + CHECKS.replace('all', 'constructor'), /'condition' is 'constructor'/],
    ['no rules', HEAD + CHECKS.replace('["f:/etc/passwd"]', '[]'), /line 10: check 90001: there are no 'rules'/],
    ['an empty rule', HEAD + CHECKS.replace('f:/etc/passwd', ''), /line 10: check 90001: rule 1 is empty/],
    ['an unknown type', HEAD + CHECKS.replace('f:', 'r:'), /line 10: check 90001: rule 1: 'r:\/etc\/passwd' does not/],
    ['256 rules', HEAD + CHECKS.replace('["f:/etc/passwd"]', `[${'"f:/a",'.repeat(256)}]`), /more than 255 'rules'/],
    ['a long rule', HEAD + CHECKS.replace('/etc/passwd', 'x'.repeat(20_480)), /rule 1 has more than 20480 characters/],
    ['a long text', HEAD.replace('Text', 'x'.repeat(65_537)) + CHECKS, /'description' has more than 65536 characters/],
    ['a variable without $', `${HEAD}variables: {a: b}\n${CHECKS}`, /line 6: variables: 'a' does not begin with '\$'/],
    ['a variable that is no text', `${HEAD}variables: {$a: [b]}\n${CHECKS}`, /line 6: variables: '\$a' is no text/],
    ['two requirements', `${HEAD}requirements: [{}, {}]\n${CHECKS}`, /line 6: requirements: it is no mapping/],
    [
      'compliance that is no mapping',
      `${HEAD}${CHECKS}    compliance: [x]\n`,
      /line 11: check 90001: compliance 1: it is no mapping/,
    ],
    ['a repeated field', HEAD + CHECKS.replace('title:', 'id: 5\n    title:'), /duplicated mapping key/],
    ['deep nesting', `${'['.repeat(200)}`, /nesting|nested too deeply/],
    [
      'too many values',
      `${HEAD}x: &a [${'1,'.repeat(999)}]\ny: [${'*a,'.repeat(300)}]\n${CHECKS}`,
      /too large, at most 200000/,
    ],
  ];
  for (const [what, text, message] of cases) {
    it(`refuses ${what}`, () => {
      expect(() => read(text)).to.throw(PolicyError, message);
    });
  }

  it('bounds what aliases make of few rules', () => {
    const rules = `[${'"f:$v",'.repeat(250)}]`;
    const check = (id: number) => `  - {id: ${id}, title: t, condition: all, rules: *r}\n`;
    const text = `${HEAD}variables: {$v: "${'x'.repeat(60_000)}"}
checks:
  - {id: 1, title: t, condition: all, rules: &r ${rules}}
${Array.from({ length: 50 }, (_, index) => check(index + 2)).join('')}`;
    expect(() => read(text)).to.throw(PolicyError, /check 2: the policy has too many rules/);
  });

  it('is not led astray by names of every object', () => {
    const text = `${HEAD}  __proto__: {polluted: yes}
variables: {$__proto__: a}
${CHECKS}    __proto__: {title: other}
    compliance: [{__proto__: ["1"]}, {constructor: ["2"]}]
`;
    const policy = policyOf(text);
    expect(policy.checks[0]?.compliance).to.deep.equal([
      ['__proto__', ['1']],
      ['constructor', ['2']],
    ]);
    expect(policy.checks[0]?.title).to.equal('Root login');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('keeps a check whose regex does not compile, and tells of it with line and check', () => {
    const { policy, problems } = read(HEAD + CHECKS.replace('passwd"', 'passwd -> r:\\\\q"'));
    expect(policy.checks).to.have.length(1);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^etc\/demo\.yml line 10: check 90001: rule 1 can give no result: Invalid regex/);
  });

  it('tells once of each field that has no effect, with line and check', () => {
    const text = `${HEAD}  regex: pcre2
requirement: {}
checks:
${CHECK}    remediaton: "How"
${CHECK.replace('90001', '90002')}    remediaton: "How"
    "bad\\nname": 1
`;
    expect(read(text).problems).to.deep.equal([
      "etc/demo.yml line 7: 'requirement' is no field of a policy file: it has no effect",
      "etc/demo.yml line 6: policy: 'regex' is no field of policy: it has no effect",
      "etc/demo.yml line 13: check 90001: 'remediaton' is no field of a check: it has no effect (so have 1 more)",
      "etc/demo.yml line 19: check 90002: 'bad\\nname' is no field of a check: it has no effect",
    ]);
  });

  it('bounds how many such fields are told', () => {
    const names = Array.from({ length: 25 }, (_, index) => `    x${String(index)}: 1\n`).join('');
    const { problems } = read(HEAD + CHECKS + names);
    expect(problems).to.have.length(21);
    expect(problems.at(-1)).to.equal('etc/demo.yml: 5 more fields have no effect');
  });

  it('tells of a regex_type that is none', () => {
    const { policy, problems } = read(`${HEAD}  regex_type: pcre\n${CHECKS}`);
    expect(problems).to.deep.equal([
      "etc/demo.yml line 6: policy: 'regex_type' is 'pcre', neither 'pcre2' nor 'osregex': the native regex is used",
    ]);
    expect(policy.checks[0]?.language).to.equal('osregex');
  });

  it('answers anything with a policy or one clear error', () => {
    const word = fc.constantFrom(
      'policy',
      'checks',
      'id',
      'title',
      'rules',
      '1',
      'f:/a',
      'all',
      'condition',
      '$x',
      '__proto__',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(word, tie('any'), { maxKeys: 5 }),
      ),
    })).any;
    const damaged = fc.tuple(fc.nat(HEAD.length + CHECKS.length), fc.string({ maxLength: 3 })).map(([at, text]) => {
      const whole = HEAD + CHECKS;
      return whole.slice(0, at) + text + whole.slice(at + 1);
    });
    fc.assert(
      fc.property(
        fc.oneof(
          value.map((any) => JSON.stringify(any)),
          damaged,
        ),
        (text) => {
          try {
            expect(policyOf(text).checks.length).to.be.above(0);
          } catch (error) {
            expect(error).to.be.instanceOf(PolicyError);
            expect((error as Error).message).to.match(/^etc\/demo\.yml/);
          }
        },
      ),
    );
  });
});
