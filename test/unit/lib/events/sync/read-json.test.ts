import { expect } from 'chai';
import fc from 'fast-check';
import { readJson } from '../../../../../lib/events/sync/read-json.js';

const BACKSLASH = '\\';
const QUOTE = '"';

describe('messages as JSON', () => {
  const read = (text: string): unknown => readJson(Buffer.from(text))?.value;

  it('have long numbers as texts, those within strings as they are', () => {
    const texts = { b: `[1234567890123456${BACKSLASH}`, c: `${QUOTE}[1234567890123456` };
    const text = JSON.stringify({ a: 77, ...texts, d: [88] });
    expect(read(text.replace('77', '1234567890123456').replace('88', '-1234567890123456'))).to.deep.equal({
      ...{ a: '1234567890123456', ...texts, d: ['-1234567890123456'] },
    });
  });

  it('are read as ever where no number is long', () => {
    const name = fc.string().filter((text) => text !== '__proto__');
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.dictionary(name, value), (members) => {
        const whole = JSON.stringify({ ...members, inode: 77_777_777_777 });
        const text = whole.replace('77777777777', '18446744073709551615');
        expect(read(text)).to.deep.equal(JSON.parse(whole.replace('77777777777', '"18446744073709551615"')));
      }),
    );
  });

  it('take no time when a string has no end', () => {
    for (const end of ['', BACKSLASH, 'x', '\n']) {
      const text = `{"a":1234567890123456,"b":"${(BACKSLASH + QUOTE).repeat(32_000)}${end}`;
      const before = performance.now();
      expect(read(text)).to.equal(undefined);
      // Looked for behind each quotation mark it takes seconds.
      expect(performance.now() - before).to.be.lessThan(300);
    }
  });
});
