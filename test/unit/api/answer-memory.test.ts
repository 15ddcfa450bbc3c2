import { expect } from 'chai';
import { AnswerMemory } from '../../../api/http/answer-memory.js';
import { type ApiResult, messageResult } from '../../../api/http/envelope.js';

const MEGABYTE = 1024 * 1024;

describe('remembered answers', () => {
  it('do not fill the memory, the oldest go first', async () => {
    const memory = new AnswerMemory(() => 0);
    const worked: string[] = [];
    const ask = (key: string, bytes: number): Promise<ApiResult> =>
      memory.answer(key, key, () => {
        worked.push(key);
        return Promise.resolve(messageResult('x'.repeat(bytes)));
      });
    await ask('small', 10);
    for (let count = 0; count < 40; count += 1) await ask(`large ${String(count)}`, MEGABYTE);
    worked.length = 0;
    for (let count = 39; count >= 30; count -= 1) await ask(`large ${String(count)}`, MEGABYTE);
    expect(worked).to.deep.equal([]);
    await ask('small', 10);
    await ask('large 0', MEGABYTE);
    expect(worked).to.deep.equal(['small', 'large 0']);
  });
});
