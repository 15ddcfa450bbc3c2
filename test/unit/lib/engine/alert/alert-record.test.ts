import { expect } from 'chai';
import fc from 'fast-check';
import { AlertRecord } from '../../../../../lib/engine/alert/alert-record.js';
import { EscapedLogs } from '../../../../../lib/engine/alert/escaped-logs.js';
import { headerHostname } from '../../../../../lib/engine/predecode/header-hostname.js';

/** Any bytes, among them pieces of UTF-8 and what JSON escapes. */
const byteString = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.constantFrom('a', 'word', '"', '\\', '\n', '\0', '\x7f', '\xc3\xa9', '\xe2\x82', '\xac', '\xf0\x9f\x98\x80'),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

describe('alert record', () => {
  it('is the same whether its id comes early or late', () => {
    const part = fc.oneof(byteString, fc.constantFrom('id' as const, 'firedTimes' as const));
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        (parts, offset, times, isUtf8) => {
          const record = new AlertRecord(isUtf8);
          const id = `1774000000.${String(offset)}`;
          const seen = new Set<string>();
          let plain = '';
          for (const each of parts) {
            if (each === 'id' && !seen.has('id')) {
              record.addId();
              plain += id;
              seen.add('id');
            } else if (each === 'firedTimes' && !seen.has('firedTimes')) {
              record.addFiredTimes();
              plain += String(times);
              seen.add('firedTimes');
            } else {
              record.add(each);
              plain += each;
            }
          }
          const late = { id, firedTimes: String(times) };
          const { text, gaps } = record.open();
          let filled = '';
          let from = 0;
          for (const gap of gaps) {
            filled += text.slice(from, gap.at) + late[gap.late];
            from = gap.at;
          }
          const whole = record.complete(id, times);
          expect(filled + text.slice(from)).to.equal(whole);
          expect(record.open(), 'also when it was complete once').to.deep.equal({ text, gaps });
          const valid = Buffer.from(Buffer.from(plain, 'latin1').toString('utf8'), 'utf8').toString('latin1');
          expect(whole).to.equal(isUtf8 ? valid : plain);
        },
      ),
    );
  });

  it('can be completed more than once, in any order', () => {
    const records = [1, 2].map((number) => {
      const record = new AlertRecord(true);
      record.add(`${String(number)}: `);
      record.addId();
      record.add(' ');
      record.addFiredTimes();
      return record;
    });
    expect(records.toReversed().map((record) => record.complete('5.6', 7))).to.deep.equal(['2: 5.6 7', '1: 5.6 7']);
    expect(records.map((record) => record.complete('8.9', undefined))).to.deep.equal(['1: 8.9 0', '2: 8.9 0']);
  });
});

describe('escaped logs', () => {
  it('are what JSON.stringify writes, whatever was shown before', () => {
    fc.assert(
      fc.property(fc.array(byteString, { maxLength: 10 }), fc.array(fc.nat(9), { maxLength: 40 }), (logs, order) => {
        const escaped = new EscapedLogs();
        for (const index of order) {
          const log = logs[index] ?? '';
          // a copy is another object with the same text
          for (const each of [log, Buffer.from(log, 'latin1').toString('latin1')]) {
            expect(`"${escaped.of(each)}"`).to.equal(JSON.stringify(each));
            expect(JSON.parse(`"${escaped.of(each)}"`)).to.equal(log);
          }
        }
      }),
    );
  });

  it('stay right beyond every limit', () => {
    const escaped = new EscapedLogs();
    // more logs than places, more bytes than are kept, and logs too long for either
    for (let round = 0; round < 2; round += 1) {
      for (let i = 0; i < 3000; i += 1) {
        const log = `${'x'.repeat(5000)}"${String(i)}`;
        if (escaped.of(log) !== `${'x'.repeat(5000)}\\"${String(i)}`) expect.fail(`log ${String(i)}`);
      }
      const long = '"'.repeat(200_000);
      expect(escaped.of(long)).to.equal('\\"'.repeat(200_000));
    }
  });
});

describe('host name of a header', () => {
  it('is the word that the expression finds', () => {
    const expression = /^[A-Z][a-z][a-z] [ 0123][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] ([^ ]+)/;
    const header = fc.constantFrom('Mar  4 10:15:27 ', 'Dec 31 23:59:59 ', 'Mar  4 10:15:27', 'mar  4 10:15:27 ');
    const change = fc.tuple(fc.nat(17), fc.constantFrom('', ' ', ':', '0', '4', 'A', 'z', '\n', '\xe4'));
    fc.assert(
      fc.property(header, fc.option(change), byteString, (start, changed, rest) => {
        const [at, by] = changed ?? [99, ''];
        const log = start.slice(0, at) + by + start.slice(at + 1) + rest;
        expect(headerHostname(log)).to.equal(expression.exec(log)?.[1]);
      }),
      { numRuns: 2000 },
    );
  });
});
