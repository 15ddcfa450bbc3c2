import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
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

  it('are compiled for the flags of Node that daemons are started with', () => {
    const refused = `
      const [directory, name] = process.argv.slice(1);
      const compiled = require('node:fs').readFileSync(directory + name + '.compiled');
      console.log(require(directory + 'program-loader.cjs').compileProgram(name, compiled).cachedDataRejected);
    `;
    for (const name of ['svc-execd', 'svc-syscheckd'] as const) {
      const flags = productCatalogue().program(name)?.args.slice(0, -1) ?? [];
      expect(flags, name).to.have.length(name === 'svc-syscheckd' ? 2 : 0);
      const said = execFileSync(process.execPath, [...flags, '-e', refused, directory, name], { encoding: 'utf8' });
      expect(said.trim(), name).to.equal('false');
    }
  });
});
