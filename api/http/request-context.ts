import type { Operation } from '../../lib/contract/api-contract.js';
import type { Caller } from '../auth/authenticator.js';
import type { User } from '../rbac/rbac-model.js';
import type { WholeResult } from './envelope.js';
import type { ParameterValues } from './parameter-values.js';
import { NO_BODY, type ReceivedBody } from './request-body.js';

/** A page outside the contract, or a file of one. */
export type DocumentPage = {
  readonly result: () => WholeResult;
  /** The same packed, for clients that take it. */
  readonly brotli?: () => WholeResult;
  readonly contentSecurityPolicy?: string;
  readonly cacheControl?: string;
};

/** What the steps of the pipeline find out about one request; each step fills in its part. */
export class RequestContext {
  readonly startedAt: number;
  readonly method: string;
  /** Decoded path, without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Address of the client. */
  readonly address: string;
  /** How Node met the `Expect` header: `too-large` and `unknown` end in 417. */
  readonly expect: 'none' | 'too-large' | 'unknown';
  /** Content-Length of the request; 0 without one. */
  readonly announcedLength: number;

  operation: Operation | undefined;
  page: DocumentPage | undefined;
  pathValues: ReadonlyMap<string, string> = new Map();
  received: ReceivedBody = NO_BODY;
  /** The parsed JSON body. */
  json: unknown = undefined;
  parameters: ParameterValues | undefined;
  /** Whether there was a valid token when the request began; undefined before somebody asked. */
  known: boolean | undefined;
  /** Set by a token; operations with Basic have `loginUser` instead. */
  caller: Caller | undefined;
  loginUser: User | undefined;

  constructor(
    values: Pick<RequestContext, 'startedAt' | 'method' | 'path' | 'query' | 'address' | 'expect' | 'announcedLength'>,
  ) {
    this.startedAt = values.startedAt;
    this.method = values.method;
    this.path = values.path;
    this.query = values.query;
    this.address = values.address;
    this.expect = values.expect;
    this.announcedLength = values.announcedLength;
  }

  /** Whether a refusal is indented: exact lower-case `true` here (rest-api.md 3.4). */
  get prettyProblem(): boolean {
    return this.query.getAll('pretty').at(-1) === 'true';
  }
}
