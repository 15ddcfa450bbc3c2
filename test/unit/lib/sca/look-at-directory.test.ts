import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { SYSTEM_TREE, type TreeCalls, type TreeEntry } from '../../../../lib/rootcheck/tree-calls.js';
import { directoryHas } from '../../../../lib/sca/look-at-directory.js';
import { newLookBudget } from '../../../../lib/sca/look-at-file.js';
import { StepBudget } from '../../../../lib/sca/step-budget.js';
import { removeTree } from '../../../support/remove-tree.js';

describe('the walk of a directory', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-walk-'));
    mkdirSync(join(root, 'share'));
    writeFileSync(join(root, 'share', 'wanted'), '');
  });
  afterEach(() => {
    removeTree(root);
  });

  const has = (name: string, calls: Partial<TreeCalls> = {}, skipNfs = true, steps?: number) =>
    directoryHas(
      root,
      { names: compilePattern('osregex', name), pattern: undefined, skipNfs },
      newLookBudget(new StepBudget(steps)),
      { ...SYSTEM_TREE, ...calls },
    );

  it('leaves network file systems alone, and says so, unless it is told not to', () => {
    for (const number of [0x6969, 0xff534d42, 0xfe534d42]) {
      const calls = { fileSystem: (path: string) => (path.endsWith('share') ? number : 1) };
      expect(has('wanted', calls)).to.deep.equal({
        finding: 'invalid',
        reason: `Directory '${root}/share' flagged as NFS and skip_nfs is enabled`,
      });
      expect(has('wanted', calls, false)).to.deep.equal({ finding: 'found' });
    }
    writeFileSync(join(root, 'wanted'), '');
    expect(has('wanted', { fileSystem: (path) => (path === root ? 1 : 0x6969) }).finding).to.equal('found');
  });

  it('goes 64 levels deep', () => {
    const level = (depth: number) => join(root, ...Array<string>(depth).fill('d'));
    mkdirSync(level(66), { recursive: true });
    writeFileSync(join(level(64), 'deep'), '');
    writeFileSync(join(level(65), 'deeper'), '');
    expect(has('^deep$').finding).to.equal('found');
    const deeper = has('^deeper$');
    expect(deeper.finding).to.equal('invalid');
    expect(deeper.reason).to.match(/\/d' is too deep$/);
  });

  it('ends after 200,000 names', () => {
    const many = (count: number): Pick<TreeCalls, 'entries'> => ({
      *entries() {
        for (let index = 0; index < count; index += 1) {
          yield { name: `n${String(index)}`, kind: 'file' } satisfies TreeEntry;
        }
      },
    });
    expect(has('nothing', many(200_000)).finding).to.equal('not-found');
    expect(has('nothing', many(200_001)).reason).to.equal(`More than 200000 names below '${root}'`);
  });

  it('asks what a name is where the file system does not tell', () => {
    const untold = {
      entries: (path: string) => [...SYSTEM_TREE.entries(path)].map(({ name }) => ({ name, kind: undefined })),
    };
    expect(has('wanted', untold).finding).to.equal('found');
    expect(has('share', untold).finding).to.equal('not-found');
  });

  it('goes on where a directory below is gone or closed, and says which is closed', () => {
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other', 'here'), '');
    const failing = (code: string) => ({
      entries: (path: string) => {
        if (path.endsWith('share')) {
          throw Object.assign(new Error(code), { code, syscall: 'open', errno: code === 'EACCES' ? -13 : -2 });
        }
        return SYSTEM_TREE.entries(path);
      },
    });
    expect(has('here', failing('EACCES')).finding).to.equal('found');
    expect(has('none', failing('EACCES')).reason).to.equal(`Could not open '${root}/share': Permission denied`);
    expect(has('none', failing('ENOENT')).finding).to.equal('not-found');
    rmSync(root, { recursive: true });
    expect(has('none').reason).to.equal(`Could not open '${root}': No such file or directory`);
    mkdirSync(root);
    expect(() =>
      has('none', {
        entries: () => {
          throw new Error('a mistake');
        },
      }),
    ).to.throw('a mistake');
  });

  it('has steps for names, too', () => {
    expect(has('w(\\w+a)*x', {}, true, 0).reason).to.equal('A regex took too many steps on the name of a file');
  });
});
