import { expect } from 'chai';
import { productVersion } from '../../../../lib/product/version.js';

describe('product version', () => {
  it('is read from package.json', () => {
    expect(productVersion()).to.match(/^\d+\.\d+\.\d+/);
  });
});
