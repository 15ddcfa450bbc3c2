import { expect } from 'chai';
import fc from 'fast-check';
import { checkUploadedList, ListFormatError, parseListText } from '../../../../api/ruleset/list-text.js';

describe('text of a CDB list', () => {
  const lineOf = (work: () => unknown): number | undefined => {
    try {
      work();
      return undefined;
    } catch (error) {
      expect(error).to.be.instanceOf(ListFormatError);
      return (error as ListFormatError).line;
    }
  };

  it('has a key and a value a line, either of them quoted', () => {
    expect(parseListText('a:1\r\n"b:c":"d:e"\n"f":g\nh:"i:j"\nk:\n')).to.deep.equal([
      { key: 'a', value: '1' },
      { key: 'b:c', value: 'd:e' },
      { key: 'f', value: 'g' },
      { key: 'h', value: 'i:j' },
      { key: 'k', value: '' },
    ]);
    expect(parseListText('')).to.deep.equal([]);
    expect(parseListText('TEMPLATE\na:1')).to.deep.equal([{ key: 'a', value: '1' }]);
  });

  it('is refused with the line of what is none', () => {
    for (const bad of ['a', 'a:b:c', '', '"a:b', '"a":"b":"c"', '"']) {
      expect(
        lineOf(() => parseListText(`x:y\n${bad}\nz:z`)),
        bad,
      ).to.equal(2);
    }
    for (const bad of ['a', 'a:b:c', '', 'a b:c', ':b', '"a:b', '"a";b', 'a:b"', '"a\tb":c']) {
      expect(
        lineOf(() => checkUploadedList(`x:y\n${bad}\nz:z`)),
        bad,
      ).to.equal(2);
    }
    checkUploadedList('a:1\n"b:c d":"d:e"\n"f":g h\nh:"i:j"\nk:\nü:ö\n');
  });

  it('throws nothing else, and what may be stored can be read', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ':', '"', ' ', '\n', '\r', 'TEMPLATE', '-', 'ü') });
    fc.assert(
      fc.property(texts, (text) => {
        const stored = lineOf(() => checkUploadedList(text));
        const readable = lineOf(() => parseListText(text));
        if (stored === undefined) expect(readable).to.equal(undefined);
      }),
    );
  });
});
