import type { ApiAnswer, ApiCall, ApiClient } from './api-client.js';
import type { ApiStreams } from './api-streams.js';
import { ApiLogin, type SessionOptions } from './login.js';
import { type ApiMethod, type ApiOperation, loadOperations } from './operations.js';
import { type ApiList, listOf } from './pages.js';
import { ApiRefusalError, refusalText } from './refusal.js';
import { type ApiRequest, parseRequest } from './request-line.js';
import { loginCommand, SessionError } from './session-store.js';
import { ApiUsageError } from './usage-error.js';

const JSON_TYPE = 'application/json';
const FIRST_REFUSAL = 400;
const UNAUTHORIZED = 401;
/** Of a stream, which has no answer as a whole. */
const BEGUN: ApiAnswer = { status: 200, reason: 'OK', type: 'text/event-stream', text: '' };

/** A parameter that is left out where it is undefined. */
export type ApiParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Calls operations of the contract with a login, which is opened at the first call. */
export class ApiCaller {
  readonly operations: readonly ApiOperation[];
  readonly #options: SessionOptions;
  readonly #streams: ApiStreams;
  #login: ApiLogin | undefined;

  constructor(options: SessionOptions, streams: ApiStreams, operations = loadOperations()) {
    this.#options = options;
    this.#streams = streams;
    this.operations = operations;
  }

  /** Sends a request that was held against the contract. @throws ApiRefusalError, and what `ApiLogin.open` and `ApiClient.send` throw */
  async send(request: ApiRequest, body?: Buffer | string): Promise<ApiAnswer> {
    checkBody(request.operation, body);
    const headers = body === undefined ? {} : { 'content-type': bodyType(request.operation) };
    return this.#answered((client) => client.send({ ...callOf(request), body, headers }));
  }

  /** The same of an operation whose answer goes on: what comes of it. @throws as {@link ApiCaller.send} */
  async stream(
    request: ApiRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    // Whoever opens one again may have a newer login, and the API another port.
    this.#login = undefined;
    let chunks: AsyncIterable<Buffer> | undefined;
    await this.#answered(async (client) => {
      const answer = await client.stream({ ...callOf(request), headers }, signal);
      if ('status' in answer) return answer;
      chunks = answer;
      return BEGUN;
    });
    if (chunks === undefined) throw new ApiRefusalError(`${request.path} answered no stream`);
    return chunks;
  }

  /** @throws ApiRefusalError, SessionError */
  async #answered(ask: (client: ApiClient) => Promise<ApiAnswer>): Promise<ApiAnswer> {
    this.#login ??= await ApiLogin.open(this.#options, this.#streams);
    const login = this.#login;
    let answer = await ask(login.client);
    if (answer.status === UNAUTHORIZED && (await login.renew())) answer = await ask(login.client);
    if (answer.status === UNAUTHORIZED) {
      throw new SessionError(
        `${refusalText(answer)}\n  The login of ${login.session.user} is over: its time is up, it was revoked, or its rights were ` +
          `changed. Log in again: ${loginCommand(this.#options.session)}`,
      );
    }
    if (answer.status >= FIRST_REFUSAL) throw new ApiRefusalError(refusalText(answer));
    return answer;
  }

  /**
   * Calls an operation that answers a list, with parameters and a body for it.
   * @throws ApiRefusalError also when nothing at all could be done
   */
  async list(method: ApiMethod, path: string, parameters: ApiParameters = {}, body?: object): Promise<ApiList> {
    const answer = await this.send(
      this.request(method, path, parameters),
      body === undefined ? undefined : JSON.stringify(body),
    );
    const list = listOf(answer);
    if (list === undefined) throw new ApiRefusalError(`${method} ${path} answered no list`);
    return list;
  }

  /** A request for an operation. @throws ApiUsageError */
  request(method: ApiMethod, path: string, parameters: ApiParameters = {}): ApiRequest {
    const pairs = Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${String(value)}`],
    );
    return parseRequest(this.operations, method, path, pairs);
  }
}

function callOf({ operation, path, query }: ApiRequest): ApiCall {
  return { method: operation.method, path, query };
}

function checkBody({ method, path, bodyTypes, bodyRequired }: ApiOperation, body: Buffer | string | undefined): void {
  if (body === undefined) {
    if (bodyRequired) {
      throw new ApiUsageError(`${method} ${path} needs a body: -d '{...}', -d @FILE, or -d - for the standard input`);
    }
    return;
  }
  if (bodyTypes.length === 0) throw new ApiUsageError(`${method} ${path} takes no body`);
  if (!bodyTypes.includes(JSON_TYPE)) return;
  try {
    JSON.parse(body.toString());
  } catch (error) {
    throw new ApiUsageError(`the body is no JSON: ${(error as Error).message}`);
  }
}

function bodyType({ bodyTypes }: ApiOperation): string {
  return bodyTypes.includes(JSON_TYPE) ? JSON_TYPE : (bodyTypes[0] ?? JSON_TYPE);
}
