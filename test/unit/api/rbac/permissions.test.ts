import { expect } from 'chai';
import { ApiError } from '../../../../api/http/api-error.js';
import { DEFAULT_POLICIES, DEFAULT_ROLES } from '../../../../api/rbac/default-objects.js';
import { Permissions, type RbacMode } from '../../../../api/rbac/permissions.js';
import { scopeAllows } from '../../../../api/rbac/permitted-agents.js';

type Entry = [effect: 'allow' | 'deny', action: string, ...resources: string[]];

const of = (mode: RbacMode, ...entries: Entry[]) =>
  new Permissions(
    mode,
    entries.map(([effect, action, ...resources]) => ({ actions: [action], resources, effect })),
  );
const agents = ['001', '002', '003'];
const read = (permissions: Permissions, groups: Readonly<Record<string, readonly string[]>> = {}) => {
  const scope = permissions.agentScope('agent:read');
  return agents.filter((id) => scopeAllows(scope, id, groups[id] ?? []));
};

describe('permissions', () => {
  it('white denies what is not allowed, black allows what is not denied', () => {
    expect(of('white').allows('manager:read')).to.equal(false);
    expect(of('black').allows('manager:read')).to.equal(true);
    expect(of('white', ['allow', 'manager:read', '*:*:*']).allows('manager:read')).to.equal(true);
    expect(of('black', ['deny', 'manager:read', '*:*:*']).allows('manager:read')).to.equal(false);
    expect(of('white', ['allow', 'manager:read', '*:*:*']).allows('manager:restart')).to.equal(false);
    expect(read(of('black', ['deny', 'agent:read', 'agent:id:002']))).to.deep.equal(['001', '003']);
  });

  it('later entries override earlier ones', () => {
    expect(
      read(of('white', ['allow', 'agent:read', 'agent:id:*'], ['deny', 'agent:read', 'agent:id:002'])),
    ).to.deep.equal(['001', '003']);
    expect(
      read(of('white', ['deny', 'agent:read', 'agent:id:002'], ['allow', 'agent:read', 'agent:id:*'])),
    ).to.deep.equal(agents);
    const again = of(
      'white',
      ['allow', 'agent:read', 'agent:id:001'],
      ['deny', 'agent:read', 'agent:group:web'],
      ['allow', 'agent:read', 'agent:id:001'],
    );
    expect(read(again, { '001': ['web'] })).to.deep.equal(['001']);
  });

  it('tell whether an action is allowed on everything', () => {
    const rules = (...given: Parameters<typeof of>) => of(...given).allowsAll('rules:read', 'rule:file');
    expect(rules('white')).to.equal(false);
    expect(rules('black')).to.equal(true);
    expect(rules('white', ['allow', 'rules:read', 'rule:file:*'])).to.equal(true);
    expect(rules('white', ['allow', 'rules:read', 'rule:file:a.xml'])).to.equal(false);
    const but: Entry = ['deny', 'rules:read', 'rule:file:a.xml'];
    expect(rules('white', ['allow', 'rules:read', 'rule:file:*'], but)).to.equal(false);
    expect(rules('white', but, ['allow', 'rules:read', 'rule:file:*'])).to.equal(true);
    expect(rules('black', but)).to.equal(false);
    expect(rules('black', ['deny', 'rules:read', 'rule:file:*'])).to.equal(false);
    expect(rules('white', ['allow', 'rules:read', 'list:file:*'])).to.equal(false);
  });

  it('a wildcard replaces the single resources before it', () => {
    const permissions = of(
      'white',
      ['deny', 'agent:read', 'agent:group:web', 'agent:id:001'],
      ['allow', 'agent:read', 'agent:id:*'],
    );
    expect([...(permissions.toMap().get('agent:read') ?? [])]).to.deep.equal([['agent:id:*', 'allow']]);
  });

  it('groups stand for their members', () => {
    const permissions = of('white', ['allow', 'agent:read', 'agent:group:web'], ['deny', 'agent:read', 'agent:id:003']);
    expect(read(permissions, { '001': ['db'], '002': ['db', 'web'], '003': ['web'] })).to.deep.equal(['002']);
    expect(read(of('white', ['allow', 'agent:read', 'agent:group:*']))).to.deep.equal(agents);
  });

  it('a policy of more than two combined resources is refused when it is used', () => {
    const permissions = of('white', ['allow', 'agent:read', 'agent:id:*&agent:group:a&agent:group:b']);
    expect(() => read(permissions))
      .to.throw(ApiError)
      .with.property('code', 4500);
    expect(read(of('white', ['allow', 'agent:read', 'agent:id:001&agent:group:a']))).to.deep.equal([]);
  });

  it('the built-in roles may do what their names say', () => {
    const role = (id: number) => {
      const policies = DEFAULT_ROLES.find((found) => found.id === id)!.policies;
      return new Permissions(
        'white',
        policies.map((policy) => DEFAULT_POLICIES.find((found) => found.id === policy)!.policy),
      );
    };
    for (const { policy } of DEFAULT_POLICIES) {
      for (const action of policy.actions) {
        const resource = policy.resources[0]!;
        const allowed = role(1).allowed(action, resource.slice(0, resource.lastIndexOf(':')), ['x']);
        expect(allowed.size, `${action} for the administrator`).to.equal(1);
      }
    }
    expect(role(2).allows('manager:read')).to.equal(true);
    for (const action of ['manager:update_config', 'event:ingest', 'logtest:run', 'agent:create', 'rules:update']) {
      expect(role(2).allows(action), action).to.equal(false);
    }
    expect(DEFAULT_POLICIES.map(({ id }) => id)).to.deep.equal(
      Array.from({ length: 36 }, (_value, index) => index + 1),
    );
  });
});
