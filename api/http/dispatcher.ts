import type { Logger } from '../../lib/log/logger.js';
import type { Operation } from '../contract/contract.js';
import { ApiError } from './api-error.js';
import { ApiRequest, type Handler, type Handlers } from './api-request.js';
import { mediaType, refuseUnknownFields } from './body-check.js';
import type { ApiResult } from './envelope.js';
import type { ParameterValues } from './parameter-values.js';
import { Problem } from './problem.js';
import type { RequestContext } from './request-context.js';

/** Runs the handler of an operation within its time limit and gives failures their form (rest-api.md 1.2 step 10). */
export class Dispatcher {
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #requestTimeoutMs: () => number;
  readonly #node: () => string;
  readonly #logger: Logger;

  /**
   * @param handlers by operation id; an operation without one is answered 501
   * @param requestTimeoutMs 0 = no limit
   * @param node name of this node, for `dapi_errors`
   */
  constructor(handlers: readonly Handlers[], requestTimeoutMs: () => number, node: () => string, logger: Logger) {
    this.#handlers = new Map(handlers.flatMap((table) => Object.entries(table)));
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#node = node;
    this.#logger = logger;
  }

  /** Whether this version has the operation. */
  has(operation: Operation): boolean {
    return this.#handlers.has(operation.id);
  }

  /** @throws Problem for every refusal and failure */
  async dispatch(
    context: RequestContext,
    operation: Operation,
    parameters: ParameterValues,
    contentType: string | undefined,
  ): Promise<ApiResult> {
    this.#checkBody(context, operation, contentType);
    const handler = this.#handlers.get(operation.id);
    if (handler === undefined) {
      const detail = `${operation.method} ${operation.path} is not available in this version.`;
      throw new Problem(501, { title: 'Not Implemented', detail });
    }
    const abort = new AbortController();
    const request = new ApiRequest({
      operation,
      parameters,
      json: context.json,
      bytes: context.received.bytes,
      caller: context.caller,
      loginUser: context.loginUser,
      signal: abort.signal,
    });
    try {
      return await this.#withinTime(handler, request, abort);
    } catch (error) {
      throw this.#toProblem(error, request);
    }
  }

  /** A JSON or XML body needs its type said; fields nobody knows are refused. */
  #checkBody(context: RequestContext, operation: Operation, contentType: string | undefined): void {
    const rule = operation.body;
    if (rule === undefined) return;
    if (mediaType(contentType) === undefined && !rule.types.includes('application/octet-stream')) {
      throw new ApiError(6002).toProblem();
    }
    if (rule.json !== undefined) refuseUnknownFields(context.json, rule.json);
  }

  async #withinTime(handler: Handler, request: ApiRequest, abort: AbortController): Promise<ApiResult> {
    const limit = request.parameters.flag('wait_for_complete') ? 0 : this.#requestTimeoutMs();
    const work = Promise.resolve().then(() => handler(request));
    if (limit === 0) return work;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const error = new ApiError(3021);
        abort.abort(error);
        reject(error);
      }, limit);
    });
    try {
      return await Promise.race([work, timeout]);
    } finally {
      clearTimeout(timer);
      // After a time-out the handler may still fail: nobody waits for it any more.
      work.catch(() => {});
    }
  }

  #toProblem(error: unknown, request: ApiRequest): Problem {
    if (error instanceof Problem) return error;
    const node = request.nodeName(this.#node());
    if (error instanceof ApiError) return error.toProblem(node);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#logger.error(`${request.operation.method} ${request.operation.path} failed: ${reason}`, { err: error });
    return new ApiError(1000).toProblem(node);
  }
}
