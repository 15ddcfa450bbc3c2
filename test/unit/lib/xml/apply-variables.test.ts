import { expect } from 'chai';
import { applyVariables } from '../../../../lib/xml/apply-variables.js';
import { parseXml } from '../../../../lib/xml/parse-xml.js';
import { XmlError } from '../../../../lib/xml/xml-error.js';

function contents(text: string): unknown {
  try {
    return applyVariables(parseXml(text, 'f'), 'f').map((e) => [
      e.name,
      ...e.attributes.map((a) => a.value),
      e.content,
      ...e.children.map((c) => c.content),
    ]);
  } catch (error) {
    if (error instanceof XmlError) {
      return error.message;
    }
    throw error;
  }
}

describe('applyVariables', () => {
  const V = '<var name="V">foo</var>';
  const rows: [string, unknown][] = [
    [`${V}<c>ab$V$V</c>`, [['c', 'abfoofoo']]],
    [`${V}<c>$VX</c>`, "XMLERR: Unknown variable: 'VX'."],
    [`<c>ab$V</c>${V}`, [['c', 'ab$V']]],
    [`<c>($nothing)</c>`, [['c', '($nothing)']]],
    [`${V}<c>^$V|q$</c>`, [['c', '^foo|q$']]],
    [`${V}<c>($V)</c>`, "XMLERR: Unknown variable: 'V)'."],
    [`${V}<c>$V</c>`, [['c', '$V']]],
    [`${V}<c>(\\S+$)</c>`, "XMLERR: Unknown variable: ')'."],
    [`${V}<c>a $ b</c>`, [['c', 'a $ b']]],
    [`${V}<c>a$v.b$V,c$V d</c>`, [['c', 'afoo.bfoo,cfoo d']]],
    [`${V}<c>$(user) from $V</c>`, [['c', '$(user) from foo']]],
    [`${V}<c k="x$V">y</c>`, [['c', 'xfoo', 'y']]],
    [`${V}<var name="W">$V$V</var><c>x$W</c>`, [['c', 'x$V$V']]],
    [`<g>${V}<c>x$V</c></g>`, [['g', '', 'xfoo']]],
    ['<VAR NAME="V">1</VAR><c>x$V</c>', [['c', 'x1']]],
    ['<var id="V">1</var>', 'XMLERR: Only "name" is allowed as an attribute for a variable.'],
    ['<var>1</var>', 'XMLERR: No value set for variable.'],
    ['<var name="V"><x>1</x></var>', 'XMLERR: Invalid variable content.'],
    [`<var name="${'v'.repeat(256)}">1</var>`, 'XMLERR: Invalid variable name size.'],
    [`${V}<c>$${'v'.repeat(255)}</c>`, "XMLERR: Invalid variable name size: '255'."],
    [`${V}<c>$${'v'.repeat(100)}</c>`, `XMLERR: Unknown variable: '${'v'.repeat(95)}'.`],
  ];
  for (const [text, expected] of rows) {
    it(`reads ${JSON.stringify(text.slice(0, 60))}`, () => {
      expect(contents(text)).to.deep.equal(expected);
    });
  }

  it('leaves a file without definitions as it is, wherever one would stand', () => {
    const plain = parseXml('<g a="$x"><c>ab$V</c><varx>1</varx></g><c>$W$</c>', 'f');
    expect(applyVariables(plain, 'f')).to.equal(plain);
    expect(contents('<g><h><Var name="V">1</Var></h><c>x$V</c></g>')).to.deep.equal([['g', '', '', 'x1']]);
  });

  it('names the line', () => {
    expect(() => applyVariables(parseXml(`${V}\n\n<c>$bad</c>`, 'f'), 'f'))
      .to.throw(XmlError)
      .with.property('line', 3);
  });
});
