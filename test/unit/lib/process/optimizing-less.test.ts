import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { optimizingLess } from '../../../../lib/process/optimizing-less.js';

const MODULE = new URL('../../../../lib/process/optimizing-less.js', import.meta.url);

describe('work for which V8 optimizes less', () => {
  it('gives and throws what it does, also within other such work', () => {
    expect(optimizingLess(() => optimizingLess(() => 'done'))).to.equal('done');
    expect(() =>
      optimizingLess(() => {
        throw new Error('not done');
      }),
    ).to.throw('not done');
  });

  it('has flags that this version of V8 knows, and functions behind it are optimized as ever', () => {
    const script = `
      const { optimizingLess } = await import(${JSON.stringify(MODULE.href)});
      const isOptimized = (work) => (%GetOptimizationStatus(work) & 0x10) !== 0;
      const busy = (work) => { for (let i = 0; i < 3000; i += 1) work(i); };
      const sum = () => (count) => { let all = 0; for (let i = 0; i < 40; i += 1) all += i ^ count; return all; };
      const [during, behind] = [sum(), sum()];
      optimizingLess(() => busy(during));
      for (let left = 200; left > 0 && !isOptimized(behind); left -= 1) { busy(behind); await new Promise(setImmediate); }
      console.log(isOptimized(behind));`;
    const args = ['--allow-natives-syntax', '--input-type=module', '-e', script];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ stdout, stderr, status }).to.deep.equal({ stdout: 'true\n', stderr: '', status: 0 });
  });
});
