import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { MOST_EVENTS } from '../../../../../daemons/syscheckd/store/outbox.js';
import { ALL_CHECKS } from '../../../../../lib/fim/checks.js';
import { EMPTY_HASHES } from '../../../../../lib/fim/entry-checksum.js';
import { type KitDirectories, RecorderKit } from '../../../../support/syscheckd/recorder-kit.js';

const OLD = 1_600_000_000;

describe('recording of files', () => {
  let kit: RecorderKit;
  const start = async (...directories: KitDirectories): Promise<void> => {
    kit = await RecorderKit.open(...directories);
  };
  afterEach(() => kit.remove());

  const write = (name: string, content = 'hello world\n', mtime = OLD): void => {
    writeFileSync(kit.path(name), content);
    utimesSync(kit.path(name), mtime, mtime);
  };

  it('records the baseline without events, and tells what is added, modified and gone after it', async () => {
    await start();
    for (const name of ['same', 'modified', 'gone']) write(name);
    await kit.scan();
    expect(await kit.changes()).to.deep.equal([]);
    expect(kit.recorder.rows).to.equal(3);

    write('modified', 'hello world!\n', OLD + 500);
    write('added');
    rmSync(kit.path('gone'));
    kit.now += 60_000;
    await kit.scan();
    expect((await kit.changes()).sort()).to.deep.equal(['added added', 'deleted gone', 'modified modified']);
    expect((await kit.changes()).at(-1)).to.equal('deleted gone');
    const modified = (await kit.events()).find(({ change }) => change === 'modified')!;
    expect(modified.changed).to.deep.equal(['size', 'mtime', 'md5', 'sha1', 'sha256']);
    expect(modified).to.deep.include({ mode: 'scheduled', timestamp: 1_700_000_060 });
    expect(modified.before).to.include({ size: 12, hash_md5: '6f5902ac237024bdd0c176cb93063dc4' });
    expect(modified.attributes).to.include({
      size: 13,
      hash_sha256: 'ecf701f727d9e2d77c4aa49ac6fbbcc997278aca010bddeeb961c10cf54d435a',
    });

    await kit.drain();
    await kit.scan();
    expect(await kit.changes()).to.deep.equal([]);
    expect(kit.recorder.rows).to.equal(3);
  });

  it('names what was changed, and nothing else', async () => {
    await start();
    for (const name of ['touched', 'moded', 'replaced', 'gone']) write(name);
    await kit.scan();
    const recorded = Math.floor(kit.now / 1000);
    kit.now += 60_000;
    utimesSync(kit.path('touched'), OLD + 9, OLD + 9);
    chmodSync(kit.path('moded'), 0o600);
    write('fresh');
    renameSync(kit.path('fresh'), kit.path('replaced'));
    rmSync(kit.path('gone'));
    await kit.scan();
    const events = await kit.events();
    const changed = new Map(events.map(({ path, changed: names }) => [path.slice(kit.root.length + 1), names]));
    expect(changed.get('touched')).to.deep.equal(['mtime']);
    expect(changed.get('moded')).to.deep.equal(['permission']);
    expect(changed.get('replaced')).to.deep.equal(['inode']);
    expect(changed.get('gone')).to.deep.equal([]);
    // A deletion has the time of what is told of the file, not its own (4.2).
    expect(events.find(({ change }) => change === 'deleted')).to.include({ timestamp: recorded });
    expect(events).to.have.length(4);
  });

  it('knows all of it after a restart, and tells what changed meanwhile', async () => {
    await start();
    for (const name of ['same', 'modified', 'gone']) write(name);
    await kit.scan();
    write('modified', 'other', OLD + 1);
    write('added');
    rmSync(kit.path('gone'));
    await kit.reopen();
    expect(kit.recorder.rows).to.equal(3);
    await kit.scan();
    expect((await kit.changes()).sort()).to.deep.equal(['added added', 'deleted gone', 'modified modified']);
    // What is in the outbox is still there, once.
    await kit.reopen();
    await kit.scan();
    expect(await kit.changes()).to.have.length(3);
  });

  it('records silently what was configured just now, though the rest is not new', async () => {
    await start(['one']);
    for (const name of ['one', 'two']) mkdirSync(kit.path(name));
    write('one/a');
    write('two/b');
    await kit.scan();
    write('one/c');
    await kit.watch(['one'], ['two', { name: 'tags', value: ['x'] }]);
    await kit.scan();
    expect(await kit.changes()).to.deep.equal(['added one/c']);
    write('two/d');
    await kit.scan();
    expect(await kit.changes()).to.deep.equal(['added one/c', 'added two/d']);
    expect((await kit.events()).map(({ tags }) => tags)).to.deep.equal([undefined, 'x']);
  });

  it('does not tell of what is not watched, but keeps the row right', async () => {
    await start(['', { name: 'check_mtime', value: false }, { name: 'check_inode', value: false }]);
    write('file');
    await kit.scan();
    const before = kit.recorder.row(kit.path('file'))!;
    rmSync(kit.path('file'));
    write('other');
    write('file', 'hello world\n', OLD + 7);
    rmSync(kit.path('other'));
    await kit.scan();
    expect(await kit.changes()).to.deep.equal([]);
    const after = kit.recorder.row(kit.path('file'))!;
    expect(after.inode).to.not.equal(before.inode);
    // The inode is in the checksum all the same, so that the manager's copy is made right.
    expect(after.attributes.checksum).to.not.equal(before.attributes.checksum);
    expect(after.number).to.equal(before.number);
  });

  it('compares only what was watched then and is now', async () => {
    await start(['', { name: 'check_all', value: false }, { name: 'check_perm', value: true }]);
    write('file');
    await kit.scan();
    expect(kit.recorder.row(kit.path('file'))!.attributes).to.have.all.keys('perm', 'checksum');
    await kit.watch(['']);
    write('file', 'other', OLD + 1);
    await kit.scan();
    expect(await kit.changes()).to.deep.equal([]);
    expect(kit.recorder.row(kit.path('file'))!.checks).to.equal(ALL_CHECKS);
    write('file', 'another', OLD + 1);
    chmodSync(kit.path('file'), 0o600);
    await kit.scan();
    expect((await kit.events())[0]?.changed).to.include.members(['size', 'permission', 'md5']);
  });

  it('reads a content again only when the stamp is another', async () => {
    await start();
    write('file');
    const entry = await kit.lookAt('file');
    const rested = { ...entry, stamp: 'a:b' };
    await kit.record([rested]);
    expect(kit.recorder.known(kit.path('file'))).to.equal('a:b');
    const unchanged = { ...rested, hashes: undefined, unchanged: true, ticket: kit.recorder.ticket() };
    expect(await kit.record([unchanged])).to.deep.equal({ overtaken: [] });
    expect(kit.recorder.row(kit.path('file'))!.attributes.hash_md5).to.equal('6f5902ac237024bdd0c176cb93063dc4');
    // Names are no part of the file, and have no stamp.
    kit.names = { user: () => 'somebody', group: () => undefined };
    await kit.record([unchanged]);
    const { attributes } = kit.recorder.row(kit.path('file'))!;
    expect(attributes).to.include({ user_name: 'somebody', hash_md5: '6f5902ac237024bdd0c176cb93063dc4' });
    expect((await kit.events()).map(({ changed }) => changed)).to.deep.equal([[], ['user_name', 'group_name']]);
    // Of a row that is gone or another nothing is left to build on.
    const [row] = [kit.recorder.row(kit.path('file'))!];
    await kit.recorder.remove([row], { mode: 'realtime', ticket: kit.recorder.ticket(), silent: true });
    const again = { ...unchanged, ticket: kit.recorder.ticket() };
    expect(await kit.record([again])).to.deep.equal({ overtaken: [kit.path('file')] });
    expect(kit.recorder.rows).to.equal(0);
    await kit.watch(['', { name: 'check_sha1sum', value: false }]);
    await kit.record([rested], kit.recorder.ticket());
    expect(kit.recorder.known(kit.path('file'))).to.equal(undefined);
  });

  it('reads contents again when they are to be read in another way, and only then', async () => {
    await start();
    write('file');
    await kit.record([{ ...(await kit.lookAt('file')), stamp: 'a:b' }]);
    await kit.store.readBy('one');
    await kit.store.readBy('one');
    expect(kit.recorder.known(kit.path('file'))).to.equal('a:b');
    await kit.reopen();
    await kit.store.readBy('two');
    expect(kit.recorder.known(kit.path('file'))).to.equal(undefined);
    // What is read in another way is another content, though nobody has changed it.
    await kit.record([{ ...(await kit.lookAt('file')), hashes: { ...EMPTY_HASHES }, stamp: 'a:b' }]);
    expect(kit.recorder.row(kit.path('file'))!.attributes.hash_md5).to.equal(EMPTY_HASHES.md5);
    expect(kit.recorder.known(kit.path('file'))).to.equal('a:b');
    expect(await kit.changes()).to.deep.equal(['added file']);
  });

  it('records links as links', async () => {
    await start();
    symlinkSync('/etc/passwd', kit.path('link'));
    await kit.scan();
    expect(kit.recorder.row(kit.path('link'))!.attributes).to.include({ hash_md5: EMPTY_HASHES.md5, size: 11 });
  });

  it('drops a reading that another has overtaken, and says so', async () => {
    await start();
    write('file', 'one');
    const early = await kit.lookAt('file');
    write('file', 'two!', OLD + 1);
    const late = await kit.lookAt('file');
    expect(await kit.record([late])).to.deep.equal({ overtaken: [] });
    expect(await kit.record([early])).to.deep.equal({ overtaken: [kit.path('file')] });
    expect(kit.recorder.row(kit.path('file'))!.attributes.size).to.equal(4);
    // One that says what is known already is none that anybody has to repeat.
    expect(await kit.record([{ ...late, ticket: early.ticket }])).to.deep.equal({ overtaken: [] });
    const row = kit.recorder.row(kit.path('file'))!;
    const gone = { mode: 'realtime', silent: false } as const;
    expect(await kit.recorder.remove([row], { ...gone, ticket: early.ticket! })).to.have.property('overtaken').with.length(1); // oxfmt-ignore
    expect(await kit.recorder.remove([row], { ...gone, ticket: kit.recorder.ticket() })).to.deep.equal({
      overtaken: [],
    });
    expect(await kit.record([late]))
      .to.have.property('overtaken')
      .with.length(1);
    expect(await kit.changes()).to.deep.equal(['added file', 'deleted file']);
    expect(kit.recorder.counters).to.deep.include({ added: 1, removed: 1, overtaken: 3 });
  });

  it('counts as seen by a scan what others record while it runs', async () => {
    await start();
    for (const name of ['seen', 'unseen', 'realtime']) write(name);
    await kit.scan();
    const marks = kit.recorder.beginScan();
    await kit.record([await kit.lookAt('seen')]);
    write('new');
    write('realtime', 'other');
    await kit.record([await kit.lookAt('realtime'), await kit.lookAt('new')]);
    const unseen: string[] = [];
    for await (const rows of kit.recorder.unseen(marks)) unseen.push(...rows.map(({ path }) => path));
    expect(unseen).to.deep.equal([kit.path('unseen')]);
    marks.end();
  });

  it('gives rows below a path, whatever stands beside it', async () => {
    await start();
    for (const name of ['a', 'a/b', 'a/b/c', 'a-b', 'a0']) mkdirSync(kit.path(name));
    for (const name of ['a/one', 'a/b/two', 'a/b/c/three', 'a-b/four', 'a0/five', 'a.txt']) write(name);
    await kit.record(await kit.look());
    const below: string[] = [];
    for await (const rows of kit.recorder.rowsBelow(kit.path('a'))) below.push(...rows.map(({ path }) => path));
    expect(below.sort()).to.deep.equal(['a/b/c/three', 'a/b/two', 'a/one'].map((name) => kit.path(name)));
    let all = 0;
    for await (const rows of kit.recorder.rowsBelow('/')) all += rows.length;
    expect(all).to.equal(6);
  });

  it('gives rows below a path while they are on their way to the disk, and none that is gone', async () => {
    await start();
    mkdirSync(kit.path('a'));
    for (const name of ['a/one', 'a/two', 'a/three']) write(name);
    await kit.scan();
    const [row] = [kit.recorder.row(kit.path('a/two'))!];
    write('a/four');
    const entry = await kit.lookAt('a/four');
    // Both are taken then, and not on disk.
    await kit.recorder.remove([row], { mode: 'realtime', ticket: kit.recorder.ticket(), silent: true });
    await kit.record([entry]);
    const below: string[] = [];
    for await (const rows of kit.recorder.rowsBelow(kit.path('a'))) below.push(...rows.map(({ path }) => path));
    expect(below.sort()).to.deep.equal(['a/four', 'a/one', 'a/three'].map((name) => kit.path(name)));
  });

  it('keeps to the limit of files to the one, tells it once, and uses what gets free', async () => {
    await start();
    for (let file = 0; file < 300; file += 1) write(`file${file}`);
    kit.limit = 250;
    await kit.scan();
    expect(kit.recorder.rows).to.equal(250);
    expect(kit.recorder.counters.overLimit).to.equal(50);
    expect(kit.logger.lines.filter((line) => line.includes('The limit of 250 '))).to.have.length(1);
    const marks = kit.recorder.beginScan();
    await kit.recorder.record(await kit.look(), { mode: 'scheduled', ticket: 1, scan: marks, silent: () => false });
    expect(marks.overLimit).to.equal(50);
    for (const { path } of await kit.look()) if (kit.recorder.row(path) !== undefined) rmSync(path);
    await kit.scan();
    await kit.scan();
    expect(kit.recorder.rows).to.equal(50);
    expect((await kit.changes()).filter((change) => change.startsWith('added'))).to.have.length(50);
  });

  it('keeps a row right whose event is longer than the wire takes', async () => {
    await start();
    write('file');
    const entry = await kit.lookAt('file');
    const name = '\x01'.repeat(40_000);
    kit.names = { user: () => name, group: () => name };
    await kit.record([entry]);
    expect(await kit.changes()).to.deep.equal([]);
    expect(kit.recorder.row(entry.path)!.attributes.user_name).to.equal(name);
    expect(kit.recorder.counters).to.include({ tooLong: 1 });
    expect(kit.logger.lines.join()).to.contain('bytes without its diff; it is not sent');
  });

  it('waits while too many events are on their way', async () => {
    await start();
    write('file');
    const message = Buffer.from('x');
    await kit.store.outbox.put(Array.from({ length: MOST_EVENTS }, () => ({ queue: '1', location: 'x', message })));
    const entry = await kit.lookAt('file');
    let isRecorded = false;
    const recorded = kit.record([entry]).then(() => (isRecorded = true));
    await kit.recorder.settled();
    expect(isRecorded).to.equal(false);
    expect(kit.recorder.row(entry.path)).to.equal(undefined);
    await kit.store.outbox.acknowledge(MOST_EVENTS / 2);
    await recorded;
    expect(kit.recorder.row(entry.path)).to.include({ path: entry.path });
  });

  it('records a file whose size is not a number of 32 bits', async () => {
    await start();
    writeFileSync(kit.path('sparse'), '');
    truncateSync(kit.path('sparse'), 2 ** 40);
    await kit.scan();
    expect(kit.recorder.row(kit.path('sparse'))!.attributes).to.include({ size: 2 ** 40 });
  });
});
