import { BusError } from '../../lib/bus/bus-error.js';
import type { Operation } from '../../lib/contract/api-contract.js';
import type { Logger } from '../../lib/log/logger.js';
import type { ApiSettings } from '../api-settings.js';
import type { CallerRights } from '../auth/authenticator.js';
import { NodeFailure } from '../cluster/node-failure.js';
import { type RequestPart, WHOLE_REQUEST } from '../cluster/request-part.js';
import { clusterUnavailable } from '../daemons/cluster-failure.js';
import { diskFull, isDiskFull, timedOut } from '../daemons/daemon-failure.js';
import type { PermissionCheck } from '../rbac/permission-check.js';
import type { Permitted } from '../rbac/permitted.js';
import type { User } from '../rbac/rbac-model.js';
import { ApiError } from './api-error.js';
import {
  ApiRequest,
  endsWithClient,
  isChange,
  type OperationHandler,
  type OperationHandlers,
  shownNode,
} from './api-request.js';
import { mediaType, refuseUnknownFields } from './body-check.js';
import type { ApiResult } from './envelope.js';
import type { ParameterValues } from './parameter-values.js';
import { ProblemError } from './problem-error.js';
import type { RequestContext } from './request-context.js';

/** A handler of whatever operation: nothing can be called with it but what is known to be a request of its own. */
type AnyHandler = OperationHandler<never>;

/** Refuses an operation that this version does not have. */
type MissingHandler = (request: ApiRequest) => Promise<never>;

/** What of the settings decides how an operation is run. */
type DispatcherSettings = Pick<ApiSettings, 'requestTimeoutMs' | 'experimentalFeatures'>;

/** An operation that is to be run, its parameters and body checked, wherever it came from. */
export type DispatchedCall = {
  readonly operation: Operation;
  readonly parameters: ParameterValues;
  /** Parsed, or as bytes. */
  readonly body: unknown;
  /** Undefined for a login. */
  readonly caller: CallerRights | undefined;
  readonly loginUser: User | undefined;
};

/** A call that other nodes may have to answer, or to answer parts of. */
export type SpreadCall = {
  readonly call: DispatchedCall;
  /** For the look at who has to answer. */
  readonly request: ApiRequest;
  /** Runs it on this node, whole or the part that is its own, with other parameters where they are given. @throws what handlers throw */
  readonly here: (part: RequestPart, parameters?: ParameterValues) => Promise<ApiResult>;
  /** Milliseconds that the answer has, 0 for no limit. */
  readonly limitMs: number;
};

/** Nodes of a cluster that answer calls together (daemons-and-config.md 10.5). */
export interface CallSpreader {
  /** Whether other nodes may have to answer an operation. */
  takes(operation: Operation): boolean;
  /** @throws ApiError and ProblemError as handlers do */
  run(spread: SpreadCall): Promise<ApiResult>;
}

export type DispatcherParts = {
  /** By operation id. */
  readonly handlers: readonly OperationHandlers[];
  /** Refuses operations without a handler. */
  readonly missing: MissingHandler;
  readonly permissions: PermissionCheck;
  readonly spreader: CallSpreader;
  /** In force now. */
  readonly settings: () => DispatcherSettings;
  /** Name of this node, for `dapi_errors`. */
  readonly node: () => string;
  readonly logger: Logger;
};

/** Decides what the caller may, runs the handler within its time limit, and gives failures their form (rest-api.md 1.2 step 10). */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #handlers: ReadonlyMap<string, AnyHandler>;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#handlers = new Map(parts.handlers.flatMap((table) => Object.entries(table)));
  }

  /** Whether this version has the operation. */
  has(operation: Operation): boolean {
    return this.#handlers.has(operation.id);
  }

  /**
   * Answers a request of a client, together with other nodes where it concerns them.
   * @param gone says that the client went away; work that changes nothing ends then
   * @throws ProblemError for every refusal and failure; the reason of `gone`
   */
  async dispatch(
    context: RequestContext,
    operation: Operation,
    parameters: ParameterValues,
    { contentType, gone }: { readonly contentType: string | undefined; readonly gone: AbortSignal },
  ): Promise<ApiResult> {
    this.#checkBody(context, operation, contentType);
    const { caller, loginUser } = context;
    const call = { operation, parameters, body: bodyOf(context, operation), caller, loginUser };
    const limitMs = parameters['wait_for_complete'] === true ? 0 : this.#parts.settings().requestTimeoutMs;
    const limits = { limitMs, gone: endsWithClient(operation) ? gone : undefined };
    return this.#answer(call, limits, (time) => {
      if (!this.#parts.spreader.takes(operation)) return this.#runHere(call, WHOLE_REQUEST, time);
      const request = this.#request(call, WHOLE_REQUEST, time);
      const here = async (part: RequestPart, others = parameters): Promise<ApiResult> =>
        this.#runHere({ ...call, parameters: others }, part, time);
      return this.#parts.spreader.run({ call, request, here, limitMs });
    });
  }

  /**
   * Answers what another node asks for a caller of its own: it is never handed on again.
   * @throws ProblemError for every refusal and failure
   */
  relayed(call: DispatchedCall, part: RequestPart, limitMs: number): Promise<ApiResult> {
    return this.#answer(call, { limitMs, gone: undefined }, (time) => this.#runHere(call, part, time));
  }

  async #answer(
    { operation, caller }: DispatchedCall,
    { limitMs, gone }: RequestLimits,
    run: (time: RequestTime) => ApiResult | Promise<ApiResult>,
  ): Promise<ApiResult> {
    const abort = new AbortController();
    try {
      if (operation.experimental && !this.#parts.settings().experimentalFeatures) throw new ApiError(1122);
      const time = { signal: abort.signal, endsAt: limitMs === 0 ? Infinity : performance.now() + limitMs };
      const over = () => timedOut(isChange(operation));
      return await withinLimits(() => run(time), { limitMs, gone }, { abort, over });
    } catch (error) {
      gone?.throwIfAborted();
      throw this.#toProblem(error, operation, caller);
    }
  }

  /** What a handler is given. @throws ApiError 4000 when the caller may do nothing of it */
  #request(call: DispatchedCall, part: RequestPart, time: RequestTime): ApiRequest<never> {
    const { operation, parameters, body, caller, loginUser } = call;
    const permitted = this.#parts.permissions.permit(operation, parameters, caller);
    return new ApiRequest<never>({
      operation,
      // Held against the contract before, and the type of what this operation's handler takes comes from there.
      parameters: parameters as never,
      body: body as never,
      permitted: permitted as never,
      ...{ caller, loginUser, part },
      ...time,
    });
  }

  #runHere(call: DispatchedCall, part: RequestPart, time: RequestTime): ApiResult | Promise<ApiResult> {
    const { operation } = call;
    const request = this.#request(call, part, time);
    const result = (this.#handlers.get(operation.id) ?? this.#parts.missing)(request);
    const settled = (answer: ApiResult): ApiResult => {
      requireSettled(operation, request.permitted);
      return answer;
    };
    return result instanceof Promise ? result.then(settled) : settled(result);
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

  #toProblem(error: unknown, { method, path }: Operation, caller: CallerRights | undefined): ProblemError {
    if (error instanceof ProblemError) return error;
    const node = shownNode(this.#parts.node(), caller);
    if (error instanceof NodeFailure) return error.toProblem(shownNode(error.node, caller));
    if (error instanceof ApiError) return error.toProblem(node);
    // Whichever daemon says so, svc-apid itself for users and roles: nothing was changed, or the message says otherwise.
    if (error instanceof BusError && error.code === 'cluster_unavailable') {
      return clusterUnavailable(error.message).toProblem(node);
    }
    if (isDiskFull(error)) return diskFull(node, 'svc-apid').toProblem(node);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#parts.logger.error(`${method} ${path} failed: ${reason}`, { err: error });
    return new ApiError(1000).toProblem(node);
  }
}

/** How long a request may take: told by the signal, and known beforehand, by `performance.now()`. */
type RequestTime = { readonly signal: AbortSignal; readonly endsAt: number };

/** What ends a request before its handler does. */
type RequestLimits = {
  /** Milliseconds, 0 for no limit. */
  readonly limitMs: number;
  /** Undefined where the client has no say. */
  readonly gone: AbortSignal | undefined;
};

/**
 * Runs a handler until its time is over or its client has gone, which it is told by `abort`.
 * @throws ApiError of `over` when it takes longer; the reason of `gone`
 */
async function withinLimits(
  handle: () => ApiResult | Promise<ApiResult>,
  { limitMs, gone }: RequestLimits,
  { abort, over }: { readonly abort: AbortController; readonly over: () => ApiError },
): Promise<ApiResult> {
  const work = handle();
  // What is there at once needs no limit.
  if (!(work instanceof Promise) || (limitMs === 0 && gone === undefined)) return work;
  const { signal } = abort;
  const timer = limitMs === 0 ? undefined : setTimeout(() => abort.abort(over()), limitMs);
  const leave = (): void => abort.abort(gone?.reason);
  gone?.addEventListener('abort', leave, { once: true });
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  if (gone?.aborted === true) leave();
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    gone?.removeEventListener('abort', leave);
    // After its end the handler may still fail: nobody waits for it any more.
    work.catch(() => {});
  }
}

/** That a handler that may use only part of what a request is about has looked at which. @throws Error when it has not */
function requireSettled({ id }: Operation, permitted: Permitted): void {
  for (const [name, part] of Object.entries(permitted)) {
    if (typeof part === 'object' && !part.isSettled) {
      throw new Error(`${id} answers without looking at permitted.${name}`);
    }
  }
}

/** What was sent: parsed, or as bytes; nothing of a body that the operation does not take. */
function bodyOf(context: RequestContext, { body }: Operation): unknown {
  if (body === undefined) return undefined;
  return body.json === undefined ? context.received.bytes : context.json;
}
