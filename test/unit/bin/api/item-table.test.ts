import { expect } from 'chai';
import { itemTable } from '../../../../bin/api/item-table.js';

describe('a table of items', () => {
  it('has a column a field, with dots for those of objects', () => {
    const items = [
      { id: '001', os: { name: 'Debian', version: '12' }, group: ['default', 'web'] },
      { id: '002', name: 'box' },
    ];
    expect(itemTable(items, { width: 80 }).lines).to.deep.equal([
      'ID   OS.NAME  OS.VERSION  GROUP        NAME',
      '001  Debian   12          default,web  -',
      '002  -        -           -            box',
    ]);
  });

  it('shows the fields that were chosen, in their order, also where they have no room', () => {
    const items = [{ id: '001', os: { name: 'Debian', version: '12' } }];
    expect(itemTable(items, { width: 5, fields: ['os', 'id', 'none'] }).lines).to.deep.equal([
      'OS.NAME  OS.VERSION  ID   NONE',
      'Debian   12          001  -',
    ]);
  });

  it('leaves out what has no room, and names it', () => {
    const items = [1, 2].map((id) => ({ id, name: 'n'.repeat(10), text: 't'.repeat(10) }));
    const { lines, left } = itemTable(items, { width: 20 });
    expect([lines[0], left]).to.deep.equal(['ID  NAME', ['text']]);
  });

  it('turns a single item that is too wide', () => {
    const { lines, left } = itemTable([{ id: '001', name: 'n'.repeat(30) }], { width: 20 });
    expect([lines, left]).to.deep.equal([['id    001', `name  ${'n'.repeat(30)}`], []]);
  });

  it('does not let texts steer the terminal, nor fill it', () => {
    const { lines } = itemTable([{ id: 'a\u001b[2J\nb', text: 'x'.repeat(200) }], { width: 200 });
    expect(lines[1]).to.equal(`a?[2J?b  ${'x'.repeat(59)}…`);
  });

  it('shows texts, and lists of more rows than a call has arguments', () => {
    const { lines } = itemTable(
      Array.from({ length: 200_000 }, (_none, id) => String(id)),
      { width: 80 },
    );
    expect([lines.length, lines[0], lines.at(-1)]).to.deep.equal([200_001, 'ITEM', '199999']);
  });
});
