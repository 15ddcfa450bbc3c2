import { expect } from 'chai';
import fc from 'fast-check';
import { readRule, ScaRuleError, splitRule } from '../../../../lib/sca/sca-rule.js';
import { replaceVariables, sortVariables } from '../../../../lib/sca/variables.js';

describe('the text of a rule', () => {
  it('is cut at the arrows of its type', () => {
    expect(splitRule('f:/etc/passwd')).to.deep.equal({ negated: false, kind: 'file', target: '/etc/passwd', rest: [] });
    expect(splitRule('not f:/a,/b -> r:x -> y').rest).to.deep.equal(['r:x -> y']);
    expect(splitRule('NOT d:/etc -> r:\\.conf$ -> r:a -> b').rest).to.deep.equal(['r:\\.conf$', 'r:a -> b']);
    expect(splitRule('c:sshd -T -> r:x').target).to.equal('sshd -T');
    expect(splitRule('p:r:sshd -> x').target).to.equal('r:sshd -> x');
    expect(splitRule('f:/a->b').target).to.equal('/a->b');
    expect(splitRule('c:,').target).to.equal(',');
    expect(readRule('f:/a, /b,', 'pcre2')).to.deep.include({ kind: 'file', paths: ['/a', '/b'] });
  });

  it('is refused without a type, or with nothing to look at', () => {
    for (const text of [
      '',
      'x:/etc',
      'r:HKEY_LOCAL_MACHINE',
      'not',
      'Not f:/a',
      'not  f:/a',
      '/etc/passwd',
      'f /a',
      'ff:/a',
    ]) {
      expect(() => splitRule(text), text).to.throw(ScaRuleError, /does not begin with f:, d:, p: or c:/);
    }
    for (const text of ['f:', 'd: -> x', 'c:  ', 'not p:', 'f: , ,']) {
      expect(() => splitRule(text), text).to.throw(ScaRuleError, /names nothing/);
    }
  });

  it('may have patterns that do not compile, which are told', () => {
    expect(readRule('f:/a -> r:( && r:[', 'pcre2').problems).to.have.length(2);
    expect(readRule('d:/a -> r:(\\ -> r:x', 'osregex').problems[0]).to.match(/^Invalid pattern of names 'r:\(\\'/);
    expect(readRule("c:a 'b -> r:x", 'osregex').problems[0]).to.match(/quote/);
    expect(readRule('f:/grün -> r:ü(', 'pcre2').problems[0]).to.match(/^Invalid regex 'ü\('/);
    expect(readRule('f:/a -> r:x', 'osregex').problems).to.deep.equal([]);
  });

  it('has variables replaced in its target alone, the longest name first', () => {
    const variables = sortVariables([
      ['$ssh', '/short'],
      ['$sshd', '/etc/ssh/sshd_config,/opt/sshd_config'],
      ['$t', 'f'],
    ]);
    const replaced = (text: string) => replaceVariables(text, variables);
    expect(replaced('f:$sshd -> r:$sshd')).to.equal('f:/etc/ssh/sshd_config,/opt/sshd_config -> r:$sshd');
    expect(replaced('not d:$ssh/x -> $ssh')).to.equal('not d:/short/x -> $ssh');
    expect(replaced('c:cat $ssh $sshd')).to.equal('c:cat /short /etc/ssh/sshd_config,/opt/sshd_config');
    expect(replaced('p:$ssh')).to.equal('p:$ssh');
    expect(replaced('f:f$t')).to.equal('f:ff');
    // What stands for a name is not looked through for patterns of replacement.
    expect(replaceVariables('f:$a', [['$a', "$&$'"]])).to.equal("f:$&$'");
    const large = sortVariables([['$x', 'y'.repeat(60_000)]]);
    expect(() => replaceVariables('f:$x,$x', large)).to.throw(ScaRuleError, /too long/);
  });

  it('is put together again from its parts', () => {
    const part = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && !text.includes(' -> '));
    const rest = fc.array(
      part.filter((text) => !text.startsWith('-> ') && !text.endsWith(' ->')),
      { maxLength: 2 },
    );
    fc.assert(
      fc.property(fc.boolean(), fc.constantFrom('f', 'd', 'c'), part, rest, (negated, letter, target, more) => {
        fc.pre(!target.endsWith(' ->') && target !== '->' && !target.startsWith('-> '));
        const behind = letter === 'd' ? more : more.slice(0, 1);
        const text = `${negated ? 'not ' : ''}${letter}:${[target, ...behind].join(' -> ')}`;
        if (letter !== 'c' && target.split(',').every((entry) => entry.trim() === '')) {
          expect(() => splitRule(text), 'a list of nothing').to.throw(ScaRuleError, 'names nothing');
          return;
        }
        const split = splitRule(text);
        expect([split.negated, split.kind.charAt(0), split.target]).to.deep.equal([negated, letter, target]);
        expect(split.rest).to.deep.equal(behind);
      }),
    );
  });

  it('never breaks the reader', () => {
    fc.assert(
      fc.property(fc.constantFrom('f:', 'd:', 'p:', 'c:', 'not f:', ''), fc.string(), (head, tail) => {
        try {
          readRule(`${head}${tail}`, 'pcre2');
        } catch (error) {
          expect(error).to.be.instanceOf(ScaRuleError);
        }
      }),
    );
  });
});
