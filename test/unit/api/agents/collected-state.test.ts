import { expect } from 'chai';
import { collectedState } from '../../../../api/agents/collected-state.js';
import { parseAnswer } from '../../../../api/daemons/agent-answer.js';

/** Asks an agent that gives these answers one after the other. */
async function read(...answers: string[]): Promise<{ state: unknown; commands: string[] }> {
  const commands: string[] = [];
  const state = await collectedState((command) => {
    const answer = answers[Math.min(commands.length, answers.length - 1)] ?? '';
    commands.push(command);
    return Promise.resolve(parseAnswer(answer));
  });
  return { state, commands };
}
const page = (file: string, remaining: boolean, updated = false): string =>
  JSON.stringify({ error: 0, remaining, json_updated: updated, data: { global: { end: file, files: [file] } } });

describe('the state of an agent', () => {
  it('is asked for once when the agent says nothing of more', async () => {
    const { state, commands } = await read('{"error":0,"data":{"status":"connected"}}');
    expect(state).to.deep.equal({ status: 'connected' });
    expect(commands).to.deep.equal(['getstate']);
  });

  it('is put together of its pages', async () => {
    const { state, commands } = await read(page('a', true), page('b', true), page('c', false));
    expect(state).to.deep.equal({ global: { end: 'a', files: ['a', 'b', 'c'] } });
    expect(commands).to.deep.equal(['getstate', 'getstate next', 'getstate next']);
  });

  it('is begun anew when it changed between them, and taken as it comes in the end', async () => {
    const anew = await read(page('a', true), page('b', true, true), page('c', true), page('d', false));
    expect(anew.state).to.deep.equal({ global: { end: 'c', files: ['c', 'd'] } });
    expect(anew.commands).to.deep.equal(['getstate', 'getstate next', 'getstate', 'getstate next']);
    const always = await read(...Array.from({ length: 3 }, () => [page('a', true), page('b', false, true)]).flat());
    expect(always.state).to.deep.equal({ global: { end: 'a', files: ['a', 'b'] } });
  });

  it('is none of an agent that refuses or has no end', async () => {
    expect((await read('err Too many requests')).state).to.equal(undefined);
    expect((await read(page('a', true), 'err There is no next page')).state).to.equal(undefined);
    const endless = await read(page('a', true));
    expect(endless.state).to.equal(undefined);
    expect(endless.commands.length).to.equal(3 * 64);
  });

  it('may be anything', async () => {
    const odd = JSON.stringify({
      error: 0,
      remaining: false,
      data: { global: [1], interval: { files: 'x' }, more: 1 },
    });
    expect((await read(page('a', true), odd)).state).to.deep.equal({ global: { end: 'a', files: ['a'] } });
  });
});
