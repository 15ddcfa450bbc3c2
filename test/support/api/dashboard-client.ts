import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Router } from '../../../api/contract/router.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { Home } from '../../../lib/home/home.js';
import type { ApiList } from './api-list.js';
import { httpRequest, type TestResponse } from './http-request.js';
import { ResponseChecker } from './response-checker.js';

/** Longer than the API's own time limit. */
const REQUEST_MS = 20_000;
const USER = 'wazuh-wui';
const JSON_TYPE = { 'content-type': 'application/json' };

/** What a dashboard says of the person in front of it. */
export type AuthorizationContext = Readonly<Record<string, unknown>>;

export type DashboardCall = {
  /** A file, as text; other bodies are sent as JSON. */
  readonly body?: unknown;
  readonly type?: string;
};

/**
 * Calls the API as an unmodified dashboard of 4.14 does (dashboard.md 1): GET and DELETE with a JSON body, blanks as `+`, redirects followed with
 * their method, a login by context, and another one after a 401. Each answer is held against the contract.
 */
export class DashboardClient {
  readonly #checker = new ResponseChecker();
  readonly #router = new Router(this.#checker.operations);
  #token: string | undefined;

  constructor(
    private readonly home: Home,
    private readonly context: AuthorizationContext,
  ) {}

  /** Claims of the token in use. */
  get claims(): Record<string, unknown> {
    const [, payload = ''] = (this.#token ?? '').split('.');
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  }

  /** The login of the plugin itself, with the content type and no body. */
  loginWithoutContext(): Promise<TestResponse> {
    return this.#send('POST', '/security/user/authenticate', { ...this.#basic(), ...JSON_TYPE });
  }

  async login(): Promise<void> {
    const path = '/security/user/authenticate/run_as';
    const answer = await this.#send('POST', path, { ...this.#basic(), ...JSON_TYPE }, JSON.stringify(this.context));
    expect(answer.status, answer.text).to.equal(200);
    this.#token = (answer.json() as { data: { token: string } }).data.token;
  }

  /** One call, with a second login where the first token does not count any more. */
  async call(method: string, target: string, options: DashboardCall = {}): Promise<TestResponse> {
    if (this.#token === undefined) await this.login();
    let answer = await this.#authorized(method, target, options);
    if (answer.status === 401) {
      await this.login();
      answer = await this.#authorized(method, target, options);
    }
    const location = answer.headers.location;
    if (answer.status === 307 && location !== undefined) return this.call(method, location, options);
    const found = this.#router.find(method, target.split('?')[0] ?? '');
    if (found.kind === 'operation') this.#checker.check(method, found.operation.path, answer);
    return answer;
  }

  /** A call that succeeds. @param target blanks in it become `+` */
  async ok<T>(method: string, target: string, options: DashboardCall = {}): Promise<T> {
    const answer = await this.call(method, target, options);
    expect([200, 202], `${method} ${target}: ${answer.text.slice(0, 400)}`).to.include(answer.status);
    return answer.json() as T;
  }

  /** A list in which nothing failed: a dashboard shows anything else as an error. */
  async list(method: string, target: string, options: DashboardCall = {}): Promise<ApiList['data']> {
    const { data } = await this.ok<ApiList>(method, target, options);
    expect(data.total_failed_items, `${method} ${target}: ${JSON.stringify(data.failed_items)}`).to.equal(0);
    return data;
  }

  /** Status and code of a refusal, which has a detail to be shown. */
  async refusal(method: string, target: string, options: DashboardCall = {}): Promise<readonly unknown[]> {
    const answer = await this.call(method, target, options);
    const { error, detail } = answer.json() as { error?: number; detail: string };
    expect(detail, answer.text).to.be.a('string').and.not.equal('');
    return [answer.status, error];
  }

  #authorized(method: string, target: string, { body, type }: DashboardCall): Promise<TestResponse> {
    const headers = { authorization: `Bearer ${this.#token ?? ''}`, 'content-type': type ?? JSON_TYPE['content-type'] };
    const bodyless = method === 'GET' || method === 'DELETE' ? '{}' : undefined;
    const text = body === undefined ? bodyless : typeof body === 'string' ? body : JSON.stringify(body);
    return this.#send(method, target, headers, text);
  }

  #send(method: string, target: string, headers: Record<string, string>, body?: string): Promise<TestResponse> {
    const port = readRunRecord(new RunFiles(this.home, 'svc-apid').record())?.addresses['api']?.port;
    if (port === undefined) throw new Error('svc-apid does not listen');
    return httpRequest({
      port,
      tls: true,
      method,
      path: target.replaceAll(' ', '+'),
      headers,
      ...(body === undefined ? {} : { body }),
      timeoutMs: REQUEST_MS,
    });
  }

  #basic(): { authorization: string } {
    const file = this.home.path('api', 'configuration', 'security', 'initial-wui-password');
    const password = readFileSync(file, 'utf8').trim();
    return { authorization: `Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}` };
  }
}
