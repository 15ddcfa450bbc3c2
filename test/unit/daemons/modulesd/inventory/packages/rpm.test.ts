import { expect } from 'chai';
import fc from 'fast-check';
import { readRpm } from '../../../../../../daemons/modulesd/inventory/packages/rpm.js';
import { parseRpmHeader } from '../../../../../../daemons/modulesd/inventory/packages/rpm-header.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

type Value = string | number;

/** A header as rpm stores it. */
function header(values: readonly (readonly [tag: number, value: Value])[]): Buffer {
  const stores: Buffer[] = [];
  const entries = values.map(([tag, value]) => {
    const entry = Buffer.alloc(16);
    entry.writeUInt32BE(tag, 0);
    entry.writeUInt32BE(typeof value === 'number' ? 4 : 6, 4);
    entry.writeUInt32BE(Buffer.concat(stores).length, 8);
    entry.writeUInt32BE(1, 12);
    const number = Buffer.alloc(4);
    if (typeof value === 'number') number.writeUInt32BE(value);
    stores.push(typeof value === 'number' ? number : Buffer.from(`${value}\0`));
    return entry;
  });
  const store = Buffer.concat(stores);
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(entries.length, 0);
  sizes.writeUInt32BE(store.length, 4);
  return Buffer.concat([sizes, ...entries, store]);
}

const BASH = header([
  ...([
    [1000, 'bash'],
    [1001, '5.2.26'],
    [1002, '3.fc40'],
    [1004, 'The GNU Bourne Again shell'],
  ] as const),
  ...([
    [1008, 1_700_000_000],
    [1009, 8_500_000],
    [1011, 'Fedora Project'],
    [1016, 'Unspecified'],
  ] as const),
  ...([
    [1022, 'x86_64'],
    [1044, 'bash-5.2.26-3.fc40.src.rpm'],
  ] as const),
]);

describe('packages of rpm', () => {
  it('have a size whatever stands in its place', () => {
    const odd = header([
      [1000, 'odd'],
      [1009, 'many bytes'],
    ]);
    expect(parseRpmHeader(odd)).to.include({ name: 'odd', size: 0 });
  });

  it('are read at once though a header names a long text ten thousand times', () => {
    const text = Buffer.from(`${'x'.repeat(1_000_000)}\0`);
    const entries = Array.from({ length: 10_000 }, (_none, index) => {
      const entry = Buffer.alloc(16);
      entry.writeUInt32BE(index < 5000 ? 1000 : 1028, 0);
      entry.writeUInt32BE(6, 4);
      return entry;
    });
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32BE(entries.length, 0);
    sizes.writeUInt32BE(text.length, 4);
    const blob = Buffer.concat([sizes, ...entries, text]);
    const before = performance.now();
    expect(String(parseRpmHeader(blob)?.['name'])).to.have.length(1_000_000);
    expect(performance.now() - before).to.be.lessThan(500);
  });

  it('are read of their headers', () => {
    expect(parseRpmHeader(BASH)).to.deep.equal({
      ...{
        format: 'rpm',
        name: 'bash',
        priority: ' ',
        groups: 'Unspecified',
        size: 8_500_000,
        vendor: 'Fedora Project',
      },
      ...{ install_time: '1700000000', version: '5.2.26-3.fc40', architecture: 'x86_64', multiarch: ' ' },
      ...{ source: 'bash-5.2.26-3.fc40.src.rpm', description: 'The GNU Bourne Again shell', location: ' ' },
    });
    const epoch = header([
      [1000, 'a'],
      [1001, '1'],
      [1002, '2'],
      [1003, 7],
    ]);
    expect(parseRpmHeader(epoch)).to.include({ version: '7:1-2', install_time: ' ', vendor: ' ' });
    expect(
      parseRpmHeader(
        header([
          [1000, 'gpg-pubkey'],
          [1001, '1'],
        ]),
      ),
    ).to.equal(undefined);
  });

  it('survive any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(200), fc.nat(255), (bytes, at, value) => {
        parseRpmHeader(bytes);
        const broken = Buffer.from(BASH);
        broken[at] = value;
        parseRpmHeader(broken);
        parseRpmHeader(BASH.subarray(0, at));
      }),
    );
  });

  describe('on a host', () => {
    let root: FakeRoot;
    beforeEach(() => (root = new FakeRoot()));
    afterEach(() => root.remove());

    it('are none without a database, and told by name where its form is not read', async () => {
      expect(await readRpm(root.files())).to.deep.equal([]);
      expect(root.notes).to.deep.equal([]);
      root.write('/var/lib/rpm/Packages', 'x');
      expect(await readRpm(root.files())).to.deep.equal([]);
      expect(root.notes[0]?.first).to.contain('/var/lib/rpm/Packages (only databases of rpm 4.16');
    });

    it('come out of the database, where Node can read it', async function () {
      const sqlite = await import('node:sqlite' as string).catch(() => undefined);
      const path = root.write('/var/lib/rpm/rpmdb.sqlite', '');
      if (sqlite === undefined) {
        expect(await readRpm(root.files())).to.deep.equal([]);
        expect(root.notes[0]?.first).to.contain('Node 22.13');
        return;
      }
      const database = new sqlite.DatabaseSync(path);
      database.exec('CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)');
      const insert = database.prepare('INSERT INTO Packages VALUES (?, ?)');
      insert.run(1, BASH);
      insert.run(2, Buffer.from('no header'));
      database.close();
      expect((await readRpm(root.files())).map(({ name }) => name)).to.deep.equal(['bash']);
    });
  });
});
