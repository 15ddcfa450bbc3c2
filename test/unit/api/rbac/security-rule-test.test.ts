import { expect } from 'chai';
import fc from 'fast-check';
import { ContextNotJudgedError } from '../../../../api/rbac/context-not-judged-error.js';
import { SecurityRuleError } from '../../../../api/rbac/security-rule-error.js';
import { newBudget, securityRuleTest } from '../../../../api/rbac/security-rule-test.js';
import { isObject } from '../../../../lib/json/is-object.js';

type Context = Readonly<Record<string, unknown>>;

const CONTEXT: Context = {
  name: 'Maria',
  groups: ['red', 'blue', 'on-call'],
  level: 3,
  active: true,
  office: { city: 'Lisbon', floor: { number: 4, rooms: ['a1', 'a2'] } },
  projects: [{ id: 'x1', lead: true }, { id: 'x2' }],
};

const holds = (rule: unknown, context: Context = CONTEXT) => securityRuleTest(rule)(context, newBudget());

describe('security rules', () => {
  it('MATCH contains the pattern from the top', () => {
    expect(holds({ MATCH: { name: 'Maria' } })).to.equal(true);
    expect(holds({ MATCH: { name: 'maria' } })).to.equal(false);
    expect(holds({ MATCH: { name: 'Maria', level: 3, active: true } })).to.equal(true);
    expect(holds({ MATCH: { name: 'Maria', level: '3' } })).to.equal(false);
    expect(holds({ MATCH: { office: { city: 'Lisbon' } } })).to.equal(true);
    expect(holds({ MATCH: { office: { floor: { number: 4 } } } })).to.equal(true);
    expect(holds({ MATCH: { city: 'Lisbon' } })).to.equal(false);
    expect(holds({ MATCH: { missing: 'x' } })).to.equal(false);
    expect(holds({ MATCH: {} })).to.equal(true);
  });

  it('lists hold when each element of the pattern is there, and those of $ have no other', () => {
    expect(holds({ MATCH: { groups: ['blue', 'red'] } })).to.equal(true);
    expect(holds({ MATCH: { groups: ['blue', 'green'] } })).to.equal(false);
    expect(holds({ MATCH: { groups: 'red' } })).to.equal(true);
    expect(holds({ MATCH$: { groups: ['blue', 'red'] } })).to.equal(false);
    expect(holds({ MATCH$: { groups: ['on-call', 'blue', 'red'] } })).to.equal(true);
    expect(holds({ MATCH$: { groups: 'red' } })).to.equal(false);
    expect(holds({ FIND$: { rooms: ['a2', 'a1'] } })).to.equal(true);
    expect(holds({ FIND$: { rooms: ['a1'] } })).to.equal(false);
  });

  it('FIND looks into objects inside, also those in lists', () => {
    expect(holds({ FIND: { city: 'Lisbon' } })).to.equal(true);
    expect(holds({ FIND: { number: 4 } })).to.equal(true);
    expect(holds({ FIND: { id: 'x1', lead: true } })).to.equal(true);
    expect(holds({ FIND: { id: 'x2', lead: true } })).to.equal(false);
    expect(holds({ FIND: { name: 'Maria' } })).to.equal(true);
  });

  it('FIND gives up below eight levels', () => {
    const nested = (levels: number): Context => (levels === 0 ? { deep: 'here' } : { inside: nested(levels - 1) });
    expect(holds({ FIND: { deep: 'here' } }, nested(8))).to.equal(true);
    expect(() => holds({ FIND: { deep: 'here' } }, nested(9))).to.throw(ContextNotJudgedError);
  });

  it('regular expressions match at the start, keys too, without their last two characters', () => {
    expect(holds({ MATCH: { name: "r'^Mar.*$'" } })).to.equal(true);
    expect(holds({ MATCH: { name: "r'ari$'" } })).to.equal(false);
    // As in the reference the `$` does not count.
    expect(holds({ MATCH: { name: "r'^Mar$'" } })).to.equal(true);
    expect(holds({ MATCH: { "r'^na.e$'": "r'^M$'" } })).to.equal(true);
    expect(holds({ MATCH: { groups: ["r'^on-.*$'", 'red'] } })).to.equal(true);
    expect(holds({ FIND: { "r'^ci$'": "r'^Lis$'" } })).to.equal(true);
    expect(holds({ MATCH: { level: "r'^3$'" } })).to.equal(false);
    expect(holds({ MATCH: { name: "r'^Zürich$'" } }, { name: 'Zürich' })).to.equal(true);
  });

  it('are neither true nor false where a regular expression takes for ever or cannot be tried, also below NOT', () => {
    const text = `${'a'.repeat(4000)} x`;
    for (const [pattern, name] of [
      ["r'^(?:a|aa)+x$'", text],
      ["r'^bad$'", 'bad\0'],
    ]) {
      const rule = { MATCH: { name: pattern } };
      expect(() => holds(rule, { name })).to.throw(ContextNotJudgedError);
      expect(() => holds({ NOT: rule }, { name })).to.throw(ContextNotJudgedError);
    }
    expect(holds({ MATCH: { name: "r'^M$'" } })).to.equal(true);
  });

  it('have a bound for all of them together', () => {
    const context = { many: Array.from({ length: 1000 }, () => ({})) };
    const rule = securityRuleTest({ OR: Array.from({ length: 900 }, (_, index) => ({ FIND: { missing: index } })) });
    expect(() => rule(context, newBudget())).to.throw(ContextNotJudgedError, 'all rules together');
  });

  it('are joined by AND, OR and NOT', () => {
    const yes = { MATCH: { name: 'Maria' } };
    const no = { MATCH: { name: 'Anna' } };
    expect(holds({ AND: [yes, yes] })).to.equal(true);
    expect(holds({ AND: [yes, no] })).to.equal(false);
    expect(holds({ OR: [no, yes] })).to.equal(true);
    expect(holds({ OR: [no, no] })).to.equal(false);
    expect(holds({ NOT: yes })).to.equal(false);
    expect(holds({ NOT: [yes, no] })).to.equal(true);
    expect(holds({ NOT: [yes, yes] })).to.equal(false);
    expect(holds({ AND: [{ OR: [no, yes] }, { NOT: no }] })).to.equal(true);
    expect(holds({ ...no, FIND: { city: 'Lisbon' } })).to.equal(true);
  });

  it('that are none say what is wrong', () => {
    const reason = (rule: unknown) => {
      try {
        securityRuleTest(rule);
        return 'fine';
      } catch (error) {
        return error instanceof SecurityRuleError ? error.message : 'another error';
      }
    };
    expect(reason([])).to.equal('a rule is an object');
    expect(reason({})).to.equal('a rule has an operator or a function');
    expect(reason({ XOR: [] })).to.match(/^'XOR' is neither AND/);
    expect(reason({ AND: {} })).to.equal("'AND' takes a list of rules");
    expect(reason({ OR: [] })).to.equal("'OR' takes a list of rules");
    expect(reason({ NOT: 'x' })).to.equal('a rule is an object');
    expect(reason({ MATCH: 'x' })).to.equal("'MATCH' takes an object");
    expect(reason({ FIND: { a: "r'(''" } })).to.match(/does not compile/);
    let deep: object = { MATCH: {} };
    for (let level = 0; level < 20; level += 1) deep = { NOT: deep };
    expect(reason(deep)).to.equal('operators are nested deeper than 16');
    expect(reason({ OR: Array.from({ length: 1001 }, () => ({ MATCH: {} })) })).to.equal('it has more than 1000 parts');
  });

  it('are what a plain reading of them says', () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__');
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>('x', 'y', 1, true, null),
        fc.array(fc.constantFrom<unknown>('x', 'y', 1), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    const object = fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true });
    const rule = fc.letrec<{ rule: object }>((tie) => ({
      rule: fc.oneof(
        { maxDepth: 2 },
        fc.tuple(fc.constantFrom('MATCH', 'MATCH$', 'FIND', 'FIND$'), object).map(([key, body]) => ({ [key]: body })),
        fc
          .tuple(fc.constantFrom('AND', 'OR', 'NOT'), fc.array(tie('rule'), { minLength: 1, maxLength: 2 }))
          .map(([key, rules]) => ({ [key]: rules })),
      ),
    })).rule;
    fc.assert(
      fc.property(rule, object, (each, context) => {
        expect(holds(each, context)).to.equal(plainly(each as Context, context));
      }),
      { numRuns: 500 },
    );
  });
});

/** The language of rest-api.md 5.6, read word by word; without regular expressions. */
function plainly(rule: Context, context: Context): boolean {
  return Object.entries(rule).some(([key, body]) => {
    const rules = (Array.isArray(body) ? body : [body]) as Context[];
    if (key === 'AND') return rules.every((one) => plainly(one, context));
    if (key === 'OR') return rules.some((one) => plainly(one, context));
    if (key === 'NOT') return !rules.every((one) => plainly(one, context));
    const whole = key.endsWith('$');
    return key.startsWith('MATCH')
      ? contains(context, body, whole)
      : everyObject(context).some((one) => contains(one, body, whole));
  });
}

function everyObject(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(everyObject);
  return isObject(value) ? [value, ...Object.values(value).flatMap(everyObject)] : [];
}

function contains(value: unknown, pattern: unknown, whole: boolean): boolean {
  if (isObject(pattern)) {
    if (!isObject(value)) return false;
    return Object.keys(pattern).every((key) => Object.hasOwn(value, key) && contains(value[key], pattern[key], whole));
  }
  const wanted = Array.isArray(pattern) ? pattern : [pattern];
  const there = Array.isArray(value) ? value : [value];
  return (!whole || wanted.length === there.length) && wanted.every((one) => there.includes(one));
}
