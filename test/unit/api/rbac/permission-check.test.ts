import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Caller } from '../../../../api/auth/authenticator.js';
import { ApiError } from '../../../../api/http/api-error.js';
import { messageResult } from '../../../../api/http/envelope.js';
import { PermissionCheck } from '../../../../api/rbac/permission-check.js';
import { Permissions } from '../../../../api/rbac/permissions.js';
import type { Permitted } from '../../../../api/rbac/permitted.js';
import { requirementsOf } from '../../../../api/rbac/requirements.js';
import { loadContract, type Operation } from '../../../../lib/contract/api-contract.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { TestApi } from '../../../support/api/test-api.js';

/** Operations that ask nothing of their callers but a token, or name and password (rest-api.md 2, 6). */
const WITHOUT_ACTIONS = [
  'getApiInfo',
  'getManagerVersionCheck',
  'postSecurityUserAuthenticate',
  'getSecurityUserAuthenticate',
  'deleteSecurityUserAuthenticate',
  'postSecurityUserAuthenticateRunAs',
  'getSecurityUsersMe',
  'getSecurityUsersMePolicies',
];

/** Modules that ask what a caller may do, and why. */
const DECIDING: Readonly<Record<string, string>> = {
  'http/api-request.ts': 'a failure of whatever operation names the node to those only who may read it',
  'rbac/permission-check.ts': 'decides before the handlers',
  'rbac/permissions.ts': 'answers',
  'rbac/permitted-ids.ts': 'goes on with that for what a handler finds',
};

const contract = loadContract();
const check = (clusterEnabled = false) =>
  new PermissionCheck(contract.operations, () => ({ name: 'node01', clusterEnabled }));
const operation = (id: string): Operation => contract.operations.find((one) => one.id === id)!;
const callerOf = (permissions: Permissions) => ({ permissions }) as unknown as Caller;
const NOBODY = callerOf(new Permissions('white', []));
const EVERYBODY = callerOf(new Permissions('black', []));

/** Values of the parameters that name resources. */
function valuesOf({ parameters }: Operation): Record<string, unknown> {
  return Object.fromEntries(
    parameters
      .filter(({ resources }) => resources.length > 0)
      .map(({ name, schema }) => [name, schema['type'] === 'array' ? ['7', '8'] : '7']),
  );
}

describe('the permission check', () => {
  it('has a declaration of every operation but those that only ask who calls', () => {
    const without = contract.operations.filter((one) => requirementsOf(one).length === 0).map(({ id }) => id);
    expect(without).to.have.members(WITHOUT_ACTIONS);
  });

  it('has one action on agents an operation, which a scope can say', () => {
    for (const one of contract.operations) {
      for (const { resource, actions } of requirementsOf(one)) {
        if (resource === 'agent:id') expect(actions, one.id).to.have.length(1);
      }
    }
  });

  it('takes ids from parameters where there are some: no handler can', () => {
    const sources = (id: string) =>
      requirementsOf(operation(id)).map(({ resource, source }) => [
        resource,
        source.kind === 'parameter' ? source.name : source.kind,
      ]);
    expect(sources('deleteAgentsGroup')).to.deep.equal([
      ['agent:id', 'agents_list'],
      ['group:id', 'group_id'],
    ]);
    expect(sources('putRulesFilesFilename')).to.deep.equal([
      ['*:*', 'none'],
      ['rule:file', 'filename'],
    ]);
    expect(sources('getDecodersFiles')).to.deep.equal([['decoder:file', 'files']]);
    expect(sources('getOverviewAgents')).to.deep.equal([
      ['agent:id', 'all'],
      ['group:id', 'all'],
    ]);
    expect(sources('getClusterLocalInfo')).to.deep.equal([['node:id', 'this-node']]);
    expect(sources('postSecurityUsersUserIdRoles')).to.deep.equal([
      ['user:id', 'user_id'],
      ['role:id', 'role_ids'],
    ]);
    // Whose agents are restarted is no question of who may see the group, nor tasks one of agents.
    expect(sources('putAgentsGroupGroupIdRestart')).to.deep.equal([['agent:id', 'all']]);
    expect(sources('getTasksStatus')).to.deep.equal([['*:*', 'none']]);
  });

  for (const one of contract.operations.filter(({ id }) => !WITHOUT_ACTIONS.includes(id))) {
    it(`stands before ${one.id}`, () => {
      expect(refusals(one, NOBODY), 'for who may nothing').to.have.length.greaterThan(0);
      expect(refusals(one, EVERYBODY), 'for who may everything').to.deep.equal([]);
    });
  }

  it('asks for the twin on this node with a cluster', () => {
    const only = (action: string, resource: string) =>
      callerOf(new Permissions('white', [{ actions: [action], resources: [resource], effect: 'allow' }]));
    const [here, manager] = [only('cluster:read', 'node:id:node01'), only('manager:read', '*:*:*')];
    const status = operation('getManagerStatus');
    expect(() => check(true).permit(status, {}, manager)).to.throw(ApiError, 'Resource type: node:id');
    expect(() => check().permit(status, {}, here)).to.throw(ApiError, 'Resource type: *:*');
    expect(check(true).permit(status, {}, here)).to.deep.equal({});
    expect(check().permit(operation('getManagerConfiguration'), {}, manager)).to.deep.equal({ secrets: false });
    expect(check().permit(operation('getManagerConfiguration'), {}, EVERYBODY)).to.deep.equal({ secrets: true });
  });

  it('refuses an action that nobody knows when it is made', () => {
    const odd = { ...operation('getAgents'), actions: ['agent:reed'] };
    expect(() => new PermissionCheck([odd], () => ({ name: 'node01', clusterEnabled: false }))).to.throw('agent:reed');
  });

  it('is the only place that asks what a caller may do', () => {
    const files = readdirSync(new URL('api/', productRoot()), { recursive: true, encoding: 'utf8' });
    const asking = files.filter((file) => file.endsWith('.ts') && /\.(allows|allowed|agentScope)\(/.test(read(file)));
    expect(asking).to.have.members(Object.keys(DECIDING));
  });

  it('is not forgotten: an answer of a handler that has not looked at what is permitted is not sent', async () => {
    const api = await new TestApi().start({}, { handlers: [{ getAgents: () => messageResult('everything') }] });
    try {
      const answer = await api.call('GET', '/agents');
      expect([answer.status, answer.text.includes('everything')]).to.deep.equal([500, false]);
      expect(api.logger.lines.join('\n')).to.include('getAgents answers without looking at permitted.agents');
    } finally {
      await api.remove();
    }
  });
});

/** What a caller is refused of a request: the whole, or parts. */
function refusals(one: Operation, caller: Caller): string[] {
  let permitted: Permitted;
  try {
    permitted = check().permit(one, valuesOf(one), caller);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 4000) throw error;
    return ['everything'];
  }
  return Object.entries(permitted).flatMap(([name, part]) => {
    if (typeof part === 'boolean') return part ? [] : [name];
    if ('scope' in part) return part.scope.start === 'all' ? [] : [name];
    try {
      return part.isAll && part.of(['7']).size === 0 ? [name] : [];
    } catch {
      return [name];
    }
  });
}

function read(file: string): string {
  return readFileSync(new URL(`api/${file}`, productRoot()), 'utf8');
}
