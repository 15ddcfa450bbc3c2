import { expect } from 'chai';
import { addressGroup } from '../../../../lib/network/address-group.js';
import { AddressTable } from '../../../../lib/network/address-table.js';

describe('a table of addresses', () => {
  it('has one entry for an IPv4 address, however it is written, and for an IPv6 network of /64', () => {
    expect(addressGroup('192.0.2.7')).to.equal('192.0.2.7');
    expect(addressGroup('::ffff:192.0.2.7')).to.equal('192.0.2.7');
    expect(addressGroup('2001:db8:1:2:3::4')).to.equal('2001:0DB8:0001:0002::/64');
    expect(addressGroup('2001:db8:1:2::')).to.equal(addressGroup('2001:db8:1:2:ffff:ffff:ffff:ffff'));
    expect(addressGroup('2001:db8:1:3::1')).not.to.equal(addressGroup('2001:db8:1:2::1'));
    expect(addressGroup('fe80::1%eth0')).to.equal(addressGroup('fe80::2'));
  });

  it('is bounded', () => {
    const table = new AddressTable(() => ({ count: 0 }));
    for (let index = 0; index < 20_000; index += 1) table.of(`10.0.${index >> 8}.${index & 255}`).count = 1;
    expect(table.size).to.equal(10_000);
    expect(table.of('10.0.78.31').count, 'the latest is known').to.equal(1);
    expect(table.of('10.0.0.0').count, 'the oldest begins anew').to.equal(0);
    table.of('2001:db8::1').count = 7;
    expect(table.of('2001:db8::2').count).to.equal(7);
  });
});
