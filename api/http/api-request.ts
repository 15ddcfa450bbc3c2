import type { Operation } from '../../lib/contract/api-contract.js';
import type { Caller, CallerRights } from '../auth/authenticator.js';
import type { RequestPart } from '../cluster/request-part.js';
import type { OperationId, Operations } from '../contract/operations.js';
import type { Permissions } from '../rbac/permissions.js';
import type { User } from '../rbac/rbac-model.js';
import type { ApiResult } from './envelope.js';

/**
 * A request that passed every check in front of the handlers.
 * @typeParam O the operation; any of them for what needs neither parameters nor body
 */
export class ApiRequest<O extends OperationId = OperationId> {
  readonly operation: Operation;
  readonly parameters: Operations[O]['parameters'];
  readonly body: Operations[O]['body'];
  /** What of the resources that it is about the caller may use: nothing else is theirs to ask for. */
  readonly permitted: Operations[O]['permitted'];
  /** Aborted when the request time limit is over, and when the client of what changes nothing has gone: whoever waits gives up then. */
  readonly signal: AbortSignal;
  readonly #endsAt: number;
  /** What of the request is for this node to answer, where it is answered by several (daemons-and-config.md 10.5). */
  readonly part: RequestPart;
  readonly #caller: CallerRights | undefined;
  readonly #loginUser: User | undefined;

  constructor(values: {
    operation: Operation;
    parameters: ApiRequest<O>['parameters'];
    body: ApiRequest<O>['body'];
    permitted: ApiRequest<O>['permitted'];
    caller: CallerRights | undefined;
    loginUser: User | undefined;
    signal: AbortSignal;
    /** By `performance.now()`; Infinity without a time limit. */
    endsAt: number;
    part: RequestPart;
  }) {
    this.operation = values.operation;
    this.parameters = values.parameters;
    this.body = values.body;
    this.permitted = values.permitted;
    this.signal = values.signal;
    this.#endsAt = values.endsAt;
    this.part = values.part;
    this.#caller = values.caller;
    this.#loginUser = values.loginUser;
  }

  /** What is left of the request time limit, milliseconds; Infinity without one. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#endsAt - performance.now()));
  }

  /** Whether it is about changing something. */
  get isChange(): boolean {
    return isChange(this.operation);
  }

  /** Who asks, by token. @throws Error in an operation that takes name and password, and for one that another node asks for */
  get caller(): Pick<Caller, 'user' | 'claims'> {
    const caller = this.#known;
    if (!isProven(caller)) throw new Error(`${this.operation.id} is answered for a caller of another node`);
    return caller;
  }

  /** What the policies of the caller say, to be shown: what it may do here is `permitted`. @throws Error as `caller` */
  get policies(): Pick<Permissions, 'mode' | 'toMap'> {
    return this.#known.permissions;
  }

  /** Who logs in, by name and password. @throws Error in an operation that takes a token */
  get loginUser(): User {
    if (this.#loginUser === undefined) throw new Error(`${this.operation.id} has no login`);
    return this.#loginUser;
  }

  get #known(): CallerRights {
    if (this.#caller === undefined) throw new Error(`${this.operation.id} has no token`);
    return this.#caller;
  }

  /** Name to show in `dapi_errors`: only who may read the node learns its name (rest-api.md 3.4). */
  nodeName(node: string): string {
    return shownNode(node, this.#caller);
  }
}

/** Whether an operation is about changing something. */
export function isChange({ method }: Operation): boolean {
  return method !== 'GET';
}

/** Operations that are no GET and change nothing all the same. */
const CHANGE_NOTHING: ReadonlySet<string> = new Set(['putRulesTests', 'putGroupsGroupIdConfigurationValidation']);

/**
 * Whether the work for an operation ends with its client: nobody learns then what came of it. What changes something goes
 * on to its end, which is easier to understand than half of it.
 */
export function endsWithClient(operation: Operation): boolean {
  return !isChange(operation) || CHANGE_NOTHING.has(operation.id);
}

/** As {@link ApiRequest.nodeName}, where there is no request. */
export function shownNode(node: string, caller: CallerRights | undefined): string {
  const allowed = caller?.permissions.allowed('cluster:read', 'node:id', [node]);
  return allowed?.has(node) === true ? node : 'unknown-node';
}

function isProven(caller: CallerRights): caller is Caller {
  return 'claims' in caller;
}

/** Answers one operation. Throws `ApiError` or `ProblemError` to refuse. */
export type OperationHandler<O extends OperationId> = (request: ApiRequest<O>) => ApiResult | Promise<ApiResult>;

/** Handlers by operation id: one object a file of `api/routes`. */
export type OperationHandlers = { readonly [O in OperationId]?: OperationHandler<O> };
