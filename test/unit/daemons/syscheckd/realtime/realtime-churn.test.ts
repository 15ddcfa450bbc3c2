import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../../../support/eventually.js';
import { RealtimeKit } from '../../../../support/syscheckd/realtime-kit.js';

const NAMES = ['a', 'b', 'c'];
const anyPath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const anyChange = fc.oneof(
  fc.record({ kind: fc.constantFrom('write', 'append', 'mkdir', 'remove', 'link'), path: anyPath, to: anyPath }),
  fc.record({ kind: fc.constant('rename'), path: anyPath, to: anyPath }),
  fc.record({ kind: fc.constantFrom('in', 'out'), path: anyPath, to: fc.constantFrom(...NAMES) }),
);

describe('real-time monitoring of a tree in turmoil', () => {
  let kit: RealtimeKit;
  beforeEach(() => (kit = new RealtimeKit()));
  afterEach(() => kit.remove());

  const change = ({ kind, path, to }: { kind: string; path: string; to: string }, content: string): void => {
    const here = kit.path('tree', path);
    switch (kind) {
      case 'write':
        kit.write(`tree/${path}`, content);
        break;
      case 'append':
        appendFileSync(here, content);
        break;
      case 'mkdir':
        mkdirSync(here, { recursive: true });
        break;
      case 'remove':
        rmSync(here, { recursive: true });
        break;
      case 'link':
        symlinkSync(content, here);
        break;
      case 'rename':
        renameSync(here, kit.path('tree', to));
        break;
      case 'in':
        renameSync(kit.path('outside', to), here);
        break;
      case 'out':
        renameSync(here, kit.path('outside', to));
    }
  };

  const filesBelow = (directory: string): string[] =>
    readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });

  it('has in the end what is there, and has told of each change of it', async function () {
    this.timeout(120_000);
    kit.make('tree');
    kit.make('outside');
    await kit.watch([['tree'], ['tree/a/b', { name: 'tags', value: ['inner'] }]]);
    await kit.scan();
    let count = 0;
    const turmoil = fc.asyncProperty(
      fc.array(fc.tuple(anyChange, fc.nat(2)), { minLength: 40, maxLength: 120 }),
      async (changes) => {
        for (const [one, pause] of changes) {
          try {
            change(one, String(++count));
          } catch {
            // There is nothing there, or something else: no change then.
          }
          if (pause === 0) await new Promise((resolve) => setTimeout(resolve, count % 8));
        }
        const files = filesBelow(kit.path('tree')).sort();
        await eventually(
          'all files are recorded as they are',
          async () => {
            await kit.realtime.idle();
            const rows = kit.recorder.files;
            return (
              [...rows.keys()].sort().join() === files.join() &&
              files.every((file) => {
                const found = lstatSync(file, { throwIfNoEntry: false });
                return found === undefined || rows.get(file)?.attributes.size === found.size;
              })
            );
          },
          60_000,
        ).catch((error: unknown) => {
          const rows = [...kit.recorder.files.keys()].sort();
          throw new Error(
            `${String(error)}: recorded ${rows.join()}, there are ${files.join()}; ${JSON.stringify(kit.realtime.status)}`,
          );
        });
        // What the events add up to is what is there: each path was told of and taken back in turn.
        const told = new Set<string>();
        for (const event of kit.recorder.events) {
          const [type = '', path = ''] = event.split(' ');
          expect(told.has(path), event).to.equal(type !== 'added');
          if (type === 'added') told.add(path);
          if (type === 'deleted') told.delete(path);
        }
        expect([...told].sort()).to.deep.equal(files);
      },
    );
    await fc.assert(turmoil, { numRuns: 15, endOnFailure: true });
    expect(kit.failures).to.deep.equal([]);
    for (const name of readdirSync(kit.path('tree'))) rmSync(kit.path('tree', name), { recursive: true });
    await eventually('all is gone', () => kit.recorder.files.size === 0);
    // Nothing is watched any more but the tree, and names in it and in what leads to it.
    const most = kit.path('tree').split('/').length + 1;
    await eventually('the watches are ended', () => kit.realtime.status.watches <= most);
    kit.write('tree/a/b/c/a');
    await eventually('it goes on', () => kit.recorder.files.has(kit.path('tree/a/b/c/a')));
    unlinkSync(kit.path('tree/a/b/c/a'));
    await eventually('it goes on', () => kit.recorder.files.size === 0);
  });
});
