import { expect } from 'chai';
import {
  childOf,
  childrenQuery,
  conditionsOf,
  detailText,
  parentsOf,
  wordsOf,
} from '../../../../api/console/browser/pages/rules/rule.js';
import {
  addressOf,
  isName,
  isOwn,
  kindOf,
  mayWrite,
  placeOf,
  problemOf,
  problemsElsewhere,
  problemsIn,
  rawOf,
  readPath,
} from '../../../../api/console/browser/pages/rules/ruleset-file.js';

describe('the console: rules', () => {
  it('shows details of every form in a line', () => {
    expect(detailText('a')).to.equal('a');
    expect(detailText(['a', 'b'])).to.equal('a, b');
    expect(detailText({ pattern: '^x', type: 'pcre2', negate: 'yes' })).to.equal('^x, type: pcre2, negate: yes');
    const details = { if_sid: '5700', match: { pattern: 'x' }, description: 'd', group: 'g', frequency: '8' };
    expect(conditionsOf(details)).to.deep.equal([
      ['match', 'x'],
      ['frequency', '8'],
    ]);
    expect(wordsOf({ if_sid: ['5700, 5701', '5702'] }, 'if_sid')).to.deep.equal(['5700', '5701', '5702']);
    expect(wordsOf({}, 'if_sid')).to.deep.equal([]);
  });

  it('knows what stands above a rule and below it, by words and not by texts', () => {
    expect(parentsOf({ details: { if_matched_sid: '5710', if_group: 'a|b' } })).to.deep.equal([
      { kind: 'if_matched_sid', name: '5710' },
      { kind: 'if_group', name: 'a' },
      { kind: 'if_group', name: 'b' },
    ]);
    const rule = { id: 571, groups: ['sshd', 'odd group'] };
    expect(childrenQuery(rule)).to.equal(
      'details.if_sid~571,details.if_matched_sid~571,details.if_group~sshd,details.if_matched_group~sshd',
    );
    expect(childOf(rule, { details: { if_sid: '5710 571' } })).to.equal('sid');
    expect(childOf(rule, { details: { if_sid: '5710' } })).to.equal(undefined);
    expect(childOf(rule, { details: { if_matched_group: 'sshd' } })).to.equal('group');
    expect(childOf(rule, { details: { if_group: 'sshd2' } })).to.equal(undefined);
  });

  it('knows files of the ruleset by their paths', () => {
    const own = readPath('etc/rules/deep/local_rules.xml');
    expect(own).to.deep.include({ kind: 'rules', folder: 'etc/rules/deep', name: 'local_rules.xml' });
    const shipped = readPath('ruleset/decoders/0005-a.xml');
    const test = readPath('etc/tests/shop.yml');
    for (const path of ['', 'etc/rules', 'etc/manager.conf', 'logs/rules/x.xml']) {
      expect(readPath(path), path).to.equal(undefined);
    }
    if (own === undefined || shipped === undefined || test === undefined) throw new Error('not read');
    expect([own, shipped, test].map(isOwn)).to.deep.equal([true, false, true]);
    const lists = ['etc/lists/hosts', 'etc/lists/deep/hosts'].map(readPath);
    expect(lists.map((list) => list !== undefined && isOwn(list))).to.deep.equal([true, false]);
    const allowing = (...actions: string[]) => ({ may: (action: string) => actions.includes(action) });
    expect(mayWrite(allowing('rules:update', 'rules:delete'), 'tests')).to.equal(true);
    expect(mayWrite(allowing('rules:update'), 'rules')).to.equal(false);
    expect(addressOf(shipped)).to.equal('/decoders/files/0005-a.xml');
    expect(rawOf(own)).to.deep.equal({ raw: true, relative_dirname: 'etc/rules/deep' });
    expect([rawOf(test), placeOf(test)]).to.deep.equal([{}, {}]);
    expect([kindOf('lists'), kindOf('x'), kindOf(null)]).to.deep.equal(['lists', 'rules', 'rules']);
  });

  it('takes the names that the API takes', () => {
    expect(isName('rules', 'shop.xml') && isName('lists', 'bad-words') && isName('tests', 'a.ini')).to.equal(true);
    const bad = ['shop', '../x.xml', 'a b.xml', 'x.yml', ''];
    expect(bad.filter((name) => isName('rules', name))).to.deep.equal([]);
    expect(isName('lists', 'x.txt')).to.equal(false);
  });

  it('puts what is wrong to its line, and to its file', () => {
    const messages = [
      { severity: 'error', text: 'bad', file: 'etc/rules/a.xml', line: 3 },
      { severity: 'warning', text: 'odd', file: 'etc/rules/a.xml' },
      { severity: 'error', text: 'worse', file: 'etc/rules/b.xml', line: 2 },
      { severity: 'warning', text: 'old', file: 'etc/rules/b.xml' },
      { severity: 'error', text: 'all' },
    ] as const;
    expect(problemsIn('etc/rules/a.xml', messages)).to.deep.equal([
      { line: 3, text: 'bad' },
      { line: 0, text: 'odd' },
    ]);
    expect(problemsElsewhere('etc/rules/a.xml', messages)).to.deep.equal(['etc/rules/b.xml:2: worse', 'all']);
    const of = (message: string) => problemOf('etc/rules/a.xml', { message }).line;
    expect(of('Bad level. (etc/rules/a.xml:12, rule 100100)')).to.equal(12);
    expect(of('Bad format in CDB list: line 4')).to.equal(4);
    expect(of('Something else (etc/rules/b.xml:9)')).to.equal(0);
  });
});
