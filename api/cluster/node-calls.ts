import { BusError } from '../../lib/bus/bus-error.js';
import type { CallResult } from '../../lib/bus/contract.js';
import { type AnswerPieces, apidContract, type RelayedAnswer } from '../../lib/bus/contracts/apid.js';
import { MAX_ASK_MS } from '../../lib/bus/contracts/clusterd.js';
import { describeIssue } from '../../lib/bus/describe-issue.js';
import type { ClusterdClient } from '../../lib/cluster/shared-records.js';
import type { Caller, CallerRights } from '../auth/authenticator.js';
import { isChange } from '../http/api-request.js';
import type { DispatchedCall } from '../http/dispatcher.js';
import type { ApiResult, ListResult } from '../http/envelope.js';
import type { ParameterValues } from '../http/parameter-values.js';
import { ProblemError, type ProblemMembers } from '../http/problem-error.js';
import { nodeFailure } from './node-failure.js';
import { packAgents, packBytes, unpackBytes } from './packed-bytes.js';
import type { RequestPart } from './request-part.js';

/** What is left of a request's time for an answer without the node that says nothing: a part of it, and milliseconds at most. */
const MARGIN = 0.4;
const MOST_MARGIN_MS = 1500;
/** svc-clusterd says so much later than asked that it was too long, milliseconds. */
const SPARE_MS = 700;
/** The other node ends an operation so much earlier than it is given up here. */
const OWN_MARGIN = 0.9;

/** A call that another node is to answer, or to answer a part of. */
export type NodeCall = {
  readonly call: DispatchedCall;
  /** Id of another operation that is asked for instead of that of the call, for the same caller. */
  readonly operation?: string;
  /** Instead of those of the call. */
  readonly parameters?: ParameterValues;
  readonly part?: RequestPart;
  /** Time that the request has, milliseconds; 0 for no limit. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
};

/** Has other nodes of the cluster run operations (`api.run`), which svc-clusterd brings to them. */
export class NodeCalls {
  readonly #clusterd: ClusterdClient;
  readonly #self: () => string;

  constructor(clusterd: ClusterdClient, self: () => string) {
    this.#clusterd = clusterd;
    this.#self = self;
  }

  /**
   * The answer as that node would send it.
   * @throws NodeFailure when it does not answer; ProblemError that it refuses with
   */
  async answer(node: string, wanted: NodeCall): Promise<ApiResult> {
    const ends = performance.now() + askMs(wanted.limitMs);
    const answer = await this.#run(node, wanted, 'sent');
    if (answer.kind !== 'sent') throw new Error(`${node} answered with a list where none was asked for`);
    const { status, contentType, etag } = answer;
    const body = await this.#whole(node, answer.body, ends, wanted.signal);
    return { kind: 'raw', status, contentType, body, ...(etag === undefined ? {} : { etag }) };
  }

  /** The list that the answer is made of. @throws as {@link NodeCalls.answer} */
  async list(node: string, wanted: NodeCall): Promise<ListResult> {
    const ends = performance.now() + askMs(wanted.limitMs);
    const answer = await this.#run(node, wanted, 'list');
    if (answer.kind !== 'list') throw new Error(`${node} answered without a list`);
    const text = await this.#whole(node, answer.list, ends, wanted.signal);
    // What a node of the cluster says of its own agents is taken as its svc-db would be.
    return JSON.parse(text.toString('utf8')) as ListResult;
  }

  async #run(
    node: string,
    { call, operation: instead, parameters = call.parameters, part = {}, limitMs, signal }: NodeCall,
    form: 'sent' | 'list',
  ): Promise<Exclude<RelayedAnswer, { kind: 'refused' }>> {
    const { operation, body, caller } = call;
    const deadlineMs = askMs(limitMs);
    const params = {
      operation: instead ?? operation.id,
      parameters: { ...parameters },
      ...(body === undefined ? {} : { body: await packBytes(body instanceof Uint8Array ? body : jsonOf(body)) }),
      caller: wireCaller(caller),
      ...(part.agents === undefined ? {} : { agents: packAgents(part.agents) }),
      ...(part.rows === undefined ? {} : { rows: part.rows }),
      form,
      limitMs: Math.max(1, Math.floor(deadlineMs * OWN_MARGIN)),
      from: this.#self(),
    };
    const isOther = instead !== undefined;
    const answer = await this.#ask(node, 'api.run', params, deadlineMs, {
      signal,
      isChange: !isOther && isChange(operation),
    });
    if (answer.kind !== 'refused') return answer;
    throw new ProblemError(answer.status, answer.members as ProblemMembers, answer.headers);
  }

  async #whole(
    node: string,
    { gzip, bytes, total, rest }: AnswerPieces,
    ends: number,
    signal: AbortSignal,
  ): Promise<Buffer> {
    if (rest === null) return unpackBytes({ gzip, bytes });
    const pieces = [bytes];
    for (let at = bytes.length; at < total;) {
      const left = Math.max(1, Math.floor(ends - performance.now()));
      const piece = (await this.#ask(node, 'api.rest', { rest, at }, left, { signal, isChange: false })).bytes;
      if (piece.length === 0) throw new Error(`${node} has less of an answer than it said`);
      pieces.push(piece);
      at += piece.length;
    }
    return unpackBytes({ gzip, bytes: Buffer.concat(pieces) });
  }

  async #ask<K extends 'api.run' | 'api.rest'>(
    node: string,
    method: K,
    params: unknown,
    deadlineMs: number,
    { signal, isChange: mayHaveChanged }: { readonly signal: AbortSignal; readonly isChange: boolean },
  ): Promise<CallResult<typeof apidContract, K>> {
    try {
      const asked = { node, daemon: 'svc-apid', method, params, deadlineMs } as const;
      const { result } = await this.#clusterd.call('nodes.ask', asked, { deadlineMs: deadlineMs + SPARE_MS, signal });
      const answer = apidContract.methods[method].result.safeParse(result);
      if (!answer.success) throw new BusError('internal', describeIssue('result', answer.error));
      return answer.data as CallResult<typeof apidContract, K>;
    } catch (error) {
      signal.throwIfAborted();
      throw nodeFailure(error, node, mayHaveChanged);
    }
  }
}

/** How long another node is waited for, so that the request can still be answered without it. */
function askMs(limitMs: number): number {
  if (limitMs === 0) return MAX_ASK_MS;
  const margin = Math.min(MOST_MARGIN_MS, limitMs * MARGIN);
  return Math.max(1, Math.min(MAX_ASK_MS, Math.floor(limitMs - margin)));
}

function jsonOf(body: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}

function wireCaller(caller: CallerRights | undefined) {
  if (caller === undefined) throw new Error('nobody asks');
  const { mode, policies } = caller.permissions;
  const { user } = caller as Partial<Caller>;
  return { name: user?.name ?? '', mode, policies: [...policies] };
}
