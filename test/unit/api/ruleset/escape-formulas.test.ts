import { expect } from 'chai';
import fc from 'fast-check';
import { escapeFormulas } from '../../../../api/ruleset/escape-formulas.js';
import { parseXml } from '../../../../lib/xml/parse-xml.js';

describe('formulas in a file', () => {
  const escaped = (text: string) => escapeFormulas(text, parseXml(text, 'x.xml', { bareLessThan: true }));

  it('get a quote in front when they hold one', () => {
    expect(escaped('<a><b>=x("y")</b><c>+\'z\'</c></a>')).to.equal("<a><b>'=x(\"y\")</b><c>'+'z'</c></a>");
    expect(escaped('<a>-"x" <b>@"y"</b></a>')).to.equal('<a>\'-"x" <b>\'@"y"</b></a>');
  });

  it('leave everything else as it is', () => {
    for (const text of [
      '<a>=1+1</a>',
      '<a> ="x"</a>',
      '<a b="=1">x"</a>',
      '<a/>',
      '<!-- <a>="x"</a> --><b>x</b>',
      '<a>x</a>="y"',
      '<a>=x<b c="d"></b></a>',
      '',
    ]) {
      expect(escaped(text)).to.equal(text);
    }
  });

  it('only ever add quotes', () => {
    const texts = fc.array(fc.constantFrom('<a>', '</a>', '=', '"', "'", 'x', '<b c="d">', '</b>', '<!-- ', ' -->'));
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('');
        let roots;
        try {
          roots = parseXml(text, 'x.xml', { bareLessThan: true });
        } catch {
          return;
        }
        const result = escapeFormulas(text, roots);
        expect(result.replaceAll("'", '')).to.equal(text.replaceAll("'", ''));
        parseXml(result, 'x.xml', { bareLessThan: true });
      }),
    );
  });
});
