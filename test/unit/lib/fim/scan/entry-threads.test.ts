import { readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { EntryThreads } from '../../../../../lib/fim/scan/entry-threads.js';
import { eventually } from '../../../../support/eventually.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('threads that look at files', () => {
  const home = new TemporaryHome();
  after(() => {
    home.remove();
  });

  const threadsOfProcess = (): number => readdirSync('/proc/self/task').length;

  it('are there while there is something to read, and begin again after a rest', async () => {
    const path = home.path('tmp', 'file');
    writeFileSync(path, 'text');
    const before = threadsOfProcess();
    const threads = new EntryThreads({ maxFileBytes: 1024 }, 2);
    expect([threads.count, threadsOfProcess()]).to.deep.equal([2, before]);
    for (let turn = 0; turn < 2; turn += 1) {
      const outcomes = await Promise.all([threads.read([path], 0), threads.read([path], 0)]);
      expect(outcomes.flat().map(({ kind }) => kind)).to.deep.equal(['file', 'file']);
      expect(threadsOfProcess()).to.be.at.least(before + 2);
      threads.rest();
      await eventually('none is left', () => threadsOfProcess() === before);
    }
    const last = threads.read([path], 0);
    threads.rest();
    expect(
      (await last).map(({ kind }) => kind),
      'what is read is not broken off',
    ).to.deep.equal(['file']);
    await threads.close();
    expect(await threads.read([path], 0).catch((error: unknown) => error))
      .to.have.property('message')
      .that.includes('closed');
  });
});
