import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { AnswerRests } from '../../../../api/cluster/answer-rests.js';
import { packAgents, unpackAgents, unpackBytes } from '../../../../api/cluster/packed-bytes.js';
import { MAX_ANSWER_PIECE } from '../../../../lib/bus/contracts/apid.js';

describe('answers for other nodes', () => {
  let now = 0;
  let rests: AnswerRests;
  beforeEach(() => {
    now = 0;
    rests = new AnswerRests(() => now);
  });

  it('are packed, and go whole in one message where they fit', async () => {
    const text = Buffer.from(
      JSON.stringify(Array.from({ length: 5000 }, (_none, index) => ({ name: `name ${index}` }))),
    );
    const pieces = await rests.pack(text);
    expect(pieces).to.include({ gzip: true, rest: null });
    expect(pieces.total).to.be.lessThan(text.length / 3);
    expect(await unpackBytes(pieces)).to.deep.equal(text);
    const short = await rests.pack(Buffer.from('{}'));
    expect(short).to.include({ gzip: false, total: 2, rest: null });
  });

  it('that are too large for one come in pieces, each once, and are forgotten in time', async () => {
    const bytes = randomBytes(2 * MAX_ANSWER_PIECE + 1000);
    const { gzip, bytes: first, total, rest } = await rests.pack(bytes);
    expect(first).to.have.length(MAX_ANSWER_PIECE);
    const all = [first];
    let at = first.length;
    while (at < total) {
      const piece = rests.piece(rest!, at);
      all.push(piece);
      at += piece.length;
    }
    expect(all).to.have.length(3);
    expect((await unpackBytes({ gzip, bytes: Buffer.concat(all) })).equals(bytes)).to.equal(true);
    expect(() => rests.piece(rest!, 0)).to.throw('not fetched in time');
    const again = await rests.pack(bytes);
    now += 61_000;
    expect(() => rests.piece(again.rest!, MAX_ANSWER_PIECE)).to.throw('not fetched in time');
  });

  it('do not fill the memory when nobody fetches them', async () => {
    const size = MAX_ANSWER_PIECE + 1000;
    const few = new AnswerRests(() => now, 2 * size);
    const names: string[] = [];
    for (let index = 0; index < 3; index += 1) names.push((await few.pack(randomBytes(size))).rest!);
    expect(() => few.piece(names[0]!, 0)).to.throw('not fetched in time');
    expect(few.piece(names.at(-1)!, 0)).to.have.length(MAX_ANSWER_PIECE);
  });

  it('are refused when they are no such bytes', async () => {
    let refused: unknown;
    await unpackBytes({ gzip: true, bytes: Buffer.from('no gzip') }).catch((error: unknown) => (refused = error));
    expect(refused).to.have.property('code', 'bad_params');
  });

  it('have ids of agents as numbers', () => {
    const ids = ['001', '999', '100000', '99999999'];
    expect(unpackAgents(packAgents(ids))).to.deep.equal(ids);
    expect(packAgents(ids)).to.have.length(16);
  });
});
