import { expect } from 'chai';
import { ALL_CHECKS, CHECKS } from '../../../../lib/fim/checks.js';
import {
  changedAttributes,
  checksumText,
  EMPTY_HASHES,
  fileAttributes,
  type FileFacts,
} from '../../../../lib/fim/entry-checksum.js';
import { permissionText } from '../../../../lib/fim/permission-text.js';

const HELLO: FileFacts = {
  size: 12,
  mode: 0o100644,
  uid: 0,
  gid: 0,
  userName: 'root',
  groupName: 'root',
  mtime: 1700000000,
  inode: '131075',
  hashes: {
    md5: '6f5902ac237024bdd0c176cb93063dc4',
    sha1: '22596363b3de40b06f981fb85d82312e8c0ed511',
    sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
  },
};
const LATER: FileFacts = {
  ...HELLO,
  size: 13,
  mtime: 1700000500,
  hashes: {
    md5: 'c897d1410af8f2c74fba11b1db511e9e',
    sha1: 'f951b101989b2c3b7471710b4e78fc4dbdfa0ca6',
    sha256: 'ecf701f727d9e2d77c4aa49ac6fbbcc997278aca010bddeeb961c10cf54d435a',
  },
};

describe('attributes of an entry', () => {
  it('have the checksum of example A', () => {
    const attributes = fileAttributes(HELLO, ALL_CHECKS);
    expect(checksumText(attributes, HELLO.inode)).to.equal(
      '12:rw-r--r--::0:0:root:root:1700000000:131075:6f5902ac237024bdd0c176cb93063dc4:' +
        '22596363b3de40b06f981fb85d82312e8c0ed511:a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
    );
    expect(attributes.checksum).to.equal('e13d968052a4fe08369e6f921a39c695be22b463');
  });

  it('have the checksum of example B, an empty file', () => {
    const facts = {
      ...HELLO,
      size: 0,
      mode: 0o600,
      uid: 1000,
      gid: 1000,
      userName: 'ana',
      groupName: 'ana',
      mtime: 1700000100,
      inode: '131076',
      hashes: EMPTY_HASHES,
    };
    expect(fileAttributes(facts, ALL_CHECKS).checksum).to.equal('f207ed94cdd3e8598f6be9974bc8844f88a947e2');
  });

  it('have the checksum of example C, where md5 alone is watched', () => {
    const attributes = fileAttributes({ ...HELLO, inode: '131077' }, CHECKS.hash_md5);
    expect(attributes).to.deep.equal({
      hash_md5: HELLO.hashes.md5,
      checksum: 'f2ea43c689aadc03885a6f1d416a26a71494fef8',
    });
  });

  it('have the checksum of example D, and tell what changed since A', () => {
    const before = fileAttributes(HELLO, ALL_CHECKS);
    const after = fileAttributes(LATER, ALL_CHECKS);
    expect(after.checksum).to.equal('0fed729d0188e941c0c2f6e1b8931059fef0b81f');
    expect(changedAttributes(before, after, ALL_CHECKS)).to.deep.equal(['size', 'mtime', 'md5', 'sha1', 'sha256']);
    expect(changedAttributes(before, after, CHECKS.mtime)).to.deep.equal(['mtime']);
    expect(changedAttributes(before, after, CHECKS.owner)).to.deep.equal([]);
    expect(changedAttributes(before, before, ALL_CHECKS)).to.deep.equal([]);
  });

  it('leave out names that an id does not have, and tell when one is lost', () => {
    const nameless = fileAttributes({ ...HELLO, userName: undefined }, ALL_CHECKS);
    expect(nameless).to.not.have.property('user_name');
    expect(changedAttributes(fileAttributes(HELLO, ALL_CHECKS), nameless, ALL_CHECKS)).to.deep.equal(['user_name']);
  });

  it('tell a changed mode and owner by their names', () => {
    const before = fileAttributes(HELLO, ALL_CHECKS);
    const chmod = fileAttributes({ ...HELLO, mode: 0o100600 }, ALL_CHECKS);
    const chown = fileAttributes({ ...HELLO, uid: 1, userName: 'daemon', inode: '7' }, ALL_CHECKS);
    expect(changedAttributes(before, chmod, ALL_CHECKS)).to.deep.equal(['permission']);
    expect(changedAttributes(before, chown, ALL_CHECKS)).to.deep.equal(['uid', 'user_name', 'inode']);
  });

  it('keep inodes that no number holds', () => {
    const inode = '18446744073709551615';
    expect(fileAttributes({ ...HELLO, inode }, ALL_CHECKS).inode).to.equal(inode);
  });

  it('write permissions in nine letters', () => {
    expect(permissionText(0o644)).to.equal('rw-r--r--');
    expect(permissionText(0o4755)).to.equal('rwsr-xr-x');
    expect(permissionText(0o1777)).to.equal('rwxrwxrwt');
    expect(permissionText(0o2644)).to.equal('rw-r-sr--');
    expect(permissionText(0o107000)).to.equal('--s--s--t');
    expect(permissionText(0)).to.equal('---------');
  });
});
