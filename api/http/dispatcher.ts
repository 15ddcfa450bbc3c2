import type { Operation } from '../../lib/contract/api-contract.js';
import type { Logger } from '../../lib/log/logger.js';
import type { ApiSettings } from '../api-settings.js';
import { ApiError } from './api-error.js';
import { ApiRequest, type OperationHandler, type OperationHandlers } from './api-request.js';
import { mediaType, refuseUnknownFields } from './body-check.js';
import type { ApiResult } from './envelope.js';
import type { ParameterValues } from './parameter-values.js';
import { ProblemError } from './problem-error.js';
import type { RequestContext } from './request-context.js';

/** A handler of whatever operation: nothing can be called with it but what is known to be a request of its own. */
type AnyHandler = OperationHandler<never>;

/** What of the settings decides how an operation is run. */
type DispatcherSettings = Pick<ApiSettings, 'requestTimeoutMs' | 'experimentalFeatures'>;

/** Runs the handler of an operation within its time limit and gives failures their form (rest-api.md 1.2 step 10). */
export class Dispatcher {
  readonly #handlers: ReadonlyMap<string, AnyHandler>;
  readonly #settings: () => DispatcherSettings;
  readonly #node: () => string;
  readonly #logger: Logger;

  /**
   * @param handlers by operation id; an operation without one is answered 501
   * @param settings in force now
   * @param node name of this node, for `dapi_errors`
   */
  constructor(
    handlers: readonly OperationHandlers[],
    settings: () => DispatcherSettings,
    node: () => string,
    logger: Logger,
  ) {
    this.#handlers = new Map(handlers.flatMap((table) => Object.entries(table)));
    this.#settings = settings;
    this.#node = node;
    this.#logger = logger;
  }

  /** Whether this version has the operation. */
  has(operation: Operation): boolean {
    return this.#handlers.has(operation.id);
  }

  /** @throws ProblemError for every refusal and failure */
  async dispatch(
    context: RequestContext,
    operation: Operation,
    parameters: ParameterValues,
    contentType: string | undefined,
  ): Promise<ApiResult> {
    this.#checkBody(context, operation, contentType);
    const { requestTimeoutMs, experimentalFeatures } = this.#settings();
    const handler = this.#handlers.get(operation.id);
    const abort = new AbortController();
    const request = new ApiRequest<never>({
      operation,
      // Held against the contract before, and the type of what this operation's handler takes comes from there.
      parameters: parameters as never,
      body: bodyOf(context, operation) as never,
      caller: context.caller,
      loginUser: context.loginUser,
      signal: abort.signal,
    });
    try {
      if (operation.experimental && !experimentalFeatures) throw new ApiError(1122);
      if (handler === undefined) throw notImplemented(operation);
      const limitMs = parameters['wait_for_complete'] === true ? 0 : requestTimeoutMs;
      return await withinTime(() => handler(request), limitMs, abort);
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

  #toProblem(error: unknown, request: ApiRequest<never>): ProblemError {
    if (error instanceof ProblemError) return error;
    const node = request.nodeName(this.#node());
    if (error instanceof ApiError) return error.toProblem(node);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#logger.error(`${request.operation.method} ${request.operation.path} failed: ${reason}`, { err: error });
    return new ApiError(1000).toProblem(node);
  }
}

/**
 * Runs a handler until its time is over, which it is told by `abort`.
 * @param limitMs 0 = no limit
 * @throws ApiError 3021 when it takes longer
 */
async function withinTime(
  handle: () => ApiResult | Promise<ApiResult>,
  limitMs: number,
  abort: AbortController,
): Promise<ApiResult> {
  const work = handle();
  // What is there at once needs no time limit.
  if (limitMs === 0 || !(work instanceof Promise)) return work;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new ApiError(3021);
      abort.abort(error);
      reject(error);
    }, limitMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    // After a time-out the handler may still fail: nobody waits for it any more.
    work.catch(() => {});
  }
}

/** 501: names what of the product is not built, where the contract says it. */
function notImplemented({ method, path, missing }: Operation): ProblemError {
  const reason = missing === undefined ? '' : `: ${missing}`;
  const detail = `${method} ${path} is not available in this version${reason}.`;
  return new ProblemError(501, { title: 'Not Implemented', detail });
}

/** What was sent: parsed, or as bytes; nothing of a body that the operation does not take. */
function bodyOf(context: RequestContext, { body }: Operation): unknown {
  if (body === undefined) return undefined;
  return body.json === undefined ? context.received.bytes : context.json;
}
