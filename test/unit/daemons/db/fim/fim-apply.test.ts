import { expect } from 'chai';
import {
  fileAttributes,
  type FileFacts,
  fimEvent,
  FimKit,
  fimState,
  NOW,
} from '../../../../support/syscheckd/fim-kit.js';

const first: FileFacts = { content: 'one\n', mtime: 1_700_000_000, inode: 131_075 };
const second: FileFacts = { content: 'two!\n', mtime: 1_700_000_500, inode: 131_075 };
const third: FileFacts = { content: 'three\n', mtime: 1_700_000_900, inode: 131_075 };

describe('Events of files in the database', () => {
  let kit: FimKit;
  beforeEach(async () => {
    kit = await FimKit.open();
  });
  afterEach(() => kit.close());

  it('stores every column of an event, over a restart', async () => {
    await kit.events('001', [fimEvent('added', '/etc/demo', fileAttributes(first), 1_700_000_600)]);
    await kit.reopen();
    const { number, ...row } = kit.rows('001').get('/etc/demo') ?? { number: 0 };
    expect(number).to.be.greaterThan(0);
    expect(row).to.deep.equal({
      changes: 1,
      ahead: false,
      date: 1_700_000_600,
      type: 'file',
      checksum: fileAttributes(first)['checksum'],
      size: 4,
      perm: 'rw-r--r--',
      uid: '0',
      gid: '0',
      md5: fileAttributes(first)['hash_md5'],
      sha1: fileAttributes(first)['hash_sha1'],
      sha256: fileAttributes(first)['hash_sha256'],
      uname: 'root',
      gname: 'root',
      mtime: 1_700_000_000,
      inode: 131_075,
      ...Object.fromEntries(
        ['file', 'arch', 'valueName', 'valueType', 'attributes', 'symbolicPath'].map((name) => [name, undefined]),
      ),
    });
    expect(kit.rows('002').size).to.equal(0);
  });

  it('counts modifications truly, whatever the synchronisation tells besides', async () => {
    const path = '/etc/demo';
    const changes = (): number | undefined => kit.changes('001')[path];
    await kit.events('001', [fimEvent('modified', path, fileAttributes(first))]);
    expect(changes(), 'unknown before').to.equal(1);
    await kit.events('001', [fimEvent('modified', path, fileAttributes(second))]);
    expect(changes(), 'modified').to.equal(2);
    await kit.sync('001', fimState(path, fileAttributes(second)));
    expect(changes(), 'a state that says nothing new').to.equal(2);
    expect(kit.rows('001').get(path)?.attributes).to.equal('');
    await kit.sync('001', fimState(path, fileAttributes(third)));
    expect(changes(), 'a state that tells of a change').to.equal(3);
    await kit.events('001', [fimEvent('modified', path, fileAttributes(third))]);
    expect(changes(), 'the event of that change').to.equal(3);
    await kit.events('001', [fimEvent('modified', path, fileAttributes(third))]);
    expect(changes(), 'one more event').to.equal(4);
    await kit.events('001', [fimEvent('deleted', path, fileAttributes(third))]);
    expect(changes()).to.equal(undefined);
    await kit.events('001', [fimEvent('added', path, fileAttributes(first))]);
    expect(changes(), 'added again').to.equal(1);
  });

  it('counts several events of one file in one call', async () => {
    await kit.events('001', [
      fimEvent('added', '/a', fileAttributes(first)),
      fimEvent('modified', '/a', fileAttributes(second)),
      fimEvent('added', '/b', fileAttributes(first)),
      fimEvent('deleted', '/b', fileAttributes(first)),
      fimEvent('modified', '/a', fileAttributes(third)),
    ]);
    expect(kit.changes('001')).to.deep.equal({ '/a': 3 });
    expect(kit.database.stats()['rows']).to.equal(1);
  });

  it('changes nothing twice when a journal is told again', async () => {
    const operations = [fileAttributes(first), fileAttributes(second), fileAttributes(third)].map(
      (attributes, index) => ({
        position: 100 + index,
        agent: '001',
        kind: 'syscheck' as const,
        at: NOW,
        message: Buffer.from(fimEvent(index === 0 ? 'added' : 'modified', '/a', attributes)),
      }),
    );
    const apply = (from: number, to: number, journal = 'one') =>
      kit.database.apply({ journal, operations: operations.slice(from, to), upTo: 100 + to });
    expect(kit.database.position).to.deep.equal({ journal: '', position: 0 });
    expect(await apply(0, 2)).to.equal(102);
    await kit.reopen();
    expect(kit.database.position).to.deep.equal({ journal: 'one', position: 102 });
    expect(await apply(0, 3)).to.equal(103);
    expect(kit.changes('001')).to.deep.equal({ '/a': 3 });
    expect(kit.database.counters.events).to.deep.equal({ applied: 1, repeated: 2 });
    expect(await apply(2, 3, 'another')).to.equal(103);
    expect(kit.changes('001')).to.deep.equal({ '/a': 4 });
  });

  it('takes calls that do not wait for each other, and refuses what would leave a gap', async () => {
    const call = (index: number, after?: number) =>
      kit.database.apply({
        journal: 'one',
        operations: [
          {
            position: index,
            agent: '001',
            kind: 'syscheck',
            at: NOW,
            message: Buffer.from(fimEvent('modified', '/a', { ...fileAttributes(first), size: index })),
          },
        ],
        upTo: index + 1,
        ...(after === undefined ? {} : { after }),
      });
    expect(await Promise.all([call(0), call(1, 1), call(2, 2)])).to.deep.equal([1, 2, 3]);
    const refusal = await call(4, 4).catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'gap' });
    expect(kit.database.position.position).to.equal(3);
    expect(kit.rows('001').get('/a')).to.include({ size: 2, changes: 3 });
    expect(await call(3, 3)).to.equal(4);
  });

  it('stores the text form of agents before 3.11, and counts what it changes', async () => {
    const sum = (size: number, perm = 33_188) =>
      `${String(size)}:${String(perm)}:0:0:${'a'.repeat(32)}:${'b'.repeat(40)}:ro\\:ot:root:1700000000:131075:${'c'.repeat(64)}`;
    await kit.events('001', [
      'fim-db-start-first-scan',
      `${sum(1)} /etc/with space`,
      'fim-db-end-first-scan',
      `${sum(1)}!0:root:0:root:/bin/vi:1000:ana:0:root:1:2:tag:/real /etc/with space`,
      `${sum(2)} /etc/with space\n1c1\n< a\n`,
      // An older agent tells less: it is the same.
      `2:33188:0:0:${'a'.repeat(32)}:${'b'.repeat(40)} /etc/with space`,
      `${sum(3)} /etc/gone`,
      '-1 /etc/gone',
      `${sum(4, 33_261)} [x64] HKEY_LOCAL_MACHINE\\Software`,
    ]);
    expect(kit.changes('001')).to.deep.equal({ '/etc/with space': 2 });
    const { items } = await kit.list({ type: 'file' });
    expect(items).to.have.length(1);
    expect(items[0]).to.include({
      file: '/etc/with space',
      size: 2,
      perm: '100644',
      uid: '0',
      md5: 'a'.repeat(32),
      sha1: 'b'.repeat(40),
      changes: 2,
      type: 'file',
    });
    expect((await kit.list({ hash: 'c'.repeat(64) })).items[0]).to.deep.include({
      type: 'registry_key',
      arch: '[x64]',
      perm: '100755',
      uname: 'ro:ot',
      inode: 131_075,
      mtime: '2023-11-14T22:13:20Z',
    });
    const { start, end } = (await kit.handlers['fim.last_scan']({ agent: '001' })) as { start: string; end: string };
    expect(end >= start).to.equal(true);
    expect(kit.database.counters.refused.malformed).to.equal(0);
  });

  it('stores the sums of OSSEC-HIDS 4.x agents by their columns, those that are switched off not at all', async () => {
    const sums = [`${'a'.repeat(32)}:${'b'.repeat(40)}`, 'c'.repeat(64)] as const;
    await kit.events('001', [
      `1:33188:0:0:${sums[0]}:xxx /etc/demo`,
      `1:33188:0:0:${sums[0]}:${sums[1]} /etc/demo`,
      `1:33206:S-1-5-32-544:0:xxx:xxx:${'d'.repeat(64)} C:\\demo`,
      '-1 /etc/never',
    ]);
    expect(kit.changes('001')).to.deep.equal({ '/etc/demo': 1, 'C:\\demo': 1 });
    const [found, ...more] = (await kit.list({ hash: sums[1] })).items;
    expect(found).to.include({ file: '/etc/demo', sha256: sums[1], md5: 'a'.repeat(32) });
    expect(found).not.to.have.any.keys('uname', 'gname');
    expect(more).to.deep.equal([]);
    const windows = kit.rows('001').get('C:\\demo');
    expect(windows).to.include({ uid: 'S-1-5-32-544', md5: undefined, sha1: undefined, sha256: 'd'.repeat(64) });
    expect(windows).to.include({ uname: undefined });
  });

  it('keeps inodes and sizes of any length exact', async () => {
    const attributes = JSON.stringify(fileAttributes(first));
    const events = [
      ['/text', '"18446744073709551615"'],
      ['/number', '18446744073709551615'],
      ['/small', '12'],
      ['/junk', '"abc"'],
    ].map(([path = '', inode = '']) => {
      const text = attributes
        .replace(/"inode":"\d+"/, `"inode":${inode}`)
        .replace('"size":4', '"size":9007199254740993');
      return fimEvent('added', path, {}).replace('"attributes":{}', `"attributes":${text}`);
    });
    await kit.events('001', [
      ...events,
      fimEvent('added', '/1234567890123456789,"a": 1234567890123456789', fileAttributes(first)),
    ]);
    expect([...kit.rows('001')].map(([path, { inode, size }]) => [path, inode, size])).to.deep.equal([
      ['/1234567890123456789,"a": 1234567890123456789', 131_075, 4],
      ['/junk', 0, '9007199254740993'],
      ['/number', '18446744073709551615', '9007199254740993'],
      ['/small', 12, '9007199254740993'],
      ['/text', '18446744073709551615', '9007199254740993'],
    ]);
  });

  it('stores registry entries by their index', async () => {
    const data = {
      path: 'HKEY_LOCAL_MACHINE\\Software',
      version: 3,
      type: 'added',
      arch: '[x64]',
      value_name: 'Run',
      index: 'a'.repeat(40),
      timestamp: 5,
      attributes: {
        type: 'registry_value',
        value_type: 'REG_SZ',
        checksum: 'b'.repeat(40),
        perm: { S1: { name: 'x' } },
      },
    };
    await kit.events('001', [JSON.stringify({ type: 'event', data })]);
    const row = kit.rows('001', 'fim_registry_value').get('a'.repeat(40));
    expect(row).to.include({ type: 'registry_value', file: data.path, valueName: 'Run', valueType: 'REG_SZ' });
    expect(row?.perm).to.equal('{"S1":{"name":"x"}}');
    await kit.events('001', [JSON.stringify({ type: 'event', data: { ...data, type: 'deleted' } })]);
    expect(kit.rows('001', 'fim_registry_value').size).to.equal(0);
  });

  it('notes when scans begin and end', async () => {
    const scan = (): unknown => kit.handlers['fim.last_scan']({ agent: '001' });
    expect(scan()).to.deep.equal({ start: null, end: null });
    await kit.events('001', ['{"type":"scan_start","data":{"timestamp":1700000000}}']);
    expect(scan()).to.deep.equal({ start: '2023-11-14T22:13:20Z', end: null });
    await kit.events('001', ['{"type":"scan_end","data":{"timestamp":1700000000}}']);
    expect(scan()).to.deep.equal({ start: '2023-11-14T22:13:20Z', end: '2023-11-14T22:13:20Z' });
    await kit.events('001', ['{"type":"scan_start","data":{"timestamp":1700000600}}']);
    expect(scan()).to.deep.equal({ start: '2023-11-14T22:23:20Z', end: null });
  });

  it('notes when scans of agents before 3.11 begin and end, as they tell it', async () => {
    const scan = (): unknown => kit.handlers['fim.last_scan']({ agent: '001' });
    const now = new Date(NOW).toISOString().replace('.000', '');
    await kit.events('001', ['Starting syscheck scan.'], 'rootcheck');
    expect(scan()).to.deep.equal({ start: now, end: null });
    await kit.events('001', ['Ending syscheck scan.'], 'rootcheck');
    expect(scan()).to.deep.equal({ start: now, end: now });
    await kit.events('002', ['Starting syscheck scan.'], 'rootcheck');
    await kit.events('002', ['syscheck-db-completed']);
    expect(kit.handlers['fim.last_scan']({ agent: '002' })).to.deep.include({ end: now });
  });

  it('counts what it cannot store, and goes on', async () => {
    await kit.events('001', [
      '{"type":',
      '[1]',
      '{"type":"event"}',
      '{"type":"event","data":{"path":"/a","type":"renamed","attributes":{"type":"file"}}}',
      '12:33188:0:0:abc /etc/too-short',
      fimEvent('added', `/${'x'.repeat(3000)}`, fileAttributes(first)),
      fimEvent('added', '/large', { ...fileAttributes(first), perm: 'x'.repeat(70_000) }),
      fimEvent('added', '/fine', { ...fileAttributes(first), colour: 'blue' }),
    ]);
    await kit.events('003', [fimEvent('added', '/nobody', fileAttributes(first))]);
    expect(Object.keys(kit.changes('001'))).to.deep.equal(['/fine']);
    expect(kit.database.counters.refused).to.include({
      malformed: 5,
      path_too_long: 1,
      row_too_large: 1,
      unknown_agent: 1,
    });
    expect(kit.logger.lines).to.have.length(3);
  });

  it('takes away what is stored of an agent, at once and in the end wholly', async () => {
    await kit.events('001', [fimEvent('added', '/a', fileAttributes(first))]);
    await kit.events('001', ['Process hidden.'], 'rootcheck');
    await kit.database.forget(['001']);
    expect(kit.rows('001').size).to.equal(0);
    await kit.events('001', [fimEvent('added', '/new', fileAttributes(first))]);
    await kit.reopen();
    expect(Object.keys(kit.changes('001'))).to.deep.equal(['/new']);
    await kit.database.emptied();
    expect(kit.database.storedKeys()).to.equal(1 + 1 + 3);
    kit.unregister('001');
    await kit.reopen();
    await kit.database.start();
    await kit.database.emptied();
    expect(kit.database.storedKeys()).to.equal(0);
  });
});
