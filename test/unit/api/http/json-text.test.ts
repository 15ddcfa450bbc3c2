import { expect } from 'chai';
import fc from 'fast-check';
import { jsonLine, jsonText } from '../../../../api/http/json-text.js';

/** rest-api.md 1.4, said in another way: what is indented by one blank, put on one line. */
function byLines(value: unknown): string {
  const text = JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '');
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// rest-api.md 1.4.
describe('JSON of an answer', () => {
  it('is one line with a blank behind each separator, in ASCII', () => {
    expect(jsonText({ a: [1, 'x,y: "z"\\', {}], ü: null, left: undefined }, false)).to.equal(
      '{"a": [1, "x,y: \\"z\\"\\\\", {}], "\\u00fc": null}',
    );
    expect(jsonText([{ a: 1 }], true)).to.equal('[\n   {\n      "a": 1\n   }\n]');
  });

  it('is that of any value, also in bytes', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\\":,{}[\]\n é]*$/));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        const expected = byLines(one);
        expect(jsonLine(one).toString()).to.equal(expected);
        expect(jsonText(one, false)).to.equal(expected);
      }),
    );
  });
});
