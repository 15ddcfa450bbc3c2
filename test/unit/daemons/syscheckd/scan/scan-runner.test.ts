import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { ScanRules } from '../../../../../daemons/syscheckd/scan/scan-parts.js';
import { ScanRunner } from '../../../../../daemons/syscheckd/scan/scan-runner.js';
import { type DirectoryOption, NO_SYSCHECK, type SyscheckConfig } from '../../../../../lib/config/sections/syscheck.js';
import { scanSettings } from '../../../../../lib/fim/scan/scan-settings.js';
import { RecorderKit } from '../../../../support/syscheckd/recorder-kit.js';

describe('scan of what is configured', () => {
  let kit: RecorderKit;
  let rules: ScanRules;
  let runner: ScanRunner;
  const hooks: { entered: (path: string) => void; refreshed: () => void } = {
    entered: () => {},
    refreshed: () => {},
  };
  const followed: string[] = [];

  let found = 0;
  beforeEach(async () => {
    kit = await RecorderKit.open();
    found = 0;
    followed.length = 0;
    hooks.entered = hooks.refreshed = () => {};
    runner = new ScanRunner({
      rules: () => rules,
      recorder: kit.recorder,
      outbox: kit.store.outbox,
      threads: kit.threads,
      baselines: kit.baselines,
      contents: { beginScan: () => Promise.resolve() },
      follower: {
        update: ({ directories }) => {
          followed.push(`update ${directories.size}`);
          return Promise.resolve();
        },
        onDirectory: (path) => {
          hooks.entered(path);
          return Promise.resolve(true);
        },
        found: (entries) => {
          found += entries.length;
        },
        scanned: () => {
          followed.push('scanned');
        },
      },
      fill: {
        check: (limit) => {
          followed.push(`fill ${limit}`);
          return Promise.resolve();
        },
      },
      refreshed: () => {
        hooks.refreshed();
      },
      logger: kit.logger,
      now: () => kit.now,
    });
  });
  afterEach(() => kit.remove());

  /** Configures paths relative to the tree. */
  const configure = (
    directories: readonly (readonly [string, ...DirectoryOption[]])[],
    more: Partial<SyscheckConfig> = {},
  ): void => {
    const config = {
      ...NO_SYSCHECK,
      // The tree may be on a file system that counts as one of devices.
      skip_dev: false,
      ...more,
      directories: directories.map(([path, ...options]) => ({ path: kit.path(path), options })),
    };
    rules = { scan: scanSettings(config, { defaultMaxDepth: 256, fileMaxSize: 1024 }, {}), fileLimit: kit.limit };
  };
  const write = (path: string, content = path): void => {
    mkdirSync(dirname(kit.path(path)), { recursive: true });
    writeFileSync(kit.path(path), content);
  };
  /** One scan. @returns the changes it told, in the order of the alphabet */
  const scan = async (): Promise<string[]> => {
    await kit.drain();
    expect(await runner.scan(new AbortController().signal)).to.equal(true);
    return (await kit.changes()).sort();
  };
  const known = async (): Promise<string[]> => {
    const paths: string[] = [];
    for await (const rows of kit.store.pieces(() => true)) paths.push(...rows.map(({ path }) => path));
    return paths.map((path) => path.slice(kit.root.length + 1)).sort();
  };

  it('tells its start and its end around its changes, deletions last', async () => {
    configure([['']]);
    for (const path of ['a', 'b', 'd/c']) write(path);
    expect(await scan()).to.deep.equal([]);
    expect(followed).to.deep.equal(['update 1', 'scanned', 'fill 0']);
    expect(found, 'told of all').to.equal(runner.counters.found).and.to.be.above(0);
    write('e');
    write('b', 'changed');
    unlinkSync(kit.path('a'));
    expect(await scan()).to.deep.equal(['added e', 'deleted a', 'modified b']);
    const told = (await kit.waiting()).map(({ message }) => message.toString('latin1'));
    expect(told[0]).to.equal('{"type":"scan_start","data":{"timestamp":1700000000}}');
    expect(told.at(-1)).to.equal('{"type":"scan_end","data":{"timestamp":1700000000}}');
    expect((await kit.changes()).at(-1)).to.equal('deleted a');
    expect(await scan()).to.deep.equal([]);
  });

  it('tells what came and went with the directories of a wildcard', async () => {
    configure([['site-*']]);
    write('site-1/a');
    write('site-2/b');
    expect(await scan()).to.deep.equal([]);
    write('site-3/c');
    renameSync(kit.path('site-1'), kit.path('other'));
    expect(await scan()).to.deep.equal(['added site-3/c', 'deleted site-1/a']);
    configure([['nowhere']]);
    expect(await scan(), 'the wildcard itself is not configured any more').to.deep.equal([]);
    expect(await known()).to.deep.equal([]);
  });

  it('forgets silently what is left out now', async () => {
    configure([['']]);
    for (const path of ['kept', 'old.log', 'sub/file', 'skipped/file']) write(path);
    await scan();
    configure([['', { name: 'restrict', value: '!.log$' }]], {
      ignore: [{ kind: 'path', value: kit.path('skipped') }],
    });
    expect(await scan()).to.deep.equal([]);
    expect(await known()).to.deep.equal(['kept', 'sub/file']);
    configure([['', { name: 'recursion_level', value: 0 }]]);
    expect(await scan()).to.deep.equal([]);
    expect(await known()).to.deep.equal(['kept', 'old.log']);
  });

  it('sees that a file is gone when there is a link in the place of its directory', async () => {
    configure([['watched']]);
    write('watched/dir/file');
    await scan();
    renameSync(kit.path('watched/dir'), kit.path('moved'));
    symlinkSync(kit.path('moved'), kit.path('watched/dir'));
    expect(await scan()).to.deep.equal(['added watched/dir', 'deleted watched/dir/file']);
  });

  it('goes over to where a followed link leads now, without events', async () => {
    write('one/a');
    write('two/b');
    symlinkSync('one', kit.path('link'));
    configure([['link', { name: 'follow_symbolic_link', value: true }]]);
    expect(await scan()).to.deep.equal([]);
    expect(await known()).to.deep.equal(['one/a']);
    unlinkSync(kit.path('link'));
    symlinkSync('two', kit.path('link'));
    expect(await scan()).to.deep.equal([]);
    expect(await known()).to.deep.equal(['two/b']);
    write('two/b', 'changed');
    expect(await scan()).to.deep.equal(['modified two/b']);
  });

  it('takes no file for gone that was away for a moment, and records what it has become', async () => {
    configure([['']]);
    write('a');
    write('b');
    await scan();
    hooks.entered = () => {
      rmSync(kit.path('a'), { force: true });
    };
    const { recorder } = kit;
    const unseen = recorder.unseen.bind(recorder);
    recorder.unseen = (marks) => {
      write('a', 'written anew');
      return unseen(marks);
    };
    expect(await scan()).to.deep.equal(['modified a']);
    expect(await known()).to.deep.equal(['a', 'b']);
  });

  it('gives the room of removed files to others', async () => {
    kit.limit = 2;
    configure([['']]);
    for (const path of ['a', 'b', 'c']) write(path);
    await scan();
    const [first = '', second = ''] = await known();
    expect(await known()).to.have.length(2);
    unlinkSync(kit.path(first));
    const [other = ''] = ['a', 'b', 'c'].filter((path) => path !== first && path !== second);
    expect(await scan()).to.deep.equal([`added ${other}`, `deleted ${first}`]);
    expect(await known()).to.deep.equal([second, other].sort());
  });

  it('gives up when the configuration changes under it', async () => {
    configure([['']]);
    write('a');
    hooks.entered = () => {
      configure([['']]);
    };
    expect(await runner.scan(new AbortController().signal)).to.equal(false);
    const told = (await kit.waiting()).map(({ message }) => message.toString('latin1'));
    expect(told).to.deep.equal(['{"type":"scan_start","data":{"timestamp":1700000000}}']);
    expect(followed).to.deep.equal(['update 1', 'scanned']);
    hooks.entered = () => {};
    expect(await scan(), 'it has not had its baseline').to.deep.equal([]);
    expect(await known()).to.deep.equal(['a']);
  });

  it('goes on when settings were read anew that are not its own', async () => {
    configure([['']]);
    write('a');
    hooks.entered = () => {
      rules = { ...rules };
    };
    expect(await scan()).to.deep.equal([]);
    expect(await known()).to.deep.equal(['a']);
    hooks.entered = () => {
      rules = { ...rules, fileLimit: 7 };
    };
    expect(await runner.scan(new AbortController().signal), 'another limit').to.equal(false);
  });

  it('ends when it is called off', async () => {
    configure([['']]);
    write('a');
    const stop = new AbortController();
    hooks.entered = () => {
      stop.abort(new Error('called off'));
    };
    const failure: unknown = await runner.scan(stop.signal).catch((error: unknown) => error);
    expect(failure).to.equal(stop.signal.reason);
  });
});
