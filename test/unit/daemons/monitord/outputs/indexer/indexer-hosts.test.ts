import { expect } from 'chai';
import { IndexerHosts } from '../../../../../../daemons/monitord/outputs/indexer/indexer-hosts.js';
import { RecordingLogger } from '../../../../../support/recording-logger.js';

const GREEN = { status: 200, text: '[{"status":"green"}]' };
const WRONG_PASSWORD = { status: 401, text: 'Unauthorized' };

describe('hosts of a search engine', () => {
  const { signal } = new AbortController();

  function hosts(answer: () => { readonly status: number; readonly text: string }, ...names: string[]) {
    const state = { now: 1000, stamp: 'a' };
    const asked: string[] = [];
    const made = new IndexerHosts({
      hosts: names,
      health: (host) => {
        asked.push(host);
        return Promise.resolve(answer());
      },
      logger: new RecordingLogger(),
      stamp: () => state.stamp,
      now: () => state.now,
    });
    const refusal = () =>
      made.take(signal).then(
        () => undefined,
        (error: Error) => error.message,
      );
    return { made, asked, state, refusal };
  }

  it('are not asked with a wrong password for a minute, or until there is another one', async () => {
    const { asked, state, refusal } = hosts(() => WRONG_PASSWORD, 'https://a:9200');
    expect(await refusal()).to.match(
      /^No available server: https:\/\/a:9200: 401 .*\(name or password is not right\)$/,
    );
    state.now += 59_000;
    await refusal();
    expect(asked).to.have.length(1);
    state.stamp = 'b';
    await refusal();
    expect(asked).to.have.length(2);
    state.now += 59_000;
    await refusal();
    expect(asked).to.have.length(2);
    state.now += 2000;
    await refusal();
    expect(asked).to.have.length(3);
  });

  it('that are red are asked again after longer and longer pauses, up to a minute', async () => {
    const { asked, state, refusal } = hosts(() => ({ status: 200, text: '[{"status":"red"}]' }), 'https://a:9200');
    const times: number[] = [];
    for (const begun = state.now; state.now - begun < 300_000; state.now += 500) {
      const before = asked.length;
      expect(await refusal()).to.include("its health is 'red'");
      if (asked.length > before) times.push((state.now - begun) / 1000);
    }
    expect(times).to.deep.equal([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  });

  it('take turns, and one that did not answer is left out until it does', async () => {
    const { made, state } = hosts(() => GREEN, 'https://a:9200', 'https://b:9200');
    const taken = [await made.take(signal), await made.take(signal), await made.take(signal)];
    expect(taken).to.deep.equal(['https://a:9200', 'https://b:9200', 'https://a:9200']);
    made.failed('https://b:9200', 'it broke');
    expect([await made.take(signal), await made.take(signal)]).to.deep.equal(['https://a:9200', 'https://a:9200']);
    expect(made.available).to.equal(1);
    state.now += 1000;
    const later = [await made.take(signal), await made.take(signal)];
    expect(later).to.include('https://b:9200');
  });
});
