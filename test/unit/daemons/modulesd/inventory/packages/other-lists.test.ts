import { expect } from 'chai';
import fc from 'fast-check';
import { parseApk, readApk } from '../../../../../../daemons/modulesd/inventory/packages/apk.js';
import { pacmanRow, readPacman } from '../../../../../../daemons/modulesd/inventory/packages/pacman.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const MUSL =
  'C:Q1xyz=\nP:musl\nV:1.2.4-r2\nA:x86_64\nS:383000\nI:622592\nT:the musl c library (libc) implementation\no:musl\nm:Timo <t@x>\nF:lib\nR:ld.so\na:0:0:755\n';
const ZLIB =
  '%NAME%\nzlib\n\n%VERSION%\n1:1.3.1-1\n\n%BASE%\nzlib\n\n%DESC%\nCompression library\n\n%ARCH%\nx86_64\n\n%INSTALLDATE%\n1706000000\n\n%PACKAGER%\nA B <a@b>\n\n%SIZE%\n337920\n\n%GROUPS%\none\ntwo\n';

describe('packages of apk and pacman', () => {
  it('are read of their lists', () => {
    const root = new FakeRoot();
    try {
      root.write('/lib/apk/db/installed', `${MUSL}\n${MUSL.replace('P:musl', 'P:other')}\n`);
      root.write('/var/lib/pacman/local/zlib-1:1.3.1-1/desc', ZLIB);
      root.write('/var/lib/pacman/local/ALPM_DB_VERSION', '9\n');
      expect(readApk(root.files()).map(({ name }) => name)).to.deep.equal(['musl', 'other']);
      expect(readApk(root.files())[0]).to.include({
        ...{
          format: 'apk',
          version: '1.2.4-r2',
          architecture: 'x86_64',
          size: 622_592,
          vendor: 'Timo <t@x>',
          source: 'musl',
        },
      });
      expect(readPacman(root.files())).to.deep.equal([
        {
          ...{ format: 'pacman', name: 'zlib', priority: ' ', groups: 'one,two', size: 337_920, vendor: 'A B <a@b>' },
          ...{
            install_time: '1706000000',
            version: '1:1.3.1-1',
            architecture: 'x86_64',
            multiarch: ' ',
            source: 'zlib',
          },
          ...{ description: 'Compression library', location: ' ' },
        },
      ]);
      expect(root.notes).to.deep.equal([]);
    } finally {
      root.remove();
    }
  });

  it('survive any text', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom('%NAME%', 'P:x', 'F:', '', '%'), fc.string())), (lines) => {
        pacmanRow(lines.join('\n'));
        parseApk(lines.join('\n'));
      }),
    );
  });
});
