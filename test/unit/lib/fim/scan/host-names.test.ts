import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HostNames } from '../../../../../daemons/syscheckd/host-names.js';

describe('names of the host', () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-names-'));
  const [passwd, group] = [join(directory, 'passwd'), join(directory, 'group')];

  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('are read again when a file was exchanged, and not before a second has passed', () => {
    let now = 0;
    writeFileSync(passwd, 'root:x:0:0::/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\nother:x:1000:1::/:/bin/sh\n');
    const names = new HostNames([passwd, group], () => now);
    expect([0, 1000, 7].map((id) => names.current().user(id))).to.deep.equal(['root', 'ana', undefined]);
    expect(names.current().group(0), 'a file that is not there has no names').to.equal(undefined);
    writeFileSync(group, 'staff:x:50:\n');
    writeFileSync(`${passwd}.new`, 'root:x:0:0::/root:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n');
    renameSync(`${passwd}.new`, passwd);
    now = 999;
    expect(names.current().user(1001)).to.equal(undefined);
    now = 1000;
    expect([1000, 1001].map((id) => names.current().user(id))).to.deep.equal([undefined, 'bob']);
    expect(names.current().group(50)).to.equal('staff');
    now = 5000;
    const before = names.current();
    now = 9000;
    expect(names.current(), 'nothing has changed').to.equal(before);
  });
});
