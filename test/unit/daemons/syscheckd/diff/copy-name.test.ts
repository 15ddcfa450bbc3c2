import { expect } from 'chai';
import { copyName } from '../../../../../daemons/syscheckd/diff/copy-name.js';

describe('name of a copy', () => {
  it('is that of the specification', () => {
    expect(copyName('/etc/motd')).to.equal('f71a75ec560b4d2a86f247d0cd167bf0deb39f85');
  });

  it('goes by the bytes of the path', () => {
    expect(copyName('/etc/m\xc3\xb6td')).to.equal(copyName(Buffer.from('/etc/mötd').toString('latin1')));
    expect(copyName('/etc/m\xf6td')).not.to.equal(copyName('/etc/m\xc3\xb6td'));
  });
});
