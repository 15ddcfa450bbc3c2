import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { Breather } from '../../../../../daemons/remoted/merge/breather.js';
import { buildGroup } from '../../../../../daemons/remoted/merge/build-group.js';
import { confProblem } from '../../../../../daemons/remoted/merge/conf-problem.js';
import { looksBinary } from '../../../../../daemons/remoted/merge/looks-binary.js';
import { NO_AGENT_CONF } from '../../../../../daemons/remoted/merge/needed-files.js';
import { scanFolder } from '../../../../../daemons/remoted/merge/scan-folder.js';
import { MAX_SHARED_FILE_BYTES } from '../../../../../daemons/remoted/merge/shared-limits.js';
import { compareSharedNames } from '../../../../../daemons/remoted/merge/shared-names.js';
import { parseMergedFile } from '../../../../../lib/agentlink/merged-file.js';
import { MAX_AGENT_CONF_BYTES } from '../../../../../lib/config/agent-conf-file.js';

describe('building the merged file of a group', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-shared-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const put = (name: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  const scan = () => scanFolder('web', folder, new Breather());
  const build = async (scanned?: Awaited<ReturnType<typeof scan>>, current?: Buffer) => {
    const sources = {
      group: 'web',
      path: folder,
      scan: scanned ?? (await scan()),
      arConf: Buffer.from('ar\n'),
      check: (content: Buffer) => Promise.resolve(content.includes('bad') ? 'it is bad.' : undefined),
      current: () => Promise.resolve(current),
    };
    return buildGroup(sources, new Breather());
  };
  const built = async () => {
    const result = await build();
    if (result.kind !== 'built') throw new Error(result.kind);
    return {
      entries: parseMergedFile(result.content, true),
      names: parseMergedFile(result.content, true).map(({ name }) => name),
      texts: result.problems.map(({ level, text }) => `${level}: ${text}`),
      holdsLastGood: result.holdsLastGood,
    };
  };

  it('gives back any tree of files, in the order of bytes, with ar.conf first', async () => {
    const part = fc.constantFrom('a', 'b', 'a.b', 'a-', 'B', 'é', '\u{1F600}', '\uE000', 'agent.conf', 'ar.conf', ' ');
    const content = fc.oneof(
      fc.constantFrom('', '!3 x\nabc', '#web\n', 'x\n!0 y\n', 'no feed'),
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
    );
    const trees = fc.dictionary(
      fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
      content,
      { maxKeys: 12, noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(trees, async (tree) => {
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
        const files = Object.entries(tree).filter(
          // One name cannot be a file and a folder, and "bad" is what the check refuses.
          ([name, text]) => !text.includes('bad') && !Object.keys(tree).some((other) => other.startsWith(`${name}/`)),
        );
        for (const [name, text] of files) put(name, text);
        const { entries } = await built();
        const bytes = (name: string): Buffer => Buffer.from(name.replaceAll('/', '\0'));
        const isConf = ([name]: readonly [string, string]): boolean => name.split('/', 1)[0] === 'agent.conf';
        const added: [string, string][] = files.some(isConf) ? [] : [['agent.conf', NO_AGENT_CONF.toString()]];
        const expected = [...files, ...added].sort(([a], [b]) => Buffer.compare(bytes(a), bytes(b)));
        expect(entries.map(({ name, content: read }) => [name, read.toString()])).to.deep.equal([
          ['ar.conf', 'ar\n'],
          ...expected,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it('orders names as their bytes are, folder by folder', () => {
    const names = fc.string({
      unit: fc.constantFrom('/', '.', '-', 'a', 'é', '\uE000', '\uFFFD', '\u{1F600}'),
      minLength: 1,
    });
    const bytes = (name: string): Buffer => Buffer.from(name.replaceAll('/', '\0'));
    fc.assert(
      fc.property(names, names, (a, b) => {
        expect(Math.sign(compareSharedNames(a, b))).to.equal(Buffer.compare(bytes(a), bytes(b)));
      }),
    );
  });

  it('knows what looks binary, in pieces of 65,536 bytes', () => {
    const reference = (content: Buffer): boolean => {
      for (let at = 0; at < content.length;) {
        const feed = content.indexOf(0x0a, at);
        const end = Math.min(feed < 0 ? content.length : feed + 1, at + 65_536, content.length);
        const piece = content.subarray(at, end);
        if (piece.at(-1) === 0x0a && piece.includes(0)) return true;
        at = end;
      }
      return false;
    };
    const run = fc.tuple(fc.constantFrom('a', '\n', '\0'), fc.constantFrom(1, 2, 65_534, 65_535, 65_536));
    fc.assert(
      fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
        const content = Buffer.concat(runs.map(([character, length]) => Buffer.alloc(length, character)));
        expect(looksBinary(content)).to.equal(reference(content));
      }),
    );
    expect(looksBinary(Buffer.from('a\0\n'))).to.equal(true);
    expect(looksBinary(Buffer.from('a\n\0'))).to.equal(false);
  });

  it('follows no link and waits for no pipe, and says so', async () => {
    writeFileSync(join(folder, 'real.txt'), 'x');
    symlinkSync('/etc/passwd', join(folder, 'passwd'));
    symlinkSync('real.txt', join(folder, 'alias.txt'));
    symlinkSync('/etc', join(folder, 'etc'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const { names, texts } = await built();
    expect(names).to.deep.equal(['ar.conf', 'agent.conf', 'real.txt']);
    expect(texts.sort()).to.deep.equal([
      ...['alias.txt', 'etc', 'passwd'].map(
        (name) => `warn: 'etc/shared/web/${name}' is a symbolic link, which is not followed. Ignoring it.`,
      ),
      "warn: 'etc/shared/web/pipe' is not a regular file. Ignoring it.",
    ]);
  });

  it('does not read what a link has taken the place of since the scan', async () => {
    put('a.txt', 'x');
    const scanned = await scan();
    rmSync(join(folder, 'a.txt'));
    symlinkSync('/etc/passwd', join(folder, 'a.txt'));
    expect(await build(scanned)).to.deep.equal({ kind: 'changed', path: 'etc/shared/web/a.txt' });
  });

  it('gives up when a file changes while files are read', async () => {
    put('a.txt', 'x');
    const scanned = await scan();
    writeFileSync(join(folder, 'a.txt'), 'longer');
    expect(await build(scanned)).to.deep.equal({ kind: 'changed', path: 'etc/shared/web/a.txt' });
  });

  it('names files that are too large, and does not change a merged file that would be', async () => {
    put('large.txt', '');
    truncateSync(join(folder, 'large.txt'), MAX_SHARED_FILE_BYTES + 1);
    put('agent.conf', '');
    truncateSync(join(folder, 'agent.conf'), MAX_AGENT_CONF_BYTES + 1);
    const { names, texts } = await built();
    expect(names).to.deep.equal(['ar.conf', 'agent.conf']);
    expect(texts).to.deep.equal([
      "error: 'etc/shared/web/agent.conf' has 4194305 bytes, 4194304 are allowed. Ignoring it. It is not distributed, there is none before it that is good.",
      "error: 'etc/shared/web/large.txt' has 33554433 bytes, 33554432 are allowed. Ignoring it.",
    ]);
    truncateSync(join(folder, 'large.txt'), MAX_SHARED_FILE_BYTES);
    put('more.txt', '');
    truncateSync(join(folder, 'more.txt'), MAX_SHARED_FILE_BYTES);
    const refused = await build();
    expect(refused.kind).to.equal('refused');
    expect(refused.kind === 'refused' && refused.problems.at(-1)?.text).to.include(
      "The files of group 'web' have more",
    );
  });

  it('takes the last good agent.conf of a merged file that has one', async () => {
    put('agent.conf', 'bad');
    const entryOf = async (current: Buffer | undefined): Promise<string | undefined> => {
      const result = await build(undefined, current);
      if (result.kind !== 'built') throw new Error(result.kind);
      const conf = parseMergedFile(result.content).find(({ name }) => name === 'agent.conf');
      const isGiven = conf?.content.equals(NO_AGENT_CONF) === false;
      expect(result.holdsLastGood).to.equal(isGiven);
      return isGiven ? conf.content.toString() : undefined;
    };
    expect(await entryOf(Buffer.from('#web\n!4 agent.conf\ngood!1 x\ny'))).to.equal('good');
    expect(await entryOf(Buffer.from('#web\n!3 agent.conf\nbad'))).to.equal(undefined);
    expect(await entryOf(Buffer.from('#web\n!300 agent.conf\ncut'))).to.equal(undefined);
    expect(await entryOf(undefined)).to.equal(undefined);
    // What stands for a file that is missing is none that was good.
    const text = NO_AGENT_CONF.toString();
    expect(await entryOf(Buffer.from(`#web\n!${String(text.length)} agent.conf\n${text}`))).to.equal(undefined);
  });

  it('has an agent.conf that agents can read where the group has none', async () => {
    put('a.txt', 'x');
    put('b.txt', 'y');
    const { entries, names, texts, holdsLastGood } = await built();
    expect(names).to.deep.equal(['ar.conf', 'a.txt', 'agent.conf', 'b.txt']);
    expect(confProblem(entries[2]?.content ?? Buffer.alloc(0), 'agent.conf')).to.equal(undefined);
    expect([texts, holdsLastGood]).to.deep.equal([[], false]);
    // Only that of the group counts, and one that is there is left as it is.
    put('sub/agent.conf', 'z');
    expect((await built()).names).to.deep.equal(['ar.conf', 'a.txt', 'agent.conf', 'b.txt', 'sub/agent.conf']);
    put('agent.conf', '<agent_config/>');
    expect((await built()).entries[2]?.content.toString()).to.equal('<agent_config/>');
  });

  it('leaves out names that agents refuse, without lines of their own in the log', async () => {
    put('a..b', 'x');
    put('new\nline', 'x');
    put('back\\slash', 'x');
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff])]), 'x');
    const { names, texts } = await built();
    expect(names).to.deep.equal(['ar.conf', 'agent.conf']);
    expect(texts).to.have.length(4);
    for (const text of texts) expect(text).to.match(/^error: Invalid name of a shared file '.*': agents refuse it\./);
    expect(texts.join('')).to.include('new\\nline').and.not.include('\n');
  });
});
