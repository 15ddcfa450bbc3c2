import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';

// .ci/programs.mjs
describe('programs', () => {
  const directory = fileURLToPath(new URL('dist/programs/', productRoot()));
  const programs = readdirSync(directory).filter((file) => file.startsWith('svc-') && file.endsWith('.cjs'));
  const text = (file: string): string => readFileSync(`${directory}${file}`, 'latin1');

  it('take in of packages what they use: their text stays in memory', () => {
    expect(programs).to.include('svc-authd.cjs');
    for (const file of programs) expect(text(file), file).not.to.include('fromJSONSchema');
    expect(text('svc-authd.cjs').length, 'schemas alone were 400 kB').to.be.below(900_000);
  });

  it('have lines that a stack can point to', () => {
    for (const file of programs) {
      const lines = text(file).split('\n');
      expect(lines.length, file).to.be.above(lines.join('').length / 1000);
    }
  });
});
