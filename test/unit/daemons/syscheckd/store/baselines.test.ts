import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Baselines } from '../../../../../daemons/syscheckd/store/baselines.js';
import type { DirectoryOption } from '../../../../../lib/config/sections/syscheck.js';
import { type WatchedDirectories, watchedDirectories } from '../../../../../lib/fim/scan/watched-directories.js';
import type { WatchedDirectory } from '../../../../../lib/fim/scan/watched-directory.js';
import { RecorderKit } from '../../../../support/syscheckd/recorder-kit.js';

describe('baselines', () => {
  let kit: RecorderKit;
  beforeEach(async () => (kit = await RecorderKit.open()));
  afterEach(() => kit.remove());

  const watch = (...entries: readonly (readonly [string, ...DirectoryOption[]])[]): Promise<WatchedDirectories> =>
    watchedDirectories(
      entries.map(([path, ...options]) => ({ path, options })),
      { recursionLevel: 256, diffSizeLimit: 1 },
      {},
    );
  const silent = (baselines: Baselines, directories: Iterable<WatchedDirectory>): string[] =>
    [...directories].filter((directory) => baselines.silent(directory)).map(({ path }) => path);

  it('are had once, over restarts too', async () => {
    const both = await watch(['/srv/a'], ['/srv/b\n']);
    expect(silent(kit.baselines, both)).to.deep.equal(['/srv/a', '/srv/b\n']);
    await kit.baselines.finish(both);
    expect(silent(kit.baselines, both)).to.deep.equal([]);
    await kit.reopen();
    expect(silent(kit.baselines, await watch(['/srv/a'], ['/srv/b\n'], ['/srv/c']))).to.deep.equal(['/srv/c']);
    await kit.baselines.clear();
    await kit.reopen();
    expect(silent(kit.baselines, both)).to.have.length(2);
  });

  it('are those of what was scanned alone', async () => {
    const both = await watch(['/srv/a'], ['/srv/b']);
    await kit.baselines.finish(both, [both.at('/srv/b')!]);
    expect(silent(kit.baselines, both)).to.deep.equal(['/srv/a']);
  });

  it('are forgotten with what is no longer configured', async () => {
    const both = await watch(['/srv/a'], ['/srv/b']);
    await kit.baselines.finish(both);
    await kit.baselines.finish(await watch(['/srv/a']));
    expect(silent(kit.baselines, both)).to.deep.equal(['/srv/b']);
  });

  it('are had anew when other files are watched, not when something else of them is', async () => {
    await kit.baselines.finish(await watch(['/srv']));
    const deeper = await watch(['/srv', { name: 'recursion_level', value: 3 }]);
    const fewer = await watch(['/srv', { name: 'restrict', value: '.conf$' }]);
    const less = await watch(['/srv', { name: 'check_sum', value: false }, { name: 'realtime', value: true }]);
    expect([deeper, fewer, less].map((each) => silent(kit.baselines, each).length)).to.deep.equal([1, 1, 0]);
  });

  it('are those of a wildcard, not of what it matches', async () => {
    mkdirSync(kit.path('one'));
    await kit.baselines.finish(await watch([kit.path('*')]));
    mkdirSync(kit.path('two'));
    const matches = await watch([kit.path('*')]);
    expect(matches.size).to.equal(2);
    expect(silent(kit.baselines, matches)).to.deep.equal([]);
    expect(silent(kit.baselines, await watch([kit.path('*')], [kit.path('two')]))).to.deep.equal([kit.path('two')]);
  });
});
