import { readFileSync } from 'node:fs';
import type { Agent } from 'node:https';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { Home } from '../../../lib/home/home.js';
import { httpRequest, type TestResponse } from './http-request.js';

/** Longer than the API's own time limit. */
const REQUEST_MS = 15_000;

/** A client of the HTTPS API that finds it again after each restart. */
export class ApiClient {
  readonly #home: Home;
  readonly #agent: Agent | undefined;
  readonly #passwordOf: Home;
  readonly #host: string;
  #token: string | undefined;

  /**
   * @param agent keeps connections; without it each request has its own
   * @param passwordOf the home whose first password counts: in a cluster that of its first node
   * @param host at which it listens
   */
  constructor(home: Home, agent?: Agent, passwordOf = home, host = '127.0.0.1') {
    this.#home = home;
    this.#agent = agent;
    this.#passwordOf = passwordOf;
    this.#host = host;
  }

  /** The answer; undefined when there was none. */
  async call(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<TestResponse | undefined> {
    const port = this.#port();
    if (port === undefined) return undefined;
    try {
      this.#token ??= await this.#login(port);
      const answer = await httpRequest({
        host: this.#host,
        port,
        tls: true,
        method,
        path,
        headers: { authorization: `Bearer ${this.#token}`, ...headers },
        ...(body === undefined ? {} : { body }),
        timeoutMs: REQUEST_MS,
        ...(this.#agent === undefined ? {} : { agent: this.#agent }),
      });
      if (answer.status === 401) this.#token = undefined;
      return answer;
    } catch {
      return undefined;
    }
  }

  async #login(port: number): Promise<string> {
    const file = this.#passwordOf.path('api', 'configuration', 'security', 'initial-admin-password');
    const credentials = Buffer.from(`admin:${readFileSync(file, 'utf8').trim()}`).toString('base64');
    const answer = await httpRequest({
      host: this.#host,
      port,
      tls: true,
      method: 'POST',
      path: '/security/user/authenticate?raw=true',
      headers: { authorization: `Basic ${credentials}` },
      timeoutMs: REQUEST_MS,
    });
    if (answer.status !== 200) throw new Error(`login: ${String(answer.status)}`);
    return answer.text;
  }

  #port(): number | undefined {
    return readRunRecord(new RunFiles(this.#home, 'svc-apid').record())?.addresses['api']?.port;
  }
}
