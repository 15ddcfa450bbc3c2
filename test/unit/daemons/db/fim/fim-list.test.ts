import { expect } from 'chai';
import type { FimListParams } from '../../../../../daemons/db/fim/fim-list.js';
import { fimMethods } from '../../../../../lib/bus/contracts/db-fim.js';
import { fileAttributes, fimEvent, FimKit, fimState, NOW } from '../../../../support/syscheckd/fim-kit.js';

const DAY = 86_400;
const SECONDS = Math.floor(NOW / 1000);

describe('List of files', () => {
  let kit: FimKit;
  const facts = (index: number) => ({
    content: 'x'.repeat(index),
    mtime: SECONDS - index * DAY,
    inode: 1000 + index,
    perm: index % 2 === 0 ? 'rw-r--r--' : 'rwxr-xr-x',
  });

  before(async () => {
    kit = await FimKit.open();
    await kit.events(
      '001',
      [0, 1, 2, 3, 4, 5].map((index) =>
        fimEvent('added', `/etc/File-${String(index)}`, fileAttributes(facts(index)), 1_700_000_600 + index),
      ),
    );
    await kit.events('001', [
      fimEvent('modified', '/etc/File-3', { ...fileAttributes(facts(3)), user_name: 'ana', mtime: 0 }),
      JSON.stringify({
        type: 'event',
        data: {
          path: 'HKEY\\Run',
          version: 3,
          type: 'added',
          arch: '[x64]',
          value_name: 'Updater',
          index: 'f'.repeat(40),
          timestamp: 7,
          attributes: {
            type: 'registry_value',
            value_type: 'REG_SZ',
            checksum: 'c'.repeat(40),
            perm: { S1: { name: 'x', allowed: ['read'] } },
          },
        },
      }),
    ]);
    await kit.sync('002', fimState('/etc/other', fileAttributes(facts(1))));
  });
  after(() => kit.close());

  const files = async (params: Partial<FimListParams>): Promise<unknown[]> => {
    const { items } = await kit.list(params);
    return items.map((item) => item['file']);
  };
  const etc = (...indexes: readonly number[]) => indexes.map((index) => `/etc/File-${String(index)}`);

  it('shows an entry as the API does', async () => {
    const { items, total } = await kit.list({ file: '/ETC/file-2' });
    expect(total).to.equal(1);
    const attributes = fileAttributes(facts(2));
    expect(items).to.deep.equal([
      {
        file: '/etc/File-2',
        perm: 'rw-r--r--',
        sha1: attributes['hash_sha1'],
        changes: 1,
        md5: attributes['hash_md5'],
        inode: 1002,
        size: 2,
        uid: '0',
        gname: 'root',
        mtime: '2026-11-19T00:20:00Z',
        sha256: attributes['hash_sha256'],
        date: '2023-11-14T22:23:22Z',
        uname: 'root',
        type: 'file',
        gid: '0',
      },
    ]);
    const [registry] = (await kit.list({ type: 'registry_value' })).items;
    expect(registry).to.deep.equal({
      file: 'HKEY\\Run',
      perm: { S1: { name: 'x', allowed: ['read'] } },
      changes: 1,
      date: '1970-01-01T00:00:07Z',
      type: 'registry_value',
      arch: '[x64]',
      value: { name: 'Updater', type: 'REG_SZ' },
    });
    expect((await kit.list({ file: '/etc/File-3' })).items[0]).to.include({ mtime: null, changes: 2, uname: 'ana' });
  });

  it('is by modification time unless another order is asked for', async () => {
    expect(await files({ type: 'file' })).to.deep.equal(etc(3, 5, 4, 2, 1, 0));
    expect(await files({ type: 'file', sort: '-size' })).to.deep.equal(etc(5, 4, 3, 2, 1, 0));
    expect(await files({ type: 'file', sort: '+perm,file', limit: 2, offset: 2 })).to.deep.equal(etc(4, 1));
    expect((await kit.list({ type: 'file', limit: 2 })).total).to.equal(6);
    expect(await files({ sort: 'size' }).then((all) => all.at(-1))).to.equal('HKEY\\Run');
  });

  it('finds a hash of any kind, and both filters hold together', async () => {
    for (const name of ['hash_md5', 'hash_sha1', 'hash_sha256']) {
      const hash = String(fileAttributes(facts(4))[name]);
      expect(await files({ hash: hash.toUpperCase() }), name).to.deep.equal(etc(4));
      expect(await files({ hash, q: 'size=4' })).to.deep.equal(etc(4));
      expect(await files({ hash, q: 'size=5' })).to.deep.equal([]);
      expect(await files({ agent: '002', hash })).to.deep.equal([]);
    }
    const { hash_md5: md5, hash_sha1: sha1 } = fileAttributes(facts(4));
    expect(await files({ md5: String(md5), sha1: String(sha1) })).to.deep.equal(etc(4));
    expect(await files({ md5: String(sha1) })).to.deep.equal([]);
    await kit.events('001', [fimEvent('modified', '/etc/File-4', fileAttributes({ ...facts(4), content: 'new!' }))]);
    expect(await files({ hash: String(md5) })).to.deep.equal([]);
    await kit.events('001', [fimEvent('modified', '/etc/File-4', fileAttributes(facts(4)))]);
    expect(await files({ hash: String(md5) })).to.deep.equal(etc(4));
  });

  it('finds a path by its key whatever the case, and those of the registry besides', async () => {
    await kit.events('002', [
      ...['/etc/É-1', '/ETC/É-1', '/etc/É-10', '/etc', '/Etc/a'].map((path) =>
        fimEvent('added', path, fileAttributes(facts(1))),
      ),
      fimEvent('added', '/ETC/é-1', fileAttributes(facts(1))),
    ]);
    const of = (file: string, more: Partial<FimListParams> = {}) =>
      files({ agent: '002', sort: 'file', file, ...more });
    expect((await of('/etc/É-1')).sort()).to.deep.equal(['/ETC/É-1', '/etc/É-1']);
    expect(await of('/etc/é-1')).to.deep.equal(['/ETC/é-1']);
    expect(await of('/ETC/a', { q: 'size=1' })).to.deep.equal(['/Etc/a']);
    expect(await of('/ETC/a', { q: 'size=2' })).to.deep.equal([]);
    expect(await of(`/${'x'.repeat(5000)}`)).to.deep.equal([]);
    expect(await files({ file: 'hkey\\RUN' })).to.deep.equal(['HKEY\\Run']);
    await kit.events('002', [
      Buffer.concat([
        Buffer.from('{"type":"event","data":{"path":"/etc/'),
        Buffer.from([0xff]),
        Buffer.from(
          '","version":2,"mode":"realtime","type":"added","timestamp":1,"attributes":{"type":"file","checksum":"x"}}}',
        ),
      ]),
    ]);
    expect(await of('/etc/\ufffd')).to.deep.equal(['/etc/\ufffd']);
  });

  it('takes queries, with ages and dates, and texts to search for', async () => {
    expect(await files({ q: 'size>3;type=file' })).to.deep.equal(etc(5, 4));
    expect(await files({ q: 'mtime<2d', sort: 'file' })).to.deep.equal(etc(0, 1));
    expect(await files({ q: 'mtime>4d', sort: 'file' })).to.deep.equal(etc(5));
    expect(await files({ q: 'mtime<2026-11-19', sort: 'file' })).to.deep.equal(etc(4, 5));
    expect(await files({ q: 'uname=ANA' })).to.deep.equal(etc(3));
    expect(await files({ q: 'arch=null;size<2', sort: 'size' })).to.deep.equal(etc(0, 1));
    expect(await files({ q: 'value.name~upd' })).to.deep.equal(['HKEY\\Run']);
    expect(await files({ search: 'FILE-1' })).to.deep.equal(etc(1));
    expect(await files({ search: '-file-', type: 'file' })).to.deep.equal([]);
    expect(await files({ search: '2026-11-19t00', type: 'file' })).to.deep.equal(etc(2));
    expect(await files({ search: '1005' })).to.deep.equal(etc(5));
    expect(await files({ search: '-2026-1', sort: 'file' })).to.deep.equal([...etc(3), 'HKEY\\Run']);
    const sha256 = String(fileAttributes(facts(4))['hash_sha256']);
    expect(await files({ search: sha256.slice(3, 40).toUpperCase() })).to.deep.equal(etc(4));
    expect(await files({ arch: '[x64]', 'value.type': 'reg_sz' })).to.deep.equal(['HKEY\\Run']);
  });

  it('selects, summarises, and shows different rows once', async () => {
    const first = (params: Partial<FimListParams>) =>
      kit.list({ ...params, type: 'file' }).then(({ items }) => items[0]);
    expect(await first({ select: ['size'], sort: '-size' })).to.deep.equal({ file: '/etc/File-5', size: 5 });
    expect(Object.keys((await first({ summary: true })) ?? {}).sort()).to.deep.equal(['date', 'file', 'mtime']);
    const rows = await kit.list({ distinct: true, select: ['uname', 'perm'], sort: '-uname' });
    expect(rows).to.deep.equal({
      items: [
        { perm: 'rw-r--r--', uname: 'root' },
        { perm: 'rwxr-xr-x', uname: 'root' },
        { perm: 'rwxr-xr-x', uname: 'ana' },
      ],
      total: 3,
    });
  });

  it('refuses fields, operators and dates it does not know', async () => {
    const code = async (params: Partial<FimListParams>): Promise<string> =>
      kit.list(params).then(
        () => 'none',
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await code({ sort: 'colour' })).to.equal('query_1403');
    expect(await code({ select: ['colour'] })).to.equal('query_1724');
    expect(await code({ q: 'colour=red' })).to.equal('query_1408');
    expect(await code({ q: 'mtime<soon' })).to.equal('query_1412');
    expect(await code({ q: 'size>' })).to.equal('query_1407');
    expect(fimMethods['fim.list'].params.safeParse({ agent: '001', hash: 'xyz' }).success).to.equal(false);
  });

  it('shows what rootcheck found, outstanding and solved', async () => {
    const rootcheck = (at: number, ...texts: string[]) =>
      kit.database.apply({
        journal: 'rootcheck',
        operations: texts.map((text, index) => ({
          position: at + index,
          agent: '001',
          kind: 'rootcheck' as const,
          at: at * 1000,
          message: Buffer.from(text),
        })),
        upTo: at + texts.length,
      });
    const old = 'System Audit: CIS - Partition. {CIS: 1.1 Debian Linux} {PCI_DSS: 2.2.4}.';
    const now = "Interface 'eth0' in promiscuous mode.";
    const start = 1_700_000_000;
    await rootcheck(start, 'Starting rootcheck scan.', old);
    expect(kit.handlers['rootcheck.last_scan']({ agent: '001' })).to.deep.equal({
      start: '2023-11-14T22:13:20Z',
      end: null,
    });
    await rootcheck(start + 2 * DAY, 'Starting rootcheck scan.', now);
    await rootcheck(start + 3 * DAY, now, 'Ending rootcheck scan.');
    const list = (params: object) =>
      kit.handlers['rootcheck.list'](fimMethods['rootcheck.list'].params.parse({ agent: '001', ...params }));
    expect(await list({})).to.deep.equal({
      items: [
        { status: 'outstanding', log: now, date_first: '2023-11-16T22:13:20Z', date_last: '2023-11-17T22:13:20Z' },
        {
          status: 'solved',
          log: old,
          date_first: '2023-11-14T22:13:20Z',
          date_last: '2023-11-14T22:13:20Z',
          pci_dss: '2.2.4',
          cis: '1.1 Debian Linux',
        },
      ],
      total: 2,
    });
    expect((await list({ status: 'outstanding' })).total).to.equal(1);
    expect((await list({ pci_dss: '2.2.4', select: ['cis'] })).items[0]).to.include({ cis: '1.1 Debian Linux' });
    expect((await list({ q: 'log~promiscuous' })).total).to.equal(1);
    expect(kit.handlers['rootcheck.last_scan']({ agent: '001' })).to.deep.equal({
      start: '2023-11-16T22:13:20Z',
      end: '2023-11-17T22:13:20Z',
    });
    expect((await list({ sort: 'log', limit: 1, offset: 1 })).items[0]).to.include({ log: old });
    expect((await list({ select: ['status'], distinct: true, sort: '-log' })).items).to.deep.equal([
      { status: 'solved' },
      { status: 'outstanding' },
    ]);
    expect((await list({ select: ['cis'], distinct: true })).items).to.deep.equal([{ cis: '1.1 Debian Linux' }]);
    expect((await list({ search: '-promiscuous' })).total).to.equal(1);
    await kit.handlers['rootcheck.clear']({ agents: ['001'] });
    expect((await list({})).total).to.equal(0);
  });

  it('lets others work while it goes over what rootcheck found, and holds no more than a page', async () => {
    const count = 3000;
    const log = (index: number) => `System Audit: ${String(index).padStart(4, '0')} ${'x'.repeat(20_000)}.`;
    const texts = Array.from({ length: count }, (_value, index) => log(index));
    await kit.events('001', texts, 'rootcheck');
    let turns = 0;
    let counting = true;
    const turn = () => {
      turns += 1;
      if (counting) setImmediate(turn);
    };
    setImmediate(turn);
    const list = (params: object) =>
      kit.handlers['rootcheck.list'](fimMethods['rootcheck.list'].params.parse({ agent: '001', ...params }));
    const page = await list({ sort: '-log', limit: 2, offset: 1 });
    counting = false;
    expect(page.total).to.equal(count);
    expect(page.items.map((item) => item['log'])).to.deep.equal([log(count - 2), log(count - 3)]);
    expect(turns).to.be.greaterThan(5);
    const cut = await list({ limit: count });
    expect(cut.total).to.equal(count);
    expect(cut.items.length).to.be.within(1, count / 2);
    const failure: unknown = await Promise.resolve(list({ select: ['log'], distinct: true })).catch(
      (error: unknown) => error,
    );
    expect(failure).to.include({ code: 'too_many' });
  });
});
