import { expect } from 'chai';
import fc from 'fast-check';
import { parseXml, type XmlOptions } from '../../../../lib/xml/parse-xml.js';
import type { XmlElement } from '../../../../lib/xml/xml-element.js';
import { XmlError } from '../../../../lib/xml/xml-error.js';

/** Compact picture of the elements: name, attributes, content, children. */
function picture(elements: readonly XmlElement[]): unknown[] {
  return elements.map(({ name, attributes, content, children }) => [
    name,
    ...(attributes.length > 0 ? [Object.fromEntries(attributes.map((a) => [a.name, a.value]))] : []),
    content,
    ...(children.length > 0 ? [picture(children)] : []),
  ]);
}

function read(text: string, options?: XmlOptions): unknown {
  try {
    return picture(parseXml(text, 'f.xml', options));
  } catch (error) {
    if (error instanceof XmlError) {
      return `${error.message} (line ${String(error.line)})`;
    }
    throw error;
  }
}

describe('parseXml', () => {
  const rows: [string, unknown][] = [
    ['<a>1</a><b>2</b>', [['a', '1'], ['b', '2']]], // oxfmt-ignore
    ['<a> x &lt; &amp; y </a>', [['a', ' x &lt; &amp; y ']]],
    ['<a>x > y</a>', [['a', 'x > y']]],
    ['<a>x < y</a>', "XMLERR: Attribute 'y<' has no value. (line 1)"],
    ['<a>x \\< y</a>', [['a', 'x \\< y']]],
    ['<a b= "1">x</a>', [['a', { b: '1' }, 'x']]],
    ['<a b = "1">x</a>', "XMLERR: Attribute 'b' has no value. (line 1)"],
    ['<a b="1"c="2">', "XMLERR: Bad attribute closing for 'b'='1'. (line 1)"],
    ['<a b="x > y">t</a>', "XMLERR: Attribute 'b' not closed. (line 1)"],
    ['<a b=1>', "XMLERR: Attribute 'b' not followed by a \" or '. (line 1)"],
    ['<a b="1" b="2">', "XMLERR: Attribute 'b' already defined. (line 1)"],
    ['<a></b>', "XMLERR: Element 'a' not closed. (line 1)"],
    ['</a>', 'XMLERR: Element not opened. (line 1)'],
    ['<a>', 'XMLERR: End of file and some elements were not closed. (line 1)'],
    ['<a>1<!-- no end </a>', 'XMLERR: Comment not closed. (line 1)'],
    ['<!-- c --><a><!-- x --- y -->1</a><!c!><b>3</b>', [['a', '1'], ['b', '3']]], // oxfmt-ignore
    ['<a><![CDATA[ x ]]></a>', 'XMLERR: Comment not closed. (line 1)'],
    ['', []],
    [' \n<!-- x -->\n', []],
    ['<a>q<!-- c -->r</a>', [['a', 'qr']]],
    ['<a/>', [['a', '']]],
    ['<a b="1"/>', [['a', { b: '1' }, '']]],
    ['<a />', [['a', '']]],
    ['<a b="1" / >', "XMLERR: Element 'a' not closed. (line 1)"],
    ['<a></a >', "XMLERR: Element 'a' not closed. (line 1)"],
    ['<a></ a>', "XMLERR: Element 'a' not closed. (line 1)"],
    ['<a></A>', "XMLERR: Element 'a' not closed. (line 1)"],
    ['<a>\\\\<b></b></a>', [['a', '', [['b', '']]]]],
    ['<a>\\<!-- c -->x</a>', [['a', '\\x']]],
    ['<a>one<b>x</b>two</a>', [['a', 'two', [['b', 'x']]]]],
    ['<a b=\'it"s\' c="it\'s\n2">x</a>', [['a', { b: 'it"s', c: "it's\n2" }, 'x']]],
    ['<?xml version="1.0"?>', "XMLERR: Bad attribute closing for 'version'='1.0'. (line 1)"],
    ['<!DOCTYPE x><a>1</a><! !><b>2</b>', [['b', '2']]],
    ['stray <a>1</a> text \\<x> more', [['a', '1']]],
    ['<a\n  b="1"\n  c="2">3</a>', [['a', { b: '1', c: '2' }, '3']]],
    ['<a', 'XMLERR: End of file and some elements were not closed. (line 1)'],
    ['<a b="1', 'XMLERR: End of file while reading an attribute. (line 1)'],
    ['<a<!-- c -->b>1</ab>', [['ab', '1']]],
    ['<a><b><c/></b></a>', [['a', '', [['b', '', [['c', '']]]]]]],
    ['<a><b c="1"/></a>', [['a', '', [['b', { c: '1' }, '']]]]],
  ];
  for (const [text, expected] of rows) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(read(text)).to.deep.equal(expected);
    });
  }

  it('names the line of an error and of every element', () => {
    expect(read('<a>\n1\n</b>')).to.equal("XMLERR: Element 'a' not closed. (line 3)");
    expect(read('<a>\n<b>1</b>\n\n<c d=1></c>')).to.match(/\(line 4\)$/);
    expect(read('<a>\n\n')).to.equal('XMLERR: End of file and some elements were not closed. (line 3)');
    const roots = parseXml('<x/>\n\n<a>\n <b/>\n <c>\n</c></a>', 'f');
    expect(roots.map((r) => r.line)).to.deep.equal([1, 3]);
    expect(roots[1]!.children.map((r) => r.line)).to.deep.equal([4, 5]);
  });

  it('gives the offsets of the inside', () => {
    const text = '<a><q x="1">1 <b>2</b> 3</q></a>';
    const q = parseXml(text, 'f')[0]!.children[0]!;
    expect(text.slice(q.innerStart, q.innerEnd)).to.equal('1 <b>2</b> 3');
  });

  describe('limits', () => {
    const many = (n: number): string => Array.from({ length: n }, (_, i) => `a${String(i)}="1"`).join(' ');
    it('takes what fits and refuses what does not', () => {
      expect(read(`<a>${'x'.repeat(20480)}</a>`)).to.be.an('array');
      expect(read(`<a>${'x'.repeat(20481)}</a>`)).to.match(/String overflow/);
      expect(read(`<a>\n${'x'.repeat(30000)}\n\n</a>`)).to.equal('XMLERR: String overflow. (line 2)');
      expect(read(`<${'n'.repeat(20481)}>`)).to.match(/String overflow/);
      expect(read(`<a></${'n'.repeat(20481)}>`)).to.match(/String overflow/);
      expect(read(`<a ${'n'.repeat(20481)}="1">`)).to.equal(
        `XMLERR: Overflow attempt at attribute '${'n'.repeat(20)}'. (line 1)`,
      );
      expect(read(`<a b="${'v'.repeat(20481)}">`)).to.match(/Overflow attempt at attribute 'b'/);
      expect(read(`<a ${many(49)}>x</a>`)).to.be.an('array');
      expect(read(`<a ${many(50)}>x</a>`)).to.match(/Too many attributes/);
      expect(read('<a>'.repeat(1024) + '</a>'.repeat(1024))).to.be.an('array');
      expect(read('<a>'.repeat(1025))).to.match(/Max recursion level reached/);
    });

    it('counts a content piece by piece around comments', () => {
      expect(read(`<a>${'x'.repeat(20000)}<!-- -->${'x'.repeat(480)}</a>`)).to.be.an('array');
      expect(read(`<a>${'x'.repeat(20000)}<!-- -->${'x'.repeat(481)}</a>`)).to.match(/String overflow/);
    });

    it('cuts the error text at 126 characters', () => {
      expect(() => parseXml(`<${'n'.repeat(500)}></a>`, 'f'))
        .to.throw(XmlError)
        .with.property('message')
        .with.length(126);
    });
  });

  it('takes a lone < as text where configuration files are read', () => {
    const options = { bareLessThan: true };
    expect(read('<a>x < y && z <= 3 <1</a>', options)).to.deep.equal([['a', 'x < y && z <= 3 <1']]);
    expect(read('<a>x < y<b/></a>', options)).to.deep.equal([['a', '', [['b', '']]]]);
  });

  it('never fails in another way than with XmlError', () => {
    const piece = fc.constantFrom('<', '>', '/', '!', '--', '-->', '!>', '"', "'", '=', ' ', '\n', '\\', 'a', 'b', '<a>', '</a>', '$', '\0'); // oxfmt-ignore
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, bareLessThan) => {
        const text = pieces.join('');
        expect(read(text, { bareLessThan })).to.deep.equal(read(text, { bareLessThan }));
      }),
      { numRuns: 3000 },
    );
  });

  it('reads back what is written in the dialect', () => {
    const word = fc.stringMatching(/^[a-z]{1,5}$/);
    const text = fc.stringMatching(/^[ -;=?-[\]-~]{0,12}$/);
    const node = fc.memo((depth): fc.Arbitrary<[string, string, unknown[]]> =>
      fc.tuple(word, text, depth <= 1 ? fc.constant([]) : fc.array(node(), { maxLength: 3 })),
    );
    const write = ([name, content, children]: [string, string, unknown[]]): string =>
      `<${name} k="${content.replaceAll('"', '')}">${children.map((c) => write(c as never)).join('')}${content}</${name}>`;
    const shape = ([name, content, children]: [string, string, unknown[]]): unknown[] => [
      name,
      { k: content.replaceAll('"', '') },
      content,
      ...(children.length > 0 ? [children.map((c) => shape(c as never))] : []),
    ];
    fc.assert(
      fc.property(node(4), (tree) => {
        expect(read(write(tree))).to.deep.equal([shape(tree)]);
      }),
      { numRuns: 300 },
    );
  });

  it('takes linear time on hostile texts', () => {
    // Quadratic time would take minutes and end in mocha's time-out.
    expect(read('<!'.repeat(2_000_000))).to.equal('XMLERR: Comment not closed. (line 1)');
    expect(read('\\'.repeat(4_000_000))).to.deep.equal([]);
    expect(read(`<a>${'\\<'.repeat(9_000)}`)).to.equal(
      'XMLERR: End of file and some elements were not closed. (line 1)',
    );
    expect(parseXml('<a b="1"/>'.repeat(400_000), 'f.xml')).to.have.length(400_000);
  });
});
