import { expect } from 'chai';
import { completionOf, readSearch, withLast } from '../../../../api/console/browser/pages/alerts/search-text.js';

const params = (text = '') => new URLSearchParams(text);

describe('console: what is typed into the search of alerts', () => {
  it('makes filters of names with values, and words of the rest', () => {
    expect(
      readSearch(params(), 'failed srcip:10.0.0.1 -rule_ids:5710 "two words" -noise http://x location:"/var/my log"'),
    ).to.deep.equal({
      search: 'failed "two words" -noise http://x',
      srcip: '10.0.0.1',
      q: 'rule.id!=5710',
      location: '/var/my log',
    });
    expect(readSearch(params(), 'srcip:1.1.1.1 srcip:2.2.2.2 -data.a:b -data.c:d')).to.deep.equal({
      search: undefined,
      srcip: '1.1.1.1,2.2.2.2',
      q: 'data.a!=b;data.c!=d',
    });
  });

  it('knows what the last word may become', () => {
    expect(completionOf('failed src')).to.deep.include({ kind: 'name', prefix: 'src', names: ['srcip', 'srcuser'] });
    expect(completionOf('failed srcip:10.')).to.deep.equal({
      ...{ kind: 'value', name: 'srcip', path: 'data.srcip', isWanted: true, prefix: '10.' },
    });
    expect(completionOf('-location:"/var/my l')).to.include({ kind: 'value', isWanted: false, prefix: '/var/my l' });
    expect(completionOf('srcip:10. ')).to.have.property('kind', 'name');
    expect(completionOf('')).to.have.property('kind', 'name');
    expect(completionOf('user')).to.deep.include({ names: ['srcuser', 'dstuser', 'data.user'] });
  });

  it('puts it in place of the last word', () => {
    expect(withLast('failed src', 'srcip:')).to.equal('failed srcip:');
    expect(withLast('failed -src', 'srcip:')).to.equal('failed -srcip:');
    expect(withLast('failed ', 'srcip:')).to.equal('failed srcip:');
    expect(withLast('failed srcip:10', '')).to.equal('failed');
  });
});
