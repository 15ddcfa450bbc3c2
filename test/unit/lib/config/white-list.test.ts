import { expect } from 'chai';
import { WhiteList } from '../../../../lib/config/white-list.js';

describe('the white list', () => {
  const listed = (entries: readonly string[], ...sources: readonly string[]) => {
    const list = new WhiteList(entries);
    return sources.filter((source) => list.contains(source));
  };

  it('has addresses, networks and patterns of host names', () => {
    const entries = ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32', '^localhost$', '.example.test$'];
    const sources = ['127.0.0.1', '10.200.0.1', '11.0.0.1', '2001:DB8::5', '2001:db9::5', 'localhost', 'localhosts'];
    expect(listed(entries, ...sources, 'www.example.test', '::ffff:10.1.1.1', '')).to.deep.equal([
      ...['127.0.0.1', '10.200.0.1', '2001:DB8::5', 'localhost', 'www.example.test', '::ffff:10.1.1.1'],
    ]);
  });

  it('takes out what is negated, and has all others then', () => {
    expect(listed(['!192.0.2.0/24'], '192.0.2.1', '198.51.100.1', 'host')).to.deep.equal(['198.51.100.1']);
    expect(listed(['!192.0.2.0/24', '192.0.2.7'], '192.0.2.7', '192.0.2.8')).to.deep.equal(['192.0.2.7']);
  });

  it('is empty without entries', () => {
    expect(listed([], '127.0.0.1', 'localhost', '')).to.deep.equal([]);
  });
});
