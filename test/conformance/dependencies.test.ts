import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { productRoot } from '../../lib/product/product-root.js';

const read = (name: string): string => readFileSync(new URL(name, productRoot()), 'utf8');

describe('docs/dependencies.md', () => {
  it('lists every package the product runs with, in the version of the lockfile', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    const listed = [...read('docs/dependencies.md').matchAll(/^\| ([@a-z/-]+) \| ([\d.]+), \d{4}-\d\d-\d\d \|/gm)];
    const expected = Object.keys(dependencies).map((name) => [name, packages[`node_modules/${name}`]?.version]);
    expect(listed.map(([, name, version]) => [name, version])).to.deep.equal(expected);
  });

  it('can say that the lockfile names no host', () => {
    expect(read('package-lock.json')).to.not.contain('"resolved"');
  });
});
