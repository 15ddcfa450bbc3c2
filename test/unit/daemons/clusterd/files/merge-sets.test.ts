import { expect } from 'chai';
import * as fc from 'fast-check';
import { manifestOf, sha256Of } from '../../../../../daemons/clusterd/files/manifest.js';
import { mergeSets } from '../../../../../daemons/clusterd/files/merge-sets.js';
import { placeOf, type SetPlace } from '../../../../../daemons/clusterd/files/set-place.js';
import { Home } from '../../../../../lib/home/home.js';

const place = placeOf(new Home('/nowhere'), 'group/web') as SetPlace;
type Files = Readonly<Record<string, string>>;
const manifest = (files: Files) =>
  manifestOf(
    place,
    Object.entries(files).map(([path, text]) => ({ path, sha256: sha256Of(Buffer.from(text)), size: text.length })),
  );
const merge = (base: Files | undefined, theirs: Files, ours: Files) => {
  const plan = mergeSets(base && manifest(base), manifest(theirs), manifest(ours));
  const merged = new Map(Object.entries(ours));
  for (const path of plan.remove) merged.delete(path);
  for (const path of plan.write) merged.set(path, theirs[path] ?? '');
  return { files: Object.fromEntries([...merged].sort()), conflicts: [...plan.conflicts].sort() };
};

describe('mergeSets', () => {
  it('takes from each side what it alone has changed', () => {
    const base = { a: '1', b: '1', c: '1', d: '1' };
    expect(merge(base, { a: '2', b: '1', c: '1', e: 'new' }, { a: '1', b: '2', d: '1', f: 'mine' })).to.deep.equal({
      files: { a: '2', b: '2', e: 'new', f: 'mine' },
      conflicts: [],
    });
  });

  it('what both have changed is taken from the cluster, and the own version is a conflict where there is one', () => {
    expect(merge({ a: '1', b: '1', c: '1' }, { a: '2', b: '2' }, { a: '3', c: '3' })).to.deep.equal({
      files: { a: '2', b: '2' },
      conflicts: ['a', 'c'],
    });
    expect(merge({ a: '1' }, { a: '2' }, { a: '2' })).to.deep.equal({ files: { a: '2' }, conflicts: [] });
  });

  it('one that joins takes all from the cluster', () => {
    expect(merge(undefined, { a: '1' }, { a: '2', b: '2' })).to.deep.equal({
      files: { a: '1' },
      conflicts: ['a', 'b'],
    });
  });

  it('a file gives way to a folder of the cluster, and files to a file', () => {
    expect(merge({}, { 'a/b': '1' }, { a: 'mine' })).to.deep.equal({ files: { 'a/b': '1' }, conflicts: ['a'] });
    expect(merge({}, { a: '1' }, { 'a/b': 'mine' })).to.deep.equal({ files: { a: '1' }, conflicts: ['a/b'] });
  });

  it('loses nothing that only one has, whatever happens', () => {
    const files = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd/e'), fc.constantFrom('1', '2', '3'));
    fc.assert(
      fc.property(files, files, files, (base, theirs, ours) => {
        const { files: merged, conflicts } = merge(base, theirs, ours);
        for (const path of new Set([...Object.keys(base), ...Object.keys(theirs), ...Object.keys(ours)])) {
          const [before, there, here] = [base[path], theirs[path], ours[path]];
          expect(merged[path]).to.equal(there === before ? here : there);
          // What somebody wrote here is in force, or kept as a conflict.
          const isLost = here !== undefined && here !== before && merged[path] !== here;
          expect(conflicts.includes(path)).to.equal(isLost);
        }
      }),
    );
  });
});
