import http from 'node:http';
import https from 'node:https';
import fc from 'fast-check';
import { Router } from '../../../../api/contract/router.js';
import { parseRequestTarget } from '../../../../api/http/request-target.js';
import { loadContract, type Operation } from '../../../../lib/contract/api-contract.js';
import { httpRequest, type TestResponse } from '../http-request.js';
import { ResponseChecker } from '../response-checker.js';
import { codeOf, isSpecifiedFailure } from '../specified-failure.js';
import { type FuzzRequest, requestArbitrary } from './request-arbitrary.js';

/** No answer may take longer, milliseconds. */
const LONGEST_MS = 2000;
/** A client that sends nonsense gets one of these where there is no operation to answer. */
const REFUSALS = [307, 400, 401, 404, 405, 413, 415, 417, 431];
const SHOWN_CHARACTERS = 400;

export type FuzzTarget = {
  /** Port now: a daemon may come back on another one. */
  readonly port: () => number;
  readonly tls: boolean;
  /** A fresh token of an administrator, and the `Authorization` of its login. */
  readonly login: () => Promise<{
    readonly token: string;
    readonly basic: string;
  }>;
  /** Takes what was logged as an error since the last time. */
  readonly takeErrors: () => readonly string[];
  /** Ids of operations that are not tried. */
  readonly leaveOut?: readonly string[];
};

/** What was sent and what came back. */
export type FuzzReport = {
  requests: number;
  /** Answers by status, and behind it the code of those that failed. */
  readonly answers: Map<string, number>;
  slowestMs: number;
  slowest: string;
  /** What is wrong, with the shortest request that showed it and how often it was seen. */
  readonly findings: Map<string, { request: string; times: number }>;
};

/** Sends requests of the whole contract and holds each answer against it (rest-api.md 3, 4). */
export class ContractFuzzer {
  readonly report: FuzzReport = {
    requests: 0,
    answers: new Map(),
    slowestMs: 0,
    slowest: '',
    findings: new Map(),
  };
  readonly #checker = new ResponseChecker();
  readonly #router = new Router(this.#checker.operations);
  readonly #agent: http.Agent;
  #credentials: { readonly token: string; readonly basic: string } | undefined;

  constructor(private readonly target: FuzzTarget) {
    this.#agent = new (target.tls ? https : http).Agent({
      keepAlive: true,
      maxSockets: 1,
    });
  }

  /** All requests are sent, whatever is found. @param runs number of requests */
  async run(runs: number): Promise<FuzzReport> {
    const requests = requestArbitrary(loadContract(), this.target.leaveOut);
    const property = fc.asyncProperty(requests, (request) => this.try(request));
    await fc.assert(property, { numRuns: runs, endOnFailure: true });
    this.#agent.destroy();
    return this.report;
  }

  /** Sends one request and notes what is wrong with its answer. */
  async try(request: FuzzRequest): Promise<void> {
    this.report.requests += 1;
    try {
      let { answer, took } = await this.#send(request);
      // The fuzz itself ends its tokens now and then; a machine may stall once.
      const isLoggedOut = answer.status === 401 && request.credentials === 'good';
      if (isLoggedOut) this.#credentials = undefined;
      if (isLoggedOut || took > LONGEST_MS) ({ answer, took } = await this.#send(request));
      if (answer.status === 401 && request.credentials === 'good') this.#find(request, 'its own login is refused');
      this.#count(request, answer, took);
      if (took > LONGEST_MS) this.#find(request, `takes more than ${String(LONGEST_MS)} ms`);
      this.#judge(request, answer);
    } catch (error) {
      this.#find(request, `has no answer: ${String(error)}`);
    }
    for (const line of this.target.takeErrors()) this.#find(request, `logs ${line.split('\n')[0] ?? ''}`, line);
  }

  async #send(request: FuzzRequest): Promise<{ readonly answer: TestResponse; readonly took: number }> {
    const { method, target, headers, body, credentials } = request;
    const operation = this.#operationOf(request);
    this.#credentials ??= await this.target.login();
    const { token, basic } = this.#credentials;
    const good = operation?.credentials === 'basic' ? basic : `Bearer ${token}`;
    const authorization = credentials === 'good' ? { authorization: good } : {};
    const hostile = credentials === 'hostile' ? { authorization: 'Bearer a.b.c' } : {};
    const type = body.type === undefined ? {} : { 'content-type': body.type };
    const began = performance.now();
    const answer = await httpRequest({
      port: this.target.port(),
      tls: this.target.tls,
      method,
      path: target,
      headers: { ...headers, ...type, ...authorization, ...hostile },
      ...(body.bytes === undefined ? {} : { body: body.bytes }),
      agent: this.#agent,
      timeoutMs: 30_000,
    });
    return { answer, took: performance.now() - began };
  }

  #judge(request: FuzzRequest, answer: TestResponse): void {
    const operation = this.#operationOf(request);
    const hasFailed = answer.status >= 500 && request.method !== 'HEAD';
    if (hasFailed && !isSpecifiedFailure(answer, operation)) {
      this.#find(request, `fails with ${String(answer.status)} ${String(codeOf(answer) ?? '')}`, answer.text);
    }
    // What did not change has no body, for those who ask only then.
    const isUnchanged = answer.status === 304 && 'if-none-match' in request.headers;
    if (request.method === 'HEAD' || isUnchanged) {
      if (answer.text !== '') this.#find(request, `answers ${isUnchanged ? '304' : 'HEAD'} with a body`);
    } else if (operation === undefined || answer.status === 431) {
      if (!REFUSALS.includes(answer.status)) this.#find(request, `answers ${String(answer.status)} for no operation`);
    } else {
      try {
        this.#checker.check(operation.method, operation.path, answer);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#find(request, `is not as the contract has it: ${reason.slice(0, 160)}`, reason);
      }
    }
  }

  /** What the request gets to: not always what it was made for. */
  #operationOf({ method, target }: FuzzRequest): Operation | undefined {
    const found = this.#router.find(method, parseRequestTarget(target).path);
    return found.kind === 'operation' ? found.operation : undefined;
  }

  #count({ method, target }: FuzzRequest, answer: TestResponse, took: number): void {
    const { answers } = this.report;
    const code = answer.status >= 500 ? codeOf(answer) : undefined;
    const key = code === undefined ? String(answer.status) : `${String(answer.status)} ${String(code)}`;
    answers.set(key, (answers.get(key) ?? 0) + 1);
    if (took <= this.report.slowestMs) return;
    this.report.slowestMs = took;
    this.report.slowest = `${method} ${target.slice(0, SHOWN_CHARACTERS)}`;
  }

  #find(request: FuzzRequest, what: string, detail = ''): void {
    const key = `${request.operation.id}: ${what}`;
    const { method, target, headers, body, credentials } = request;
    const sent = body.bytes === undefined ? '' : `\n    ${String(body.type)}: ${body.bytes.toString('latin1')}`;
    const text = `${method} ${target} ${credentials} ${JSON.stringify(headers)}${sent}\n    ${detail}`;
    const before = this.report.findings.get(key);
    const shorter = before === undefined || text.length < before.request.length ? text : before.request;
    this.report.findings.set(key, {
      request: shorter,
      times: (before?.times ?? 0) + 1,
    });
  }
}

/** Findings a line or two each; none is an empty text. */
export function findingsText({ findings }: FuzzReport): string {
  return [...findings]
    .map(
      ([what, { request, times }]) => `${what} (${String(times)} times)\n    ${request.slice(0, 4 * SHOWN_CHARACTERS)}`,
    )
    .join('\n');
}

/** What was sent and answered, for people. */
export function reportText({ requests, answers, slowestMs, slowest }: FuzzReport): string {
  const counted = [...answers].sort(([a], [b]) => a.localeCompare(b)).map(([key, count]) => `${key}: ${String(count)}`);
  return `${String(requests)} requests; ${counted.join(', ')}; slowest ${slowestMs.toFixed(0)} ms: ${slowest}`;
}
