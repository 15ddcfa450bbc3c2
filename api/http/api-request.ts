import type { Caller } from '../auth/authenticator.js';
import type { Operation } from '../contract/contract.js';
import type { User } from '../rbac/rbac-model.js';
import { ApiError } from './api-error.js';
import type { ApiResult } from './envelope.js';
import type { ParameterValues } from './parameter-values.js';

/** A request that passed every check in front of the handlers. */
export class ApiRequest {
  readonly operation: Operation;
  readonly parameters: ParameterValues;
  /** The JSON body, valid for its schema; undefined where the operation takes none. */
  readonly json: unknown;
  /** Aborted when the request time limit is over: whoever waits gives up then. */
  readonly signal: AbortSignal;
  readonly #bytes: Buffer | undefined;
  readonly #caller: Caller | undefined;
  readonly #loginUser: User | undefined;

  constructor(values: {
    operation: Operation;
    parameters: ParameterValues;
    json: unknown;
    bytes: Buffer | undefined;
    caller: Caller | undefined;
    loginUser: User | undefined;
    signal: AbortSignal;
  }) {
    this.operation = values.operation;
    this.parameters = values.parameters;
    this.json = values.json;
    this.signal = values.signal;
    this.#bytes = values.bytes;
    this.#caller = values.caller;
    this.#loginUser = values.loginUser;
  }

  /** Who asks, by token. @throws Error in an operation that takes name and password */
  get caller(): Caller {
    if (this.#caller === undefined) throw new Error(`${this.operation.id} has no token`);
    return this.#caller;
  }

  /** Who logs in, by name and password. @throws Error in an operation that takes a token */
  get loginUser(): User {
    if (this.#loginUser === undefined) throw new Error(`${this.operation.id} has no login`);
    return this.#loginUser;
  }

  /** Name to show in `dapi_errors`: only who may read the node learns its name (rest-api.md 3.4). */
  nodeName(node: string): string {
    const allowed = this.#caller?.permissions.allowed('cluster:read', 'node:id', [node]);
    return allowed?.has(node) === true ? node : 'unknown-node';
  }

  /**
   * The body of an upload as text.
   * @throws ApiError 1912 when there is none, 1911 when it is not UTF-8
   */
  uploadedText(): string {
    if (this.#bytes === undefined || this.#bytes.length === 0) throw new ApiError(1912);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#bytes);
    } catch {
      throw new ApiError(1911);
    }
  }
}

/** Answers one operation. Throws `ApiError` or `Problem` to refuse. */
export type Handler = (request: ApiRequest) => ApiResult | Promise<ApiResult>;

/** Handlers by operation id: one object a file of `api/routes`. */
export type Handlers = Readonly<Record<string, Handler>>;
