import { expect } from 'chai';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import type { ApiList } from './api-list.js';
import type { TestResponse } from './http-request.js';
import { ResponseChecker } from './response-checker.js';
import { basic, type TestApi } from './test-api.js';

/** A password that the rules for passwords take. */
export const GOOD_PASSWORD = 'Another-42-word';

/** Calls of one user of the API; each answer is held against the contract. */
export class SecurityClient {
  readonly #checker = new ResponseChecker();

  constructor(
    readonly api: TestApi,
    readonly token: string,
  ) {}

  /** Logs in. */
  static async login(api: TestApi, name?: string, password?: string): Promise<SecurityClient> {
    return new SecurityClient(api, await api.login(name, password));
  }

  /** Logs in with a context. */
  static async runAs(api: TestApi, name: string, password: string, context: object): Promise<SecurityClient> {
    const answer = await SecurityClient.tryRunAs(api, name, password, context);
    expect(answer.status, answer.text).to.equal(200);
    return new SecurityClient(api, (answer.json() as { data: { token: string } }).data.token);
  }

  static tryRunAs(api: TestApi, name: string, password: string, context: object): Promise<TestResponse> {
    return api.request('POST', '/security/user/authenticate/run_as', {
      headers: { authorization: basic(name, password), 'content-type': 'application/json' },
      body: JSON.stringify(context),
    });
  }

  async call(method: HttpMethod, path: string, body?: object): Promise<TestResponse> {
    const authorization = `Bearer ${this.token}`;
    return this.api.request(method, path, {
      headers: body === undefined ? { authorization } : { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** A call that answers a list. */
  async list(method: HttpMethod, path: string, body?: object): Promise<ApiList> {
    const answer = await this.call(method, path, body);
    expect(answer.status, answer.text).to.equal(200);
    this.#checker.check(method, templateOf(path), answer);
    return answer.json() as ApiList;
  }

  /** Ids that failed, by code. */
  async failures(method: HttpMethod, path: string, body?: object): Promise<Record<number, (string | number)[]>> {
    const { data } = await this.list(method, path, body);
    return Object.fromEntries(data.failed_items.map(({ error, id }) => [error.code, id]));
  }

  /** A call that is refused whole. */
  async refused(method: HttpMethod, path: string, body?: object): Promise<[status: number, code: number | undefined]> {
    const answer = await this.call(method, path, body);
    return [answer.status, (answer.json() as { error?: number }).error];
  }

  /** Makes a user. @returns its id */
  async makeUser(username: string, password = GOOD_PASSWORD): Promise<number> {
    return this.#make('/security/users', { username, password });
  }

  async makeRole(name: string): Promise<number> {
    return this.#make('/security/roles', { name });
  }

  async makePolicy(name: string, actions: string[], resources: string[], effect = 'allow'): Promise<number> {
    return this.#make('/security/policies', { name, policy: { actions, resources, effect } });
  }

  async makeRule(name: string, rule: object): Promise<number> {
    return this.#make('/security/rules', { name, rule });
  }

  /** A user with a role of its own that has one policy. */
  async makeUserWith(username: string, actions: string[], resources: string[]): Promise<SecurityClient> {
    const user = await this.makeUser(username);
    const role = await this.makeRole(`${username}-role`);
    const policy = await this.makePolicy(`${username}-policy`, actions, resources);
    await this.list('POST', `/security/roles/${role}/policies?policy_ids=${policy}`);
    await this.list('POST', `/security/users/${user}/roles?role_ids=${role}`);
    return SecurityClient.login(this.api, username, GOOD_PASSWORD);
  }

  async #make(path: string, body: object): Promise<number> {
    const answer = await this.list('POST', path, body);
    expect(answer.error, JSON.stringify(answer)).to.equal(0);
    return Number(answer.data.affected_items[0]?.['id']);
  }
}

/** Path of the contract that a path of a request belongs to. */
function templateOf(path: string): string {
  const [bare = ''] = path.split('?');
  const kinds: Readonly<Record<string, string>> = {
    users: 'user_id',
    roles: 'role_id',
    policies: 'policy_id',
    rules: 'rule_id',
  };
  return bare.replace(
    /^\/security\/(users|roles|policies|rules)\/\d+/,
    (_all, kind: string) => `/security/${kind}/{${kinds[kind] ?? ''}}`,
  );
}
