import { expect } from 'chai';
import { type ListResult, listResult } from '../../../../api/http/envelope.js';
import { jsonText } from '../../../../api/http/json-text.js';
import { KeptBytes } from '../../../../api/http/kept-bytes.js';

const MESSAGES = { all: 'All [of "them"]', some: '-', none: 'None' };

describe('KeptBytes', () => {
  const line = (items: ListResult['items'], kept: KeptBytes) => {
    const result = listResult({ items, total: items.length, messages: MESSAGES, kept });
    if (result.kind !== 'json' || result.line === undefined) throw new Error('nothing is kept of it');
    return { text: result.line().toString(), plain: jsonText(result.body, false) };
  };

  it('make the same line of a list as writing it anew, whatever it holds', () => {
    const kept = new KeptBytes();
    for (const items of [
      [],
      ['text, "quoted"', 7, null],
      [{ name: 'Ünïcode [\u2028] 😀', list: [1, []] }],
      [{}, [], { a: { b: '\n' } }],
    ]) {
      const { text, plain } = line(items, kept);
      expect(text).to.equal(plain);
    }
  });

  it('write an item once', () => {
    const kept = new KeptBytes();
    const item = { name: 'before' };
    const { text } = line([item], kept);
    item.name = 'after';
    expect(line([item], kept).text).to.equal(text);
    expect(kept.of(item)).to.equal(kept.of(item));
    expect(kept.of({ ...item }).toString()).to.equal('{"name": "after"}');
  });
});
