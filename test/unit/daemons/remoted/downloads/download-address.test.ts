import { expect } from 'chai';
import {
  AddressError,
  authorizationOf,
  parseAddress,
  shownAddress,
} from '../../../../../daemons/remoted/downloads/download-address.js';

describe('addresses of downloads', () => {
  it('are of http and https, complete, and not endless', () => {
    expect(parseAddress('https://host:8443/a b?c#d').href).to.equal('https://host:8443/a%20b?c');
    expect(parseAddress('../c', new URL('http://host/a/b')).href).to.equal('http://host/c');
    for (const text of [
      '',
      'agent.conf',
      '//host/a',
      'http://',
      'http://ho st/',
      'file:///etc/passwd',
      'javascript:1',
    ]) {
      expect(() => parseAddress(text), text).to.throw(AddressError);
    }
    expect(() => parseAddress(`http://host/${'a'.repeat(5000)}`)).to.throw(AddressError, 'longer than 4096 characters');
  });

  it('are shown without user and password, whatever they look like', () => {
    expect(shownAddress('http://host/a?b=c')).to.equal('http://host/a?b=c');
    expect(shownAddress('http://me:secret@host/a')).to.equal('http://***@host/a');
    expect(shownAddress('http://me@host/a')).to.equal('http://***@host/a');
    for (const text of ['http://me:se/cret@ho st/a', 'me:secret@host', 'http://a:secret@b@[']) {
      expect(shownAddress(text), text).not.to.contain('cret');
    }
  });

  it('give what a user logs in with', () => {
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    expect(authorizationOf(new URL('http://host/'))).to.equal(undefined);
    expect(authorizationOf(new URL('http://m%C3%A9:p%40s@host/'))).to.equal(basic('mé:p@s'));
    // A percent sign that begins no code stands for itself.
    expect(authorizationOf(new URL('http://me:%zz@host/'))).to.equal(basic('me:%zz'));
  });
});
