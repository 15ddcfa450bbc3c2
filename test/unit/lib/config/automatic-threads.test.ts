import { expect } from 'chai';
import { automaticThreads } from '../../../../lib/config/sections/analysis.js';

const GIGABYTE = 2 ** 30;

describe('threads of the analysis by themselves', () => {
  it('are as many as cores, as far as a quarter of the memory has room for them', () => {
    expect(automaticThreads(4, 16 * GIGABYTE)).to.equal(4);
    expect(automaticThreads(16, 4 * GIGABYTE)).to.equal(6);
    expect(automaticThreads(8, GIGABYTE / 2)).to.equal(1);
    expect(automaticThreads(128, 1024 * GIGABYTE)).to.equal(64);
  });
});
