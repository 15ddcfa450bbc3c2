import { expect } from 'chai';
import { Failure } from '../../../../api/console/browser/client/failure.js';
import { sendInParts } from '../../../../api/console/browser/client/send-in-parts.js';
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
      expect((await sendInParts(api, 'PUT', '/x', ['agents_list', ids])).total_affected_items).to.equal(1500);
      const failing = async (status: number) => {
        const [other, sizes] = answering(refuse('words', status));
        const error = await sendInParts(other, 'PUT', '/x', ['agents_list', ids]).catch(String);
        return [error, sizes.length];
      };
      expect(await failing(200)).to.deep.equal(['Failure: words', 3]);
      expect(await failing(0)).to.deep.equal(['Failure: words', 1]);
    });
  });
});
