import { expect } from 'chai';
import { compileDatabaseQuery } from '../../../../../daemons/db/query/database-query.js';
import { QueryError } from '../../../../../lib/query/query-error.js';

const NOW = Date.parse('2026-05-08T12:00:00Z');
const AGENTS = [
  { id: '000', name: 'Manager', status: 'active', lastKeepAlive: '9999-12-31T23:59:59+00:00', group: [] },
  {
    id: '001',
    name: 'web-01',
    status: 'active',
    lastKeepAlive: '2026-05-08T11:59:00+00:00',
    group: ['default', 'Web'],
    os: { name: 'Debian', major: 12 },
  },
  {
    id: '002',
    name: 'WEB-02',
    status: 'disconnected',
    lastKeepAlive: '2026-05-01T12:00:00+00:00',
    group: ['default'],
    os: { name: 'Ubuntu', major: 9 },
  },
  { id: '003', name: 'db', status: 'never_connected', group: ['default'] },
];
const RULES = {
  fields: ['id', 'name', 'status', 'lastKeepAlive', 'group', 'os.name', 'os.major'],
  dateFields: ['lastKeepAlive'],
  listFields: ['group'],
  now: NOW,
};

const ids = (q: string) => {
  const test = compileDatabaseQuery(q, RULES);
  return AGENTS.filter(test).map(({ id }) => Number(id));
};

describe('q of tables', () => {
  const cases: [string, number[]][] = [
    ['name=web-01', [1]],
    ['name=WEB-01', [1]],
    ['name~web', [1, 2]],
    ['name!=db', [0, 1, 2]],
    ['id!=000', [1, 2, 3]],
    ['status=active;id!=000', [1]],
    ['id=000,status=active;os.name=debian', [0, 1]],
    ['(id=000,status=active);os.name=debian', [1]],
    ['(status=disconnected,status=never_connected);group=default', [2, 3]],
    ['group=web', [1]],
    ['group!=web', [2, 3]],
    ['group~we', [1]],
    ['os.name=null', [0, 3]],
    ['os.name!=NULL', [0, 3]],
    ['status=all', [0, 1, 2, 3]],
    ['status=all;name=db', [3]],
    ['status=all,name=db', [3]],
    ['os.major>9', [1]],
    ['os.major<10', [2]],
    ["name=web'01", [1]],
    ['name~b"0', [1, 2]],
    ["name!=web'0'", [0, 3]],
    ['lastKeepAlive>1d', [2]],
    ['lastKeepAlive<1d', [0, 1]],
    ['lastKeepAlive=120', [0, 1]],
    ['lastKeepAlive>2026-05-08', [0, 1]],
    ['lastKeepAlive<2026-05-01 12:00:01', [2]],
    ['lastKeepAlive=2026-05-01T12:00:00Z', [2]],
    ['lastKeepAlive=null', [3]],
  ];
  for (const [q, expected] of cases) it(q, () => expect(ids(q)).to.deep.equal(expected));

  const refused: [string, number, string | undefined][] = [
    ['foo=1', 1408, 'Available fields: group, id, lastKeepAlive, name, os.major, os.name, status. Field: foo'],
    ['name', 1407, 'name'],
    ['(name=a', 1407, '(name=a'],
    ['group>a', 1409, 'Valid operators for group: =, !=, ~. Used operator: >'],
    ['lastKeepAlive>yesterday', 1412, undefined],
    ['lastKeepAlive>2026-13-45', 1412, undefined],
  ];
  it('reads fields as it is told, dates in milliseconds', () => {
    const entries = [{ row: ['one', NOW - 3_600_000] }, { row: ['two', NOW - 100_000_000] }, { row: ['three'] }];
    const rules = {
      fields: ['name', 'seen'],
      dateFields: ['seen'],
      now: NOW,
      read: (field: string) => (item: (typeof entries)[number]) => item.row[field === 'name' ? 0 : 1],
    };
    const names = (q: string) => entries.filter(compileDatabaseQuery(q, rules)).map(({ row }) => row[0]);
    expect(names('seen<1d')).to.deep.equal(['one']);
    expect(names('seen~2026-05-08,name=two')).to.deep.equal(['one', 'two']);
    expect(names('seen=null')).to.deep.equal(['three']);
  });

  for (const [q, code, extra] of refused) {
    it(`refuses ${q}`, () => {
      expect(() => ids(q))
        .to.throw(QueryError)
        .that.includes({ code, extra });
    });
  }
});
