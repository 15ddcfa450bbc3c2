import { expect } from 'chai';
import { type AskThread, countPieces } from '../../../../../daemons/db/alerts/alert-pieces.js';
import { readQuery } from '../../../../../daemons/db/alerts/question-node.js';
import { parseSearch } from '../../../../../daemons/db/alerts/search-terms.js';
import { QueryError } from '../../../../../lib/query/query-error.js';

describe('Limits of what is asked of alerts', () => {
  const refused = (q: string): number | undefined => {
    try {
      readQuery(q, 0);
    } catch (error) {
      if (error instanceof QueryError) return error.code;
      throw error;
    }
    return undefined;
  };

  it('refuse a query that would hold everybody else up', () => {
    const clauses = (count: number) => Array.from({ length: count }, () => 'location=x').join(',');
    expect(refused(clauses(64))).to.equal(undefined);
    expect(refused(clauses(65))).to.equal(1407);
    expect(refused(`location=${"'".repeat(32)}`)).to.equal(undefined);
    expect(refused(`location=${"'".repeat(33)}`)).to.equal(1407);
    expect(refused('timestamp~2026')).to.equal(1409);
    expect(refused('timestamp>2026-01-01')).to.equal(undefined);
  });

  it('look for few words of one value, and of one term', () => {
    const sentence = Array.from({ length: 50 }, (_none, index) => `word${index}`).join(' ');
    const node = readQuery(`full_log=${sentence}`, 0);
    expect(node?.kind === 'field' ? node.words?.map((words) => words.length) : undefined).to.deep.equal([8]);
    expect(parseSearch(`"${sentence}" two "one two"`).map(({ hashes }) => hashes.length)).to.deep.equal([8, 1, 2]);
  });

  it('keep values that somebody wrote into a log from filling memory', async () => {
    const values = new Map<string, number>([['long'.repeat(1000), 9]]);
    for (let number = 0; number < 20_000; number += 1) values.set(`${number}-${'x'.repeat(900)}`, 1);
    values.set('often', 5);
    const counts = { total: 1, missing: 0, buckets: new Float64Array(0), series: [], values };
    const ask = (() => Promise.resolve({ counts, next: undefined })) as unknown as AskThread;
    const counted = await countPieces(ask, { scope: {}, now: 0 }, {}, Infinity);
    const characters = [...counted.values.keys()].reduce<number>((sum, value) => sum + String(value).length, 0);
    expect(characters).to.be.at.most(4 * 1024 ** 2);
    expect(counted.isExact).to.equal(false);
    expect(counted.values.get('often')).to.equal(5);
    expect(counted.values.has('long'.repeat(1000))).to.equal(false);
  });
});
