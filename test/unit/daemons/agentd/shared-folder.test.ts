import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type InstallStep, SharedFolder } from '../../../../daemons/agentd/shared/shared-folder.js';
import { SharedUpdates } from '../../../../daemons/agentd/shared/shared-updates.js';
import { planUnpack } from '../../../../daemons/agentd/shared/unpack-plan.js';
import { buildMergedFile, MergedFileError } from '../../../../lib/agentlink/merged-file.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

type Files = Readonly<Record<string, string>>;

const OLD: Files = { 'ar.conf': 'old', 'agent.conf': '<agent_config/>', 'old/list.txt': 'kept by nobody' };
const NEW: Files = { 'ar.conf': 'new', 'agent.conf': '<agent_config> </agent_config>', 'new/deep/list.txt': 'x' };

const merged = (files: Files): Buffer =>
  buildMergedFile(
    'default',
    Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) })),
  );
const md5 = (content: Buffer | string): string => hash('md5', content, 'hex');

describe('the shared files of an agent', () => {
  let top: string;
  let root: string;
  let logger: RecordingLogger;

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'shared-folder-'));
    root = join(top, 'shared');
    logger = new RecordingLogger();
  });
  afterEach(() => rmSync(top, { recursive: true }));

  const folder = (before?: (step: InstallStep, path: string) => void | Promise<void>): SharedFolder =>
    new SharedFolder({ root, logger, ...(before === undefined ? {} : { before }) });
  const found = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
    );
  const whole = (files: Files) => ({ ...files, 'merged.mg': merged(files).toString() });

  it('unpacks, removes everything else and tells the sums', async () => {
    const shared = folder();
    await shared.open();
    expect(shared.sums).to.deep.equal({ merged: undefined, config: undefined });
    await shared.install(merged(OLD));
    writeFileSync(join(root, 'by hand.txt'), '');
    mkdirSync(join(root, 'by hand', 'deep'), { recursive: true });
    await shared.install(merged(NEW));
    expect(found()).to.deep.equal(whole(NEW));
    expect(readdirSync(root).sort()).to.deep.equal(['agent.conf', 'ar.conf', 'merged.mg', 'new']);
    const sums = { merged: md5(merged(NEW)), config: md5(NEW['agent.conf'] ?? '') };
    expect(shared.sums).to.deep.equal(sums);
    expect(statSync(join(root, 'new', 'deep')).mode & 0o777).to.equal(0o770);
    expect(statSync(join(root, 'merged.mg')).mode & 0o777).to.equal(0o660);
    expect(statSync(join(root, 'new', 'deep', 'list.txt')).mode & 0o777).to.equal(0o660);
    const later = folder();
    await later.open();
    expect(later.sums).to.deep.equal(sums);
    await later.install(merged({}));
    expect(found()).to.deep.equal(whole({}));
    expect(later.sums).to.deep.equal({ merged: md5(merged({})), config: undefined });
  });

  it('takes the later of two files of one name, and turns files into folders and back', async () => {
    const shared = folder();
    const twice = buildMergedFile('default', [
      { name: 'ar.conf', content: Buffer.from('first') },
      { name: 'ar.conf', content: Buffer.from('second') },
    ]);
    await shared.install(twice);
    expect(found()['ar.conf']).to.equal('second');
    await shared.install(merged({ 'ar.conf/x': '1' }));
    expect(found()['ar.conf/x']).to.equal('1');
    await shared.install(merged({ 'ar.conf': '2' }));
    expect(found()).to.deep.equal(whole({ 'ar.conf': '2' }));
  });

  it('replaces links and writes nothing through them', async () => {
    const outside = join(top, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), 'mine');
    mkdirSync(root);
    symlinkSync(outside, join(root, 'new'));
    symlinkSync(join(outside, 'precious'), join(root, 'agent.conf'));
    symlinkSync(outside, join(root, 'other'));
    symlinkSync(join(outside, 'precious'), join(root, 'merged.mg'));
    await folder().install(merged(NEW));
    expect(found()).to.deep.equal(whole(NEW));
    expect(readdirSync(outside)).to.deep.equal(['precious']);
    expect(readFileSync(join(outside, 'precious'), 'utf8')).to.equal('mine');
    rmSync(root, { recursive: true });
    symlinkSync(outside, root);
    const shared = folder();
    await shared.open();
    expect(logger.lines.join('\n')).to.contain('is not a directory');
    await shared.install(merged(NEW)).then(
      () => expect.fail('written through a link'),
      () => {},
    );
    expect(readdirSync(outside)).to.deep.equal(['precious']);
  });

  it('touches nothing for a file that cannot be unpacked whole', async () => {
    const shared = folder();
    await shared.install(merged(OLD));
    const { sums } = shared;
    const bad: Buffer[] = [
      ...['../x', 'a/../../x', '/x', 'a//x', './x', 'a/', 'merged.mg', 'merged.mg.new', 'a\\x', 'n'.repeat(256)].map(
        (name) => merged({ 'good.txt': '', [name]: 'x' }),
      ),
      merged({ [`${'d/'.repeat(16)}x`]: '' }),
      merged({ a: '1', 'a/b': '2' }),
      Buffer.from('#default\n!100 agent.conf\nshort'),
    ];
    for (const content of bad) {
      await shared.install(content).then(
        () => expect.fail(content.toString()),
        (error: unknown) => expect(error, content.toString()).to.be.instanceOf(MergedFileError),
      );
      expect(found()).to.deep.equal(whole(OLD));
      expect(shared.sums).to.equal(sums);
    }
    expect(existsSync(join(top, 'x'))).to.equal(false);
  });

  it('keeps the old files whole on a full disk', async () => {
    await folder().install(merged(OLD));
    for (const [step, path] of [
      ['stage', 'agent.conf'],
      ['keep', 'merged.mg.new'],
    ] as const) {
      const shared = folder((at, name) => {
        if (at === step && name === path) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      });
      await shared.open();
      await shared.install(merged(NEW)).then(
        () => expect.fail('a full disk'),
        (error: unknown) => expect(String(error)).to.contain('ENOSPC'),
      );
      expect(found()).to.deep.equal(whole(OLD));
      expect(shared.sums.merged).to.equal(md5(merged(OLD)));
    }
  });

  it('is old or new after a kill at any step, tells no sum between, and finishes at the next start', async () => {
    await folder().install(merged(OLD));
    let steps = 0;
    await folder(() => void (steps += 1)).install(merged(NEW));
    expect(steps).to.be.greaterThan(10);
    const outcomes = new Set<string>();
    for (let last = 1; last <= steps; last += 1) {
      rmSync(root, { recursive: true });
      await folder().install(merged(OLD));
      let step = 0;
      let killed: () => void = () => {};
      const kill = new Promise<void>((resolve) => (killed = resolve));
      // What is killed goes on no more: the step never returns.
      const shared = folder(() => {
        step += 1;
        if (step < last) return undefined;
        killed();
        return new Promise(() => {});
      });
      await shared.open();
      void shared.install(merged(NEW));
      await kill;
      // Parallel writes that were not held have ended, or are swept away.
      expect(shared.sums.merged).to.be.oneOf([md5(merged(OLD)), undefined]);
      const next = folder();
      await next.open();
      const isNew = next.sums.merged === md5(merged(NEW));
      outcomes.add(isNew ? 'new' : 'old');
      expect(found(), `step ${last}`).to.deep.equal(whole(isNew ? NEW : OLD));
      expect(next.sums.merged).to.equal(md5(merged(isNew ? NEW : OLD)));
    }
    expect([...outcomes]).to.have.members(['old', 'new']);
  });

  it('plans every merged file or refuses it, and never a path outside', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.array(fc.constantFrom('a', 'b', '.', '..', '', 'merged.mg'), { maxLength: 5 }).map((parts) => parts.join('/')),
    );
    const file = fc
      .array(fc.tuple(name, fc.string({ maxLength: 20 })), { maxLength: 6 })
      .map((entries) =>
        Buffer.from(`#g\n${entries.map(([path, text]) => `!${Buffer.byteLength(text)} ${path}\n${text}`).join('')}`),
      );
    fc.assert(
      fc.property(fc.oneof(file, fc.uint8Array({ maxLength: 60 }).map(Buffer.from)), (content) => {
        let plan;
        try {
          plan = planUnpack(content);
        } catch (error) {
          expect(error).to.be.instanceOf(MergedFileError);
          return;
        }
        for (const path of [...plan.files.keys(), ...plan.folders]) {
          expect(join('/root', path)).to.equal(`/root/${path}`);
          expect(path).to.not.match(/(^|\/)\.\.?(\/|$)/);
        }
        for (const folder of plan.folders) expect(plan.files.has(folder)).to.equal(false);
      }),
    );
  });

  it('is updated by one push after the other, and of those that wait only by the last', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const shared = folder((step) => (step === 'keep' ? held : undefined));
    const reports: string[] = [];
    const sums: (string | undefined)[] = [];
    const updates = new SharedUpdates({
      folder: shared,
      logger,
      report: (text) => reports.push(text),
      installed: () => {
        sums.push(shared.sums.merged);
        return Promise.resolve();
      },
    });
    const push = (content: Buffer, name = 'merged.mg') => updates.take({ ok: true, name, content });
    push(merged(OLD));
    push(merged({ 'never.txt': '' }));
    push(merged(NEW));
    release();
    await updates.idle();
    expect(sums).to.deep.equal([md5(merged(OLD)), md5(merged(NEW))]);
    expect(updates.counters).to.deep.equal({ installed: 2, failed: 0, replaced: 1 });

    for (let time = 0; time < 3; time += 1) {
      push(merged({ '../x': '' }));
      await updates.idle();
    }
    expect(reports, 'once, however often it is pushed').to.deep.equal(['wazuh: Could not unmerge shared file.']);
    push(merged(OLD), 'other');
    updates.take({ ok: false, reason: 'wrong_md5', name: 'merged.mg' });
    updates.take({ ok: false, reason: 'too_large', name: 'merged.mg' });
    updates.take({ ok: false, reason: 'not_open', name: '' });
    expect(updates.counters).to.deep.equal({ installed: 2, failed: 6, replaced: 1 });
    const said = logger.lines.join('\n');
    expect(said).to.contain('Failed md5 for: merged.mg -- deleting.').and.contain('too large');
    expect(shared.sums.merged).to.equal(md5(merged(NEW)));
  });
});
