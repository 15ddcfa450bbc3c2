import { expect } from 'chai';
import fc from 'fast-check';
import { parseApk, readApk } from '../../../../../../daemons/modulesd/inventory/packages/apk.js';
import { readPackages } from '../../../../../../daemons/modulesd/inventory/packages/packages.js';
import { pacmanRow, readPacman } from '../../../../../../daemons/modulesd/inventory/packages/pacman.js';
import { snapRow } from '../../../../../../daemons/modulesd/inventory/packages/snap.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const MUSL =
  'C:Q1xyz=\nP:musl\nV:1.2.4-r2\nA:x86_64\nS:383000\nI:622592\nT:the musl c library (libc) implementation\no:musl\nm:Timo <t@x>\nF:lib\nR:ld.so\na:0:0:755\n';
const ZLIB =
  '%NAME%\nzlib\n\n%VERSION%\n1:1.3.1-1\n\n%BASE%\nzlib\n\n%DESC%\nCompression library\n\n%ARCH%\nx86_64\n\n%INSTALLDATE%\n1706000000\n\n%PACKAGER%\nA B <a@b>\n\n%SIZE%\n337920\n\n%GROUPS%\none\ntwo\n';

const FIREFOX = `name: firefox
version: "131.0-2"
summary: 'Mozilla Firefox web browser'
description: |
  name: other
architectures:
- amd64
apps:
  firefox:
    command: x
`;

describe('packages of apk, pacman and snapd', () => {
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

  it('are read of what snapd mounts, in the revision that is current', async () => {
    const root = new FakeRoot();
    try {
      root.write('/snap/firefox/5000/meta/snap.yaml', FIREFOX);
      root.write('/snap/firefox/4000/meta/snap.yaml', FIREFOX.replace('131', '130'));
      root.link('/snap/firefox/current', '5000');
      root.write('/snap/evil/1/meta/snap.yaml', FIREFOX);
      root.link('/snap/evil/current', '../firefox/4000');
      root.write('/secret/snap.yaml', FIREFOX);
      root.link('/snap/linked/7/meta/snap.yaml', root.at('/secret/snap.yaml'));
      root.link('/snap/linked/current', '7');
      root.write('/snap/README', 'x');
      const rows = await readPackages(root.files(), []);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({
        ...{ format: 'snap', name: 'firefox', version: '131.0-2', description: 'Mozilla Firefox web browser' },
        ...{ location: '/snap/firefox', groups: ' ', vendor: ' ', architecture: ' ' },
      });
      expect(root.notes).to.deep.equal([]);
    } finally {
      root.remove();
    }
  });

  it('survive any text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom('name: a', 'version: "', '%NAME%', 'P:x', 'F:', '', '%'), fc.string())),
        (lines) => {
          snapRow(lines.join('\n'), '/x');
          pacmanRow(lines.join('\n'));
          parseApk(lines.join('\n'));
        },
      ),
    );
  });
});
