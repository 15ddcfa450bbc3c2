import http from 'node:http';
import { expect } from 'chai';
import { loadContract } from '../../../../lib/contract/api-contract.js';
import type { ApiList } from '../../../support/api/api-list.js';
import { httpRequest, type TestResponse } from '../../../support/api/http-request.js';
import { type Probe, probesOf, type Requirement } from '../../../support/api/rbac/permission-probes.js';
import {
  PermissionWorld,
  WORLD_AGENTS,
  WORLD_FILES,
  WORLD_GROUPS,
  WORLD_NODE,
  type WorldUser,
} from '../../../support/api/rbac/permission-world.js';
import { randomPolicies, seededRandom } from '../../../support/api/rbac/random-policies.js';
import { ReferenceEvaluator, type ReferenceMode } from '../../../support/api/rbac/reference-evaluator.js';
import { specifiedRoles } from '../../../support/api/rbac/specified-roles.js';
import { specifiedOperations } from '../../../support/api/specified-operations.js';

/** Policies that are made up, half of them in each mode. */
const RANDOM_POLICIES = 100;
const SEED = 20_260_508;
/**
 * Every request for every policy takes minutes: unless the environment asks for it, a policy meets these shares of the operations
 * whose actions it names, and of the others, so that each operation meets dozens of policies.
 */
const WHOLE = process.env['SVC_TEST_WHOLE_MATRIX'] !== undefined;
const NAMED_SHARE = 0.4;
const OTHER_SHARE = 0.15;
/** Logins are no matter of permissions. */
const LOGINS = /\/user\/authenticate/;
/** They end tokens: the last requests of a user. */
const LAST = ['PUT /security/user/revoke', 'PUT /security/config', 'DELETE /security/config'];
/**
 * Tried with the built-in roles alone: programs are started for it, or it lists other files than those of the world that
 * policies name (test/unit/api/rules-tests.test.ts has its permissions).
 */
const BUILT_IN_ROLES = [
  'GET /manager/configuration/validation',
  'GET /cluster/configuration/validation',
  'GET /rules/tests/files',
];

type Body = Partial<ApiList> & { readonly error?: number; readonly detail?: string; readonly title?: string };

/** What lists show of everything there is, as ids. */
const SHOWN: Readonly<Record<string, (body: ApiList) => string[]>> = {
  'GET /agents': ids('id'),
  'GET /groups': ids('name'),
  'GET /rules': ids('filename'),
  'GET /rules/files': ids('filename'),
  'GET /rules/groups': ({ data }) => data.affected_items.map((name) => `${String(name)}_rules.xml`),
  'GET /rules/requirement/pci_dss': ({ data }) =>
    data.affected_items.map((value) => (String(value) === '0' ? 'one_rules.xml' : 'two_rules.xml')),
  'GET /decoders': ids('filename'),
  'GET /decoders/files': ids('filename'),
  'GET /decoders/parents': ids('filename'),
  'GET /lists': ids('filename'),
  'GET /lists/files': ids('filename'),
  'GET /security/users': ids('id'),
  'GET /security/roles': ids('id'),
  'GET /security/policies': ids('id'),
  'GET /security/rules': ids('id'),
};

function ids(field: string): (body: ApiList) => string[] {
  return ({ data }) => data.affected_items.map((item) => String(item[field]));
}

describe('permissions of every operation are those of the specification', () => {
  const operations = loadContract().operations.filter(({ path }) => !LOGINS.test(path));
  const specified = new Map(specifiedOperations().map((one) => [one.name, one.actions]));
  const roles = specifiedRoles();
  const agent = new http.Agent({ keepAlive: true });
  after(() => agent.destroy());

  it('knows the built-in roles of the specification', () => {
    expect(roles.map(({ id, policies }) => [id, policies.length])).to.deep.equal([
      [1, 24],
      [2, 14],
      [3, 2],
      [4, 2],
      [5, 3],
      [6, 2],
      [7, 2],
    ]);
  });

  it('are declared in the contract, operation by operation', () => {
    for (const operation of operations) {
      const actions = specifiedActions(specified, operation.method, operation.path);
      const needed = probesOf(operation, actions, false).flatMap(({ requirements }) => requirements);
      const names = new Set(needed.map(({ action }) => action));
      expect([...names], operation.id).to.have.members([...operation.actions]);
    }
  });

  for (const [mode, cluster] of [
    ['white', false],
    ['black', true],
  ] as const) {
    describe(`in ${mode} mode ${cluster ? 'with' : 'without'} a cluster`, () => {
      const random = seededRandom(SEED + (cluster ? 1 : 0));
      const own = Array.from({ length: RANDOM_POLICIES / 2 }, (_none, index) => ({
        name: `random-${index}`,
        policies: randomPolicies(random),
      }));
      const probes = operations.flatMap((operation) =>
        probesOf(operation, specifiedActions(specified, operation.method, operation.path), cluster),
      );
      let world: PermissionWorld;
      let matrix: Matrix;
      before(async () => {
        const builtIn = roles.map(({ id, name }) => ({ name, roles: [id] }));
        const users: WorldUser[] = [{ name: 'nobody', roles: [] }, ...builtIn, ...own];
        world = await PermissionWorld.start({ mode, cluster, users });
        matrix = new Matrix(world, mode, agent, users);
      });
      after(() => world.stop());

      it('has a request for every operation', () => {
        expect(new Set(probes.map(({ operation }) => operation.id)).size).to.equal(operations.length);
      });

      for (const { name, policies } of [{ name: 'nobody', policies: [] }, ...roles]) {
        it(`for ${name}`, async () => {
          const chosen = policies.length === 0 || WHOLE ? probes : onePerOperation(probes);
          expect(await matrix.differences(name, policies, chosen)).to.deep.equal([]);
        });
      }

      it(`for ${own.length} policies that are made up`, async () => {
        const cheap = probes.filter(({ name }) => !BUILT_IN_ROLES.some((one) => name.startsWith(one)));
        const differences: string[] = [];
        for (const { name, policies } of own) {
          const named = new Set(policies.flatMap(({ actions }) => actions));
          const isNamed = ({ requirements }: Probe) => requirements.some(({ action }) => named.has(action));
          const chosen = onePerOperation(cheap).filter(
            (probe) => random() < (isNamed(probe) ? NAMED_SHARE : OTHER_SHARE),
          );
          const found = await matrix.differences(name, policies, WHOLE ? cheap : chosen);
          if (found.length > 0) differences.push(...found, `with ${JSON.stringify(policies)}`);
        }
        expect(differences.join('\n')).to.equal('');
      });

      /** Which request of an operation changes from user to user. */
      function onePerOperation(from: readonly Probe[]): Probe[] {
        const chosen = new Map<string, Probe>();
        for (const probe of from) {
          if (!chosen.has(probe.operation.id) || random() < 0.4) chosen.set(probe.operation.id, probe);
        }
        return [...chosen.values()];
      }
    });
  }
});

/** The actions of an operation; those of a twin are of the cluster, on the node of its path (rest-api.md 6.15). */
function specifiedActions(
  specified: ReadonlyMap<string, readonly string[] | undefined>,
  method: string,
  path: string,
): readonly string[] | undefined {
  const own = specified.get(`${method} ${path}`);
  if (own !== undefined) return own;
  if (path.startsWith('/cluster/')) {
    if (path === '/cluster/api/config') return ['cluster:read_api_config'];
    if (path.endsWith('/differences')) return ['cluster:read', 'cluster:read_api_config'];
    if (method === 'GET') return ['cluster:read'];
    return path.endsWith('/configuration') ? ['cluster:update_config'] : ['cluster:read', 'cluster:restart'];
  }
  if (path.startsWith('/experimental/')) {
    const family = path.split('/')[2] ?? '';
    return [`${family}:${method === 'DELETE' ? 'clear' : 'read'}`];
  }
  if (path.startsWith('/ciscat/')) return ['ciscat:read'];
  return undefined;
}

/** Sends requests of users, and holds what becomes of them against the evaluator. */
class Matrix {
  readonly #everything: Readonly<Record<string, readonly string[]>>;

  constructor(
    private readonly world: PermissionWorld,
    private readonly mode: ReferenceMode,
    private readonly agent: http.Agent,
    users: readonly WorldUser[],
  ) {
    const own = users.map((_user, index) => String(100 + index));
    const policies = users.flatMap((user) => user.policies ?? []).map((_policy, index) => String(101 + index));
    const upTo = (count: number) => Array.from({ length: count }, (_none, index) => String(index + 1));
    this.#everything = {
      ...WORLD_FILES,
      'agent:id': Object.keys(WORLD_AGENTS),
      'group:id': WORLD_GROUPS,
      'node:id': [WORLD_NODE],
      'user:id': [...upTo(2), ...own],
      'role:id': [...upTo(7), ...own],
      'policy:id': [...upTo(36), ...policies],
      'rule:id': upTo(2),
    };
  }

  /** @returns what is not as the specification has it, a line each */
  async differences(user: string, policies: WorldUser['policies'], probes: readonly Probe[]): Promise<string[]> {
    const evaluator = new ReferenceEvaluator(this.mode, policies ?? [], (id) => WORLD_AGENTS[id] ?? []);
    const order = [...probes].sort((a, b) => Number(isLast(a)) - Number(isLast(b)));
    const differences: string[] = [];
    let token = await this.world.login(user);
    for (const probe of order) {
      const refused = probe.requirements.filter((one) => this.#isRefused(evaluator, one)).map(({ type }) => type);
      if (probe.onlyWhenRefused && !this.#nothingAllowed(evaluator, probe, refused)) continue;
      const answer = await this.#send(probe, token);
      const difference = this.#difference(evaluator, probe, refused, answer);
      if (difference !== undefined) differences.push(`${user}: ${probe.name}: ${difference}`);
      if (isLast(probe)) token = await this.world.login(user);
    }
    return differences;
  }

  #nothingAllowed(evaluator: ReferenceEvaluator, { requirements }: Probe, refused: readonly string[]): boolean {
    return (
      refused.length > 0 || requirements.some((one) => one.form === 'all' && this.#allowed(evaluator, one).length === 0)
    );
  }

  #values({ form, type, values }: Requirement): readonly string[] {
    return form === 'named' ? values : (this.#everything[type] ?? []);
  }

  #allowed(evaluator: ReferenceEvaluator, requirement: Requirement): string[] {
    const { action, type } = requirement;
    return this.#values(requirement).filter((value) => evaluator.may(action, type, value));
  }

  /** Whether the request is refused whole for want of this (rest-api.md 5.2). */
  #isRefused(evaluator: ReferenceEvaluator, requirement: Requirement): boolean {
    return requirement.form !== 'all' && this.#allowed(evaluator, requirement).length === 0;
  }

  /** What is not as the specification has it. */
  #difference(
    evaluator: ReferenceEvaluator,
    probe: Probe,
    refused: readonly string[],
    answer: TestResponse,
  ): string | undefined {
    const { status, text } = answer;
    const body = (text.startsWith('{') ? answer.json() : {}) as Body;
    const seen = `${status} ${text.slice(0, 300)}`;
    if (refused.length > 0) {
      const expected = refused.map((type) => `Permission denied: Resource type: ${type}`);
      const isRefusal = status === 403 && body.error === 4000 && expected.includes(body.detail ?? '');
      return isRefusal ? undefined : `expected 403/4000 for ${refused.join(' or ')}, got ${seen}`;
    }
    // Who may use what is not there yet is told that.
    if (status === 501 && probe.operation.missing !== undefined) return undefined;
    if (status === 403) return `expected no refusal, got ${seen}`;
    if (status === 401 || status === 405 || (status === 400 && body.error === undefined)) {
      return `not understood: ${seen}`;
    }
    if (body.data?.failed_items === undefined) return undefined;
    return this.#listDifference(evaluator, probe, body as ApiList);
  }

  #listDifference(evaluator: ReferenceEvaluator, probe: Probe, body: ApiList): string | undefined {
    const named = probe.requirements.filter(({ form }) => form === 'named');
    const denied = named.flatMap(({ action, type, values }) =>
      values.filter((value) => !evaluator.may(action, type, value)),
    );
    const failed = body.data.failed_items
      .filter(({ error }) => error.code === 4000)
      .flatMap(({ id }) => id.map(String));
    if (failed.sort().join() !== denied.sort().join()) {
      return `expected 4000 for [${denied.join()}], got [${failed.join()}]: ${JSON.stringify(body.data.failed_items)}`;
    }
    const show = SHOWN[`${probe.operation.method} ${probe.target.split('?')[0] ?? ''}`];
    const [all] = probe.requirements;
    if (show === undefined || all === undefined) return undefined;
    const expected = this.#allowed(evaluator, all).filter((value) => this.#everything[all.type]?.includes(value));
    const shown = [...new Set(show(body))];
    if (shown.sort().join() === expected.sort().join()) return undefined;
    return `expected [${expected.join()}] to be shown, got [${shown.join()}]`;
  }

  #send({ operation, target, body, contentType }: Probe, token: string): Promise<TestResponse> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers['content-type'] = contentType ?? '';
    const { port } = this.world.api;
    const content = body === undefined ? {} : { body: this.#bodyOf(operation.id, body) };
    return httpRequest({ port, method: operation.method, path: target, headers, agent: this.agent, ...content });
  }

  /** The settings stay those of the world. */
  #bodyOf(operation: string, body: string): string {
    if (operation !== 'putSecurityConfig') return body;
    return JSON.stringify({ ...(JSON.parse(body) as object), rbac_mode: this.mode });
  }
}

function isLast({ operation }: Probe): boolean {
  return LAST.includes(`${operation.method} ${operation.path}`);
}
