import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ifPresent, ifPresentSync } from '../../../../lib/files/if-present.js';

describe('looking at what may not be there', () => {
  const absent = join(tmpdir(), 'svc-nothing-of-this-name', 'x');

  it('finds what is there', async () => {
    expect(await ifPresent(() => Promise.resolve(''))).to.equal('');
    expect(ifPresentSync(() => 0)).to.equal(0);
  });

  it('is undefined when there is nothing', async () => {
    expect(await ifPresent(() => readFile(absent))).to.equal(undefined);
    expect(ifPresentSync(() => readFileSync(absent))).to.equal(undefined);
  });

  it('fails as the look does otherwise', async () => {
    const error = await ifPresent(() => readFile(tmpdir())).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'EISDIR');
    expect(() => ifPresentSync(() => readFileSync(tmpdir())))
      .to.throw()
      .with.property('code', 'EISDIR');
  });
});
