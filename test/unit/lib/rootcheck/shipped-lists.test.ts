import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { entryLines } from '../../../../lib/groups/rootcheck-lists.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { readRootkitFiles, readTrojans } from '../../../../lib/rootcheck/rootcheck-lists.js';
import { runRootcheck } from '../../../../lib/rootcheck/run-rootcheck.js';
import { RootcheckTree } from '../../../support/syscheckd/rootcheck-kit.js';

describe('lists of rootcheck as shipped', () => {
  const shipped = (name: string) => fileURLToPath(new URL(`etc/rootcheck/${name}`, productRoot()));
  const lists = { rootkitFiles: shipped('rootkit_files.txt'), rootkitTrojans: shipped('rootkit_trojans.txt') };
  let tree: RootcheckTree;
  beforeEach(() => {
    tree = new RootcheckTree();
  });
  afterEach(() => {
    tree.remove();
  });

  it('are read to the last line', () => {
    const lines = (path: string) => [...entryLines(readFileSync(path, 'utf8'))].length;
    const { files, anywhere } = readRootkitFiles(tree.context(lists));
    expect(files.length + anywhere.size)
      .to.equal(lines(lists.rootkitFiles))
      .and.to.be.greaterThan(50);
    expect(readTrojans(tree.context(lists))).to.have.length(lines(lists.rootkitTrojans));
    expect(tree.notes).to.be.empty;
  });

  it('find what they name', async () => {
    tree.write('tmp/kinsing');
    tree.write('var/lib/x/.t0rn');
    tree.write('usr/bin/ps', 'strings\0/usr/src/.puta\0more');
    const found: string[] = [];
    await runRootcheck(
      tree.settings({ ...lists, checks: ['files', 'trojans', 'sys'] }),
      {
        finding: (text) => {
          found.push(text.replaceAll(tree.root, '%'));
          return Promise.resolve();
        },
        note: (_level, text) => {
          throw new Error(text);
        },
      },
      new AbortController().signal,
    );
    expect(found).to.have.length(3);
    expect(found[0]).to.equal("Rootkit 'Kinsing' detected by the presence of file '%/tmp/kinsing'.");
    expect(found[1]).to.match(/^Trojaned version of file '%\/usr\/bin\/ps' detected\..* \(hides processes\)\.$/);
    expect(found[2]).to.equal("Rootkit 'T0rn' detected by the presence of file '%/var/lib/x/.t0rn'.");
  });
});
