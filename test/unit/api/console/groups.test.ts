import { expect } from 'chai';
import { Failure } from '../../../../api/console/browser/client/failure.js';
import { sendInParts } from '../../../../api/console/browser/client/send-in-parts.js';
import { tellFailed } from '../../../../api/console/browser/client/tell-failed.js';
import { isDone, rolloutOf } from '../../../../api/console/browser/pages/groups/rollout.js';

describe('groups in the console', () => {
  it('counts who has the files, and who cannot have them now', () => {
    const rollout = rolloutOf([
      { status: 'active', group_config_status: 'synced', count: 5 },
      { status: 'active', group_config_status: 'not synced', count: 2 },
      { status: 'disconnected', group_config_status: 'not synced', count: 3 },
      { status: 'disconnected', group_config_status: 'synced', count: 1 },
    ]);
    expect(rollout).to.deep.equal({ total: 11, synced: 6, away: 3 });
    expect(isDone(rollout)).to.equal(false);
    expect(isDone({ total: 4, synced: 1, away: 3 })).to.equal(true);
    expect(isDone(rolloutOf([]))).to.equal(true);
  });

  describe('changing many agents', () => {
    const ids = Array.from({ length: 2500 }, (_none, index) => String(index));
    type Api = Parameters<typeof sendInParts>[0];
    const answering = (answer: (part: readonly string[]) => readonly string[]) => {
      const sizes: number[] = [];
      const api = {
        send: (_method: string, _path: string, { params }: { params: { agents_list: readonly string[] } }) => {
          const part = params.agents_list;
          sizes.push(part.length);
          const done = answer(part);
          return Promise.resolve({
            affected_items: done,
            total_affected_items: done.length,
            failed_items: [],
            total_failed_items: 0,
          });
        },
      };
      return [api as unknown as Api, sizes] as const;
    };

    it('goes in parts that a URL can hold', async () => {
      const [api, sizes] = answering((part) => part);
      const { total_affected_items: total } = await sendInParts(api, 'PUT', '/x', ['agents_list', ids]);
      expect([total, sizes]).to.deep.equal([2500, [1000, 1000, 500]]);
    });

    it('goes on where a part was refused, and fails where nothing could be done', async () => {
      const refuse = (text: string, status: number) => () => {
        throw new Failure(text, { status });
      };
      const [api] = answering((part) => (part[0] === '0' ? refuse('none', 200)() : part));
      const result = await sendInParts(api, 'PUT', '/x', ['agents_list', ids]);
      expect([result.total_affected_items, result.total_failed_items]).to.deep.equal([1500, 1000]);
      expect(result.failed_items.map(({ error }) => error.message)).to.deep.equal(['none']);
      const failing = async (status: number) => {
        const [other, sizes] = answering(refuse('words', status));
        const error = await sendInParts(other, 'PUT', '/x', ['agents_list', ids]).catch(String);
        return [error, sizes.length];
      };
      expect(await failing(200)).to.deep.equal(['Failure: words', 3]);
      expect(await failing(0)).to.deep.equal(['Failure: words', 1]);
    });

    it('says what was done where the server goes away in between, and of each why not', async () => {
      const failed = [{ error: { code: 1701, message: 'gone' }, id: ['0', '1'] }];
      const [api, sizes] = answering((part) => {
        if (part[0] === '0') throw new Failure('gone', { status: 200, failed });
        if (part[0] === '2000') throw new Failure('away', { status: 0 });
        return part;
      });
      const result = await sendInParts(api, 'PUT', '/x', ['agents_list', ids]);
      expect(result.failed_items.map(({ error, id }) => [error.message, id.length])).to.deep.equal([
        ['gone', 2],
        ['away', 500],
      ]);
      expect([result.total_affected_items, sizes]).to.deep.equal([1000, [1000, 1000, 500]]);
      const told: string[] = [];
      tellFailed({ failed: (text: string) => told.push(text) } as unknown as Parameters<typeof tellFailed>[0], result);
      expect(told[0]).to.match(/^502 could not be done: gone \(0, 1\) away \(2000, .*2019, …\)$/);
    });
  });
});
