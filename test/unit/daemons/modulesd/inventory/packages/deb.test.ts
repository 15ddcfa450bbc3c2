import { expect } from 'chai';
import fc from 'fast-check';
import { parseDebStatus, readDeb } from '../../../../../../daemons/modulesd/inventory/packages/deb.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { itemId, rowChecksum } from '../../../../../../lib/events/inventory/row-marks.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const LIBXAU = `Package: libxau-dev
Status: install ok installed
Priority: optional
Section: libdevel
Installed-Size: 65
Maintainer: Debian X Strike Force <debian-x@lists.debian.org>
Architecture: amd64
Multi-Arch: same
Source: libxau
Version: 1:1.0.9-1
Depends: libxau6 (= 1:1.0.9-1), x11proto-core-dev
Description: X11 authorisation library (development headers)
 This package provides the main interface to the X11 authorisation handling.
 .
 Package: not-this-one
`;

// agent-transcript.md 9: what a real agent sent of this package.
describe('packages of dpkg', () => {
  it('are told as real agents tell them', () => {
    const table = inventoryTable('packages');
    const [row, ...others] = parseDebStatus(LIBXAU);
    expect(others).to.deep.equal([]);
    expect(row?.['size']).to.equal(66_560);
    if (row === undefined || table === undefined) throw new Error('no row');
    expect(rowChecksum(row, table)).to.equal('c6e7c5fc99f347805738772c570cfbcc84d6dc7d');
    expect(itemId(row, table.itemId ?? [])).to.equal('00476a2066ea300a877b3701b588a2e3ce4a47d8');
  });

  it('are those that are installed, with what is not known left open', () => {
    const gone = LIBXAU.replace('install ok installed', 'deinstall ok config-files');
    const half = LIBXAU.replace('install ok installed', 'install reinstreq half-installed');
    const bare = 'Package: bare\nStatus: hold ok installed\nSource: other (1.2-3)\nInstalled-Size: many\n';
    const rows = parseDebStatus([gone, half, bare].join('\n'));
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ name: 'bare', version: ' ', priority: ' ', source: 'other', size: 0, multiarch: ' ' });
  });

  it('are read of a host with a file for each', () => {
    const root = new FakeRoot();
    try {
      expect(readDeb(root.files())).to.deep.equal([]);
      root.write('/var/lib/dpkg/status.d/base', 'Package: base-files\nVersion: 12\n');
      root.write('/var/lib/dpkg/status.d/base.md5sums', 'Package: none\nVersion: 12\n');
      expect(readDeb(root.files()).map(({ name }) => name)).to.deep.equal(['base-files']);
    } finally {
      root.remove();
    }
  });

  it('are an error where the list cannot be read', () => {
    const root = new FakeRoot();
    try {
      root.write('/var/lib/dpkg/status/x', '');
      expect(() => readDeb(root.files())).to.throw('not a regular file');
    } finally {
      root.remove();
    }
  });

  it('survive any text', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'Package: a',
        'Status: install ok installed',
        '',
        ' ',
        ':',
        'Status:',
        '\tx',
        'Package:',
        '__proto__: 1',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        for (const row of parseDebStatus(lines.join('\n'))) expect(row).to.include({ format: 'deb', location: ' ' });
      }),
    );
  });
});
