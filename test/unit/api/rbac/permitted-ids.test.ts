import { expect } from 'chai';
import { ApiError } from '../../../../api/http/api-error.js';
import { ProblemError } from '../../../../api/http/problem-error.js';
import { Permissions } from '../../../../api/rbac/permissions.js';
import { PermittedIds } from '../../../../api/rbac/permitted-ids.js';
import type { Requirement } from '../../../../api/rbac/requirements.js';

const LIST = { kind: 'parameter', name: 'list', isList: true, takesAll: true } as const;

/** Who may read `a` and `7`, and write `a` alone. */
const permissions = new Permissions('white', [
  { actions: ['x:read'], resources: ['t:id:a', 't:id:b', 'rule:file:a', 'user:id:7'], effect: 'allow' },
  { actions: ['x:write'], resources: ['t:id:a', 't:id:c'], effect: 'allow' },
]);

function permittedOf(named: readonly string[] | undefined, requirement: Partial<Requirement> = {}): PermittedIds {
  const whole = { actions: ['x:read'], resource: 't:id', source: LIST, ...requirement };
  return new PermittedIds({ permissions, requirement: whole, named });
}

describe('permitted ids', () => {
  it('are those of the named that are allowed, in the order of the request; the others fail', () => {
    const permitted = permittedOf(['b', 'z', 'a', 'b', 'y']);
    expect(permitted.ids).to.deep.equal(['b', 'a']);
    expect(permitted.failed.map(({ id, error }) => [id, error.code, error.message])).to.deep.equal([
      ['z', 4000, 'Permission denied: Resource type: t:id'],
      ['y', 4000, 'Permission denied: Resource type: t:id'],
    ]);
    expect(permitted.chosen(['a', 'b', 'c'])).to.deep.equal(['b', 'a']);
  });

  it('refuse a request that names none that is allowed', () => {
    for (const named of [['z'], []]) {
      expect(() => permittedOf(named)).to.throw(ApiError, 'Permission denied: Resource type: t:id');
    }
  });

  it('leave out silently what is not allowed when all are meant', () => {
    const permitted = permittedOf(undefined);
    expect(permitted.isAll).to.equal(true);
    expect(permitted.chosen(['c', 'b', 'a'])).to.deep.equal(['b', 'a']);
    expect(permitted.chosen(['c'])).to.deep.equal([]);
    expect([permitted.ids, permitted.failed]).to.deep.equal([[], []]);
  });

  it('need every action', () => {
    const actions = ['x:read', 'x:write'];
    expect(permittedOf(['a', 'b', 'c'], { actions }).ids).to.deep.equal(['a']);
    expect([...permittedOf(undefined, { actions }).of(['a', 'b', 'c'])]).to.deep.equal(['a']);
  });

  it('are refused where none of the files is allowed; without files whether all would be decides', () => {
    const files = permittedOf(undefined, { resource: 'rule:file', source: { kind: 'files' } });
    expect([...files.of(['a', 'b'])]).to.deep.equal(['a']);
    expect(() => files.of(['b'])).to.throw(ApiError, 'Permission denied: Resource type: rule:file');
    expect(() => files.of([])).to.throw(ApiError, 'Permission denied');
  });

  it('of objects of access control are numbers', () => {
    const permitted = permittedOf(['007', '7', '08'], { resource: 'user:id' });
    expect(permitted.ids).to.deep.equal(['7']);
    expect(permitted.failed.map(({ id }) => id)).to.deep.equal([8]);
    expect(() => permittedOf(['all'], { resource: 'user:id' })).to.throw(ProblemError);
  });

  it('are settled when they were looked at, or when one alone was named', () => {
    for (const look of [(one: PermittedIds) => one.ids, (one: PermittedIds) => one.of([])]) {
      const permitted = permittedOf(['a']);
      expect(permitted.isSettled).to.equal(false);
      look(permitted);
      expect(permitted.isSettled).to.equal(true);
    }
    expect(permittedOf(['a'], { source: { ...LIST, isList: false } }).isSettled).to.equal(true);
  });
});
