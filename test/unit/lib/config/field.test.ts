import { expect } from 'chai';
import { ConfigReport } from '../../../../lib/config/config-report.js';
import { group, list } from '../../../../lib/config/field.js';
import { readConfigurationXml } from '../../../../lib/config/read-configuration-xml.js';
import { requireText } from '../../../../lib/config/value-fields.js';
import type { XmlElement } from '../../../../lib/xml/xml-element.js';

const SECTION = group({ item: list(requireText), inner: group({ item: list(requireText) }) });

function block(...items: readonly string[]): XmlElement {
  const text = items.map((item) => `<item>${item}</item>`).join('');
  const inner = items.map((item) => `<inner><item>${item}</item></inner>`).join('');
  const [root] = readConfigurationXml(`<section>${text}${inner}</section>`, 'file');
  if (root === undefined) throw new Error('no root');
  return root;
}

const report = (): ConfigReport => new ConfigReport('file', 'section', []);

describe('lists of a section', () => {
  it('hold the items of all blocks in their order', () => {
    const first = SECTION.fold(SECTION.initial, block('a', 'b'), report());
    const both = SECTION.fold(first, block('c', 'd', 'e'), report());
    expect(both).to.deep.equal({ item: ['a', 'b', 'c', 'd', 'e'], inner: { item: ['a', 'b', 'c', 'd', 'e'] } });
  });

  it('leave what was read before as it was', () => {
    const first = SECTION.fold(SECTION.initial, block('a', 'b'), report());
    SECTION.fold(first, block('c', 'd'), report());
    SECTION.fold(first, block('x', 'y'), report());
    expect(first).to.deep.equal({ item: ['a', 'b'], inner: { item: ['a', 'b'] } });
    expect(SECTION.initial).to.deep.equal({ item: [], inner: { item: [] } });
  });

  it('are not copied for each item of a block', () => {
    const field = list(requireText);
    const one = report();
    const items = Array.from({ length: 50 }, (_, index) => String(index));
    const lists = new Set<readonly string[]>();
    let value = field.initial;
    for (const child of block(...items).children.filter(({ name }) => name === 'item')) {
      value = field.fold(value, child, one);
      lists.add(value);
    }
    expect(value).to.deep.equal(items);
    expect(lists.size).to.equal(1);
  });
});
