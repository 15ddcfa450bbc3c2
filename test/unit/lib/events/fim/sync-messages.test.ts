import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { FIM_COMPONENTS } from '../../../../../lib/events/fim/fim-component.js';
import { syncMessage } from '../../../../../lib/events/fim/fim-messages.js';
import { RangeHash } from '../../../../../lib/events/sync/range-hash.js';
import { readJson } from '../../../../../lib/events/sync/read-json.js';
import { readSyncAnswer } from '../../../../../lib/events/sync/read-sync-answer.js';
import { readSyncCheck } from '../../../../../lib/events/sync/read-sync-check.js';
import { syncAnswer } from '../../../../../lib/events/sync/sync-answer.js';

/** Paths are byte strings: some are no UTF-8. */
const path = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const checksum = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const id = fc.integer({ min: 1, max: 2 ** 40 });
const component = fc.constantFrom(...FIM_COMPONENTS);
const verb = fc.constantFrom('no_data' as const, 'checksum_fail' as const);

/** A check as it goes over the wire, and as it is read there. */
function sent(name: (typeof FIM_COMPONENTS)[number], check: Parameters<typeof syncMessage>[1]) {
  const message = readJson(Buffer.from(syncMessage(name, check), 'latin1'));
  if (message === undefined) throw new Error('the message is no JSON');
  return message;
}

describe('messages of the synchronisation', () => {
  it('are read as they were written, whatever bytes the paths have', () => {
    fc.assert(
      fc.property(component, path, path, path, checksum, id, (name, begin, end, tail, sum, number) => {
        const check = { begin, end, checksum: sum, id: number };
        const bytes = (text: string) => Buffer.from(text, 'latin1');
        for (const type of ['integrity_check_global', 'integrity_check_right'] as const) {
          const read = readSyncCheck(type, sent(name, { type, check }));
          expect(read).to.deep.equal({
            type,
            begin: bytes(begin),
            end: bytes(end),
            tail: undefined,
            checksum: sum,
            id: number,
          });
        }
        const left = 'integrity_check_left';
        const read = readSyncCheck(left, sent(name, { type: left, check: { ...check, tail } }));
        expect(read).to.deep.include({ type: left, tail: bytes(tail) });
      }),
    );
  });

  it('get an answer that names the same range', () => {
    fc.assert(
      fc.property(component, verb, path, path, checksum, id, (name, answer, begin, end, sum, number) => {
        const type = 'integrity_check_left';
        const message = sent(name, { type, check: { begin, end, checksum: sum, id: number, tail: end } });
        const text = syncAnswer(name, answer, message).toString('latin1');
        const prefix = `${name} dbsync ${answer} `;
        expect(text.startsWith(prefix)).to.equal(true);
        expect(text).not.to.include('tail');
        expect(readSyncAnswer(answer, text.slice(prefix.length))).to.deep.equal({
          verb: answer,
          begin,
          end,
          id: number,
        });
      }),
    );
  });

  it('refuse a check without what it needs', () => {
    const read = (data: object) => {
      const message = readJson(Buffer.from(JSON.stringify({ data })));
      return message === undefined ? undefined : readSyncCheck('integrity_check_left', message);
    };
    expect(read({})).to.equal('Cannot perform range checksum: no id');
    expect(read({ id: 1, begin: 'a', end: 'b' })).to.equal('Cannot perform range checksum: no begin, end or checksum');
    expect(read({ id: 1, begin: 'a', end: 'b', checksum: 'c' })).to.equal(
      'Cannot perform range checksum: a left check without tail',
    );
  });

  it('sum a range as the SHA1 of its checksums one behind the other', () => {
    fc.assert(
      fc.property(fc.array(checksum, { maxLength: 700 }), (sums) => {
        const hash = new RangeHash();
        for (const sum of sums) hash.add(sum);
        expect(hash.rows).to.equal(sums.length);
        expect(hash.digest()).to.equal(createHash('sha1').update(sums.join('')).digest('hex'));
      }),
      { numRuns: 20 },
    );
  });
});
