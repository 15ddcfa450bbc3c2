import { expect } from 'chai';
import { chipsOf, filterBy, filterNamed, filtersOf } from '../../../../api/console/browser/client/alert-filters.js';
import { parseQuery } from '../../../../lib/query/parse-query.js';

const params = (text = '') => new URLSearchParams(text);
const clausesOf = (q: string | undefined) => parseQuery(q ?? '', () => `refused: ${q ?? ''}`);

describe('console: filters of alerts', () => {
  it('takes those of the API out of the URL, and nothing else', () => {
    const filters = filtersOf(params('srcip=10.0.0.1,10.0.0.2&view=rule&alert=1&live=true&q=a.b=1&from=now-1h'));
    const set = Object.entries(filters).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(set)).to.deep.equal({ srcip: '10.0.0.1,10.0.0.2', q: 'a.b=1' });
  });

  it('adds a value to the filter of its field, once', () => {
    expect(filterBy(params(), 'data.srcip', '10.0.0.1')).to.deep.equal({ srcip: '10.0.0.1' });
    expect(filterBy(params('srcip=10.0.0.1'), 'data.srcip', '10.0.0.2')).to.deep.equal({ srcip: '10.0.0.1,10.0.0.2' });
    expect(filterBy(params('srcip=10.0.0.1'), 'data.srcip', '10.0.0.1')).to.deep.equal({});
    expect(filterBy(params('min_level=7'), 'rule.level', '9')).to.deep.equal({ level: '9', min_level: undefined });
  });

  it('filters by groups of agents, which no alert names, and by none that they are not in', () => {
    expect(filterNamed(params('agent_groups=web'), 'agent_groups', 'db', true)).to.deep.equal({
      agent_groups: 'web,db',
    });
    expect(filterNamed(params(), 'agent_groups', 'web', false)).to.equal(undefined);
    expect(filterNamed(params(), 'agent_groups', 'a,b', true)).to.equal(undefined);
    expect(chipsOf(params('agent_groups=web'))).to.deep.equal([
      { name: 'agent_groups', path: 'agent.group', operator: '=', value: 'web', without: { agent_groups: undefined } },
    ]);
  });

  it('says the rest in the language of queries, beside what is there', () => {
    expect(filterBy(params(), 'data.srcip', '10.0.0.1', false)).to.deep.equal({ q: 'data.srcip!=10.0.0.1' });
    expect(filterBy(params('q=a.b=1'), 'data.x', 'y')).to.deep.equal({ q: 'a.b=1;data.x=y' });
    expect(filterBy(params('q=data.x=y'), 'data.x', 'y')).to.deep.equal({});
    const { q } = filterBy(params('q=a.b=1,a.b=2'), 'data.x', 'y') ?? {};
    expect(q).to.equal('(a.b=1,a.b=2);data.x=y');
    expect(clausesOf(q)).to.have.property('kind', 'and');
  });

  it('words any value so that the server takes it, leaving open what it cannot say', () => {
    const values = [
      'a,b;c',
      'one (two)',
      'half (',
      'say "hi"',
      'null',
      'ALL',
      ' edge ',
      'a!b&c#d',
      'ä€🙂',
      'x[1,2]',
      '`$(id)`',
    ];
    for (const value of values) {
      const { q } = filterBy(params(), 'data.text', value) ?? {};
      expect(q, value).to.be.a('string');
      const clause = clausesOf(q);
      if (clause.kind !== 'clause') throw new Error(`${value} is no single clause`);
      expect(clause.field).to.equal('data.text');
      const pattern = [...clause.value].map((character) =>
        character === '"' ? '.' : character.replace(/[\^$.*+?()[\]{}|/]/, '\\$&'),
      );
      expect(value, value).to.match(new RegExp(`^${pattern.join('')}$`, 'su'));
      expect(clause.value.toLowerCase()).not.to.be.oneOf(['null', 'all']);
    }
  });

  it('makes no filter of what is none', () => {
    expect(filterBy(params(), 'full_log', 'x'.repeat(257))).to.equal(undefined);
    expect(filterBy(params(), 'data.x', '!'.repeat(33))).to.equal(undefined);
    expect(filterBy(params(), 'data.a b', 'x')).to.equal(undefined);
    expect(filterBy(params(), 'data.x', '')).to.equal(undefined);
    expect(filterNamed(params(), 'http', '//x', true)).to.equal(undefined);
  });

  it('finds a filter by the name that is typed', () => {
    expect(filterNamed(params(), 'min_level', '7', true)).to.deep.equal({ min_level: '7', level: undefined });
    expect(filterNamed(params(), 'agents_list', '001', true)).to.deep.equal({ agents_list: '001' });
    expect(filterNamed(params(), 'rule_ids', '5710', false)).to.deep.equal({ q: 'rule.id!=5710' });
    expect(filterNamed(params(), 'data.win.system.eventID', '4625', true)).to.deep.equal({
      q: 'data.win.system.eventID=4625',
    });
  });

  it('shows each filter, with the way to be without it', () => {
    const chips = chipsOf(params('srcip=10.0.0.1,10.0.0.2&min_level=7&q=a.b!=1;c.d~x'));
    expect(chips.map(({ path, operator, value }) => `${path ?? ''} ${operator} ${value}`)).to.deep.equal([
      'data.srcip = 10.0.0.1',
      'data.srcip = 10.0.0.2',
      'rule.level ≥ 7',
      'a.b != 1',
      'c.d ~ x',
    ]);
    expect(chips.map(({ without }) => without)).to.deep.equal([
      { srcip: '10.0.0.2' },
      { srcip: '10.0.0.1' },
      { min_level: undefined },
      { q: 'c.d~x' },
      { q: 'a.b!=1' },
    ]);
    expect(chipsOf(params('q=a.b=1,c.d=2;e.f=3'))).to.have.length(1);
    expect(chipsOf(params('q=(a.b=1;c.d=2)'))[0]).to.include({ name: 'q', value: '(a.b=1;c.d=2)' });
  });
});
