import { expect } from 'chai';
import fc from 'fast-check';
import { formatConfiguration } from '../../../../api/groups/format-configuration.js';
import { ConfigError } from '../../../../lib/config/config-error.js';
import { readConfigurationXml } from '../../../../lib/config/read-configuration-xml.js';
import type { XmlElement } from '../../../../lib/xml/xml-element.js';

type Shape = { name: string; attributes: unknown; content: string; children: Shape[] };

/** What a reader takes from elements: white space around children is nobody's. */
function shape(elements: readonly XmlElement[]): Shape[] {
  return elements.map(({ name, attributes, content, children }) => ({
    name,
    attributes,
    content: children.length > 0 ? content.trim() : content,
    children: shape(children),
  }));
}
const format = (text: string) => formatConfiguration(text, 'agent.conf');

describe('formatConfiguration', () => {
  it('lays elements out with two blanks a level', () => {
    const text =
      '<!-- top --><agent_config name="a" \n os="b"><!-- x\n y --><localfile><location>/var/log/x</location>\n\n\n' +
      '<log_format>syslog</log_format><query><select path="a">b < c</select></query></localfile>stray\n' +
      '<labels>\n<label key="k">\n  v\n</label></labels></agent_config>\n<agent_config/>';
    expect(format(text)).to.equal(`<!-- top -->
<agent_config name="a" 
 os="b">
  <!-- x
 y -->
  <localfile>
    <location>/var/log/x</location>
    <log_format>syslog</log_format>
    <query><select path="a">b < c</select></query>
  </localfile>
  stray
  <labels>
    <label key="k">
  v
</label>
  </labels>
</agent_config>
<agent_config/>
`);
    expect(format('')).to.equal('');
    expect(format(' \n\t')).to.equal('');
  });

  it('leaves a text alone that would be read differently', () => {
    const text = '<a>\\<!--x--><b><c/></a>';
    expect(shape(readConfigurationXml(text, 'x'))).to.have.length(1);
    expect(format(text)).to.equal(text);
  });

  it('does not grow with elements that lie very deep', () => {
    const text = `${'<a>'.repeat(1000)}${'<b/>'.repeat(1000)}${'</a>'.repeat(1000)}`;
    expect(format(text).length).to.be.below(200_000);
  });

  it('lays out a long text with few comments', () => {
    const element = '<localfile><location>/a</location></localfile>';
    const text = `<agent_config>${element.repeat(10_000)}</agent_config><!-- end -->`;
    expect(format(text).split('\n')).to.have.length(30_004);
  });

  it('refuses what is no XML, with the line', () => {
    expect(() => format('<a>\n<b>\n</a>'))
      .to.throw(ConfigError)
      .with.property('line', 2);
  });

  it('changes nothing for a reader, and nothing the second time', () => {
    const piece = fc.constantFrom(
      ...[
        '<a>',
        '</a>',
        '<b x="1 > 2">',
        "<b y='<'>",
        '</b>',
        '<c/>',
        '<query>',
        '</query>',
        '<!-- c -->',
        '<! d !>',
        '\\',
      ],
      ...['<', '< ', 'text', ' ', '\n', '\t', '\r\n', '-->', '>', '&lt;', 'ü'],
    );
    const tree = fc.letrec<{ node: string; list: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('<x>v</x>', '<y k="1"/>', '<z>\n 1\n</z>', '<q>a < b</q>'),
        tie('list').map((inner) => `<a>${inner}</a>`),
      ),
      list: fc
        .array(fc.oneof(tie('node'), fc.constantFrom('', ' ', '\n', '<!-- c -->', 'stray')), { maxLength: 5 })
        .map((parts) => parts.join('')),
    })).list;
    fc.assert(
      fc.property(
        fc.oneof(
          tree,
          fc.array(piece, { maxLength: 25 }).map((parts) => parts.join('')),
        ),
        (text) => {
          let before: Shape[];
          try {
            before = shape(readConfigurationXml(text, 'x'));
          } catch {
            expect(() => format(text)).to.throw(ConfigError);
            return;
          }
          const once = format(text);
          expect(shape(readConfigurationXml(once, 'x'))).to.deep.equal(before);
          expect(format(once)).to.equal(once);
        },
      ),
      { numRuns: 500 },
    );
  });
});
