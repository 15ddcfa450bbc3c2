import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type JobOptions, runInThread } from '../../../../lib/thread/run-in-thread.js';
import type { TryingWork } from '../../../support/thread/trying-job.js';

const MODULE = new URL('../../../support/thread/trying-job.js', import.meta.url);

describe('work in a thread', () => {
  const run = (text: string, options: Partial<JobOptions<TryingWork, string, string>> = {}): Promise<unknown> =>
    runInThread<TryingWork, string, string>(MODULE, { text }, { title: 'its thread', ...options }).catch(
      (error: unknown) => error,
    );

  it('is done, and what it says on the way is heard', async () => {
    const news: string[] = [];
    expect(await run('sums', { onNews: (text) => void news.push(text) })).to.equal('done: sums');
    expect(news).to.deep.equal(['begun: sums']);
  });

  it('fails with the message and code of what was thrown', async () => {
    expect(await run('throw'))
      .to.be.instanceOf(TypeError)
      .and.include({ message: 'no such work', code: 'no_work' });
  });

  it('fails when the thread ends', async () => {
    expect(await run('exit')).to.include({ code: 'thread_ended', exitCode: 3, message: 'its thread ended' });
  });

  it('is given up when it takes too long', async () => {
    const error = await run('hang', { mostMs: 300 });
    expect(error).to.include({ code: 'thread_deadline', message: 'its thread took more than 0.3 s', isLeft: false });
  });

  it('is left behind in a call that does not return, and it is said', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-thread-'));
    try {
      const pipe = join(directory, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const error = await run(`read ${pipe}`, { mostMs: 300 });
      expect(error).to.include({ code: 'thread_deadline', isLeft: true });
      // Somebody writes at last: the thread ends.
      closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('is called off, before it begins and while it runs', async () => {
    const reason = new Error('nobody waits');
    expect(await run('sums', { signal: AbortSignal.abort(reason) })).to.equal(reason);
    const controller = new AbortController();
    const running = run('sums', {
      signal: controller.signal,
      onNews: () => {
        controller.abort(reason);
        return new Promise(() => {});
      },
    });
    expect(await running).to.equal(reason);
  });
});
