import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { readVectors } from '../../support/read-vectors.js';

describe('the shipped ATT&CK table', () => {
  it('has the facts of the source, and its copyright line', () => {
    const shipped: unknown = JSON.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8'));
    expect(shipped).to.deep.equal(readVectors('attack.json'));
    expect(shipped).to.have.property('source').that.includes('(c) 2025 The MITRE Corporation.');
  });
});
