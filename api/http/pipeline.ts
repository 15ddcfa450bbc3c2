import type { Request, RequestHandler, Response } from 'express';
import type { Operation } from '../../lib/contract/api-contract.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { ApiSettings } from '../api-settings.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Router } from '../contract/router.js';
import type { SchemaChecker } from '../contract/schema-checker.js';
import { accessEntry } from './access-entry.js';
import type { AccessGuards } from './access-guards.js';
import type { ApiConnections } from './api-connections.js';
import { ApiError } from './api-error.js';
import type { ApiLog } from './api-log.js';
import { checkMediaType, mediaType, parseJsonBody } from './body-check.js';
import type { Dispatcher } from './dispatcher.js';
import type { EventStreams } from './event-stream.js';
import { readParameters } from './parameter-values.js';
import { ProblemError } from './problem-error.js';
import type { RateLimit } from './rate-limit.js';
import { readRequestBody, RequestAbortedError } from './request-body.js';
import { type DocumentPage, RequestContext } from './request-context.js';
import type { RequestCounters } from './request-counters.js';
import { parseRequestTarget } from './request-target.js';
import { answerOrigin, setSecurityHeaders } from './response-headers.js';
import { sendResult } from './send-result.js';

/** Largest authorization context of a run_as login, bytes (rest-api.md 2.1). */
const MAX_AUTH_CONTEXT_BYTES = 8192;
const LOGIN_PATHS = new Set(['/security/user/authenticate', '/security/user/authenticate/run_as']);
const RUN_AS_PATH = '/security/user/authenticate/run_as';

export type RequestPipelineParts = {
  readonly settings: () => ApiSettings;
  readonly router: Router;
  /** A page outside the contract. */
  readonly page: (path: string) => DocumentPage | undefined;
  readonly checker: SchemaChecker;
  readonly authenticator: Authenticator;
  readonly guards: AccessGuards;
  readonly connections: Pick<ApiConnections, 'prove'>;
  readonly dispatcher: Dispatcher;
  readonly streams: EventStreams;
  readonly log: ApiLog;
  readonly counters: RequestCounters;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

type PipelineStep = (context: RequestContext, request: Request, response: Response) => void | Promise<void>;

/**
 * The steps a request goes through, in the order of rest-api.md 1.2: the order decides which refusal a client sees. One that
 * has answered is the last, and only those that wait for something are waited for.
 */
export function requestPipeline(parts: RequestPipelineParts): RequestHandler {
  const steps: PipelineStep[] = [
    (_context, request, response) => answerOrigin(parts.settings().cors, request, response),
    (context, request, response) => receiveBody(parts, context, request, response),
    (context, request, response) => route(parts, context, request, response),
    (context, request) => limitRate(parts, context, request),
    (context) => refuseBlocked(parts, context),
    (context, request, response) => sendPage(context, response, request),
    (context, request) => authenticate(parts, context, request),
    (context, request) => checkParameters(parts, context, request),
    (context, request) => checkBody(parts, context, request),
    (context) => checkExpectation(parts, context),
    (context, request, response) => dispatch(parts, context, request, response),
  ];
  return async (request, response) => {
    setSecurityHeaders(response);
    const context = beginRequest(parts, request, response);
    for (const step of steps) {
      const pending = step(context, request, response);
      if (pending !== undefined) await pending;
      if (response.writableEnded) return;
    }
  };
}

/** Step 1: what the request is about; one log line when it is answered or given up. */
function beginRequest(parts: RequestPipelineParts, request: Request, response: Response): RequestContext {
  const { path, query } = parseRequestTarget(request.url);
  const context = new RequestContext({
    startedAt: parts.monotonic(),
    method: request.method,
    path,
    query,
    address: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    announcedLength: Number(request.headers['content-length'] ?? 0),
    expect: expectation(request, parts.settings().maxUploadSize),
  });
  response.locals['context'] = context;
  response.once('close', () => {
    // 499: the client went away before there was an answer.
    const status = response.headersSent ? response.statusCode : 499;
    const outcome = { status, seconds: (parts.monotonic() - context.startedAt) / 1000 };
    const { entry, suspiciousUser } = accessEntry(
      context,
      request.headers.authorization,
      outcome,
      parts.log.hidesEvents,
    );
    if (suspiciousUser) parts.log.warn(`User name with control characters: ${entry.user}`);
    parts.log.access(entry);
    parts.counters.count(status);
  });
  return context;
}

function expectation(request: Request, maxUploadSize: number): RequestContext['expect'] {
  const expect = request.headers.expect;
  if (expect === undefined) return 'none';
  if (expect.toLowerCase() !== '100-continue') return 'unknown';
  const announced = Number(request.headers['content-length'] ?? 0);
  return maxUploadSize > 0 && announced > maxUploadSize ? 'too-large' : 'none';
}

/** Step 2. */
function receiveBody(
  parts: RequestPipelineParts,
  context: RequestContext,
  request: Request,
  response: Response,
): Promise<void> | undefined {
  // The client waits for a word before it sends: it gets its refusal instead (step 9).
  if (context.expect !== 'none') return undefined;
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
  return hasBody ? readBody(parts, context, request, response) : undefined;
}

/** Of strangers only the nesting is measured: their bytes are not worth memory. */
async function readBody(
  parts: RequestPipelineParts,
  context: RequestContext,
  request: Request,
  response: Response,
): Promise<void> {
  const runAs = request.method === 'POST' && context.path === RUN_AS_PATH;
  if (request.headers.expect !== undefined) response.writeContinue();
  const received = await readRequestBody(request, {
    limit: runAs ? MAX_AUTH_CONTEXT_BYTES : parts.settings().maxUploadSize,
    keep: runAs || (!LOGIN_PATHS.has(context.path) && isKnown(parts, context, request)),
    json: mediaType(request.headers['content-type']) === 'application/json',
  });
  context.received = received;
  // A token may have been revoked while the body came in.
  context.caller = undefined;
  if (received.tooDeep) {
    throw new ProblemError(400, {
      title: 'Maximum recursion depth exceeded.',
      detail: 'The JSON structure of the request exceeds the maximum nesting depth allowed by the API.',
    });
  }
}

/** Whether the request has a valid token as it begins; step 6 looks again when something was waited for meanwhile. */
function isKnown(parts: RequestPipelineParts, context: RequestContext, request: Request): boolean {
  context.known ??= hasToken(parts, context, request);
  return context.known;
}

function hasToken(parts: RequestPipelineParts, context: RequestContext, request: Request): boolean {
  try {
    context.caller = parts.authenticator.authenticate(request.headers.authorization);
    parts.connections.prove(request.socket);
    return true;
  } catch {
    return false;
  }
}

/** Step 3: 404, then 405; a trailing slash is answered with the path without it. */
function route(parts: RequestPipelineParts, context: RequestContext, request: Request, response: Response): void {
  const { method, path } = context;
  const page = parts.page(path);
  if (page !== undefined) {
    if (method !== 'GET' && method !== 'HEAD') throw ProblemError.methodNotAllowed();
    context.page = page;
    return;
  }
  const found = parts.router.find(method, path);
  if (found.kind === 'operation') {
    context.operation = found.operation;
    context.pathValues = found.path;
    if (found.operation.deprecated) tellDeprecated(context, found.operation, response);
    return;
  }
  if (found.kind === 'wrong-method') throw ProblemError.methodNotAllowed();
  const { rawPath, query } = parseRequestTarget(request.url);
  const shorter = path.slice(0, -1);
  const known = parts.page(shorter) !== undefined || parts.router.find(method, shorter).kind !== 'not-found';
  if (!path.endsWith('/') || shorter === '' || !known) throw ProblemError.notFound();
  const search = query.size > 0 ? `?${query.toString()}` : '';
  // Only a path of ours gets here, so the location cannot lead to another host.
  response.writeHead(307, { location: rawPath.replace(/(\/|%2f)$/i, '') + search, 'content-length': 0 }).end();
}

/** Every answer of a deprecated operation says so, refusals too: a client hears it before the operation is gone. */
function tellDeprecated(context: RequestContext, operation: Operation, response: Response): void {
  response.set('deprecated', 'true');
  // The GET login is the one deprecated operation with a successor of the same path (rest-api.md 1.4).
  if (isLogin(context)) response.set('link', `<${operation.path}>; rel="Deprecated"`);
}

/**
 * Step 4 (rest-api.md 1.6). The server's counters are for users: a request without a valid token counts for its address
 * alone, so that nobody uses up what users have. A login counts for both, but for the server only once it has succeeded.
 */
function limitRate(parts: RequestPipelineParts, context: RequestContext, request: Request): void {
  const { general, events, anonymous, logins } = parts.guards;
  if (isLogin(context)) {
    countFor(logins.of(context.address));
    if (general.full) throw tooManyRequests(general);
    return;
  }
  if (!isKnown(parts, context, request)) {
    countFor(anonymous.of(context.address));
    return;
  }
  countFor(general);
  if (context.path === '/events' && !events.admit()) {
    throw new ProblemError(
      429,
      { title: 'Too Many Requests', detail: new ApiError(6005).message, remediation: null, error: 6005 },
      { 'retry-after': String(events.retryAfter()) },
    );
  }
}

function countFor(limit: RateLimit): void {
  if (!limit.admit()) throw tooManyRequests(limit);
}

function tooManyRequests(limit: RateLimit): ProblemError {
  return new ApiError(6001, { headers: { 'retry-after': String(limit.retryAfter()) } }).toProblem();
}

/** Step 5: 403 for a blocked address, then 413 for a login context that is too large. */
function refuseBlocked(parts: RequestPipelineParts, context: RequestContext): void {
  if (isLogin(context)) refuseBlockedAddress(parts, context);
  if (context.method === 'POST' && context.path === RUN_AS_PATH && context.received.tooLarge) {
    const detail = `Auth context payload exceeds the maximum allowed size of ${MAX_AUTH_CONTEXT_BYTES} bytes.`;
    throw new ProblemError(413, { title: 'Request Entity Too Large', detail, error: 413 });
  }
}

function refuseBlockedAddress(parts: RequestPipelineParts, { address }: RequestContext): void {
  if (parts.guards.addresses.isBlocked(address)) throw new ApiError(6000).toProblem();
}

function isLogin(context: RequestContext): boolean {
  return context.operation?.credentials === 'basic';
}

/** Pages need no login. */
function sendPage(context: RequestContext, response: Response, request: Request): void {
  if (context.page === undefined) return;
  const { result, brotli, contentSecurityPolicy, cacheControl } = context.page;
  if (contentSecurityPolicy !== undefined) response.set('content-security-policy', contentSecurityPolicy);
  if (cacheControl !== undefined) response.set('cache-control', cacheControl);
  const isPacked = brotli !== undefined && request.acceptsEncodings('br') === 'br';
  if (brotli !== undefined) response.vary('Accept-Encoding');
  if (isPacked) response.set('content-encoding', 'br');
  sendResult(response, isPacked ? brotli() : result(), { pretty: false, head: request.method === 'HEAD' });
}

/** Step 6. What step 4 saw of a token holds: nothing was waited for since then. */
function authenticate(
  parts: RequestPipelineParts,
  context: RequestContext,
  request: Request,
): Promise<void> | undefined {
  if (isLogin(context)) return logIn(parts, context, request);
  context.caller ??= parts.authenticator.authenticate(request.headers.authorization);
  return undefined;
}

/** A failed login counts for the address. */
async function logIn(parts: RequestPipelineParts, context: RequestContext, request: Request): Promise<void> {
  try {
    context.loginUser = await parts.authenticator.login(request.headers.authorization, {
      address: context.address,
      // While it waited, others of its address may have used up all attempts.
      ready: () => refuseBlockedAddress(parts, context),
    });
    parts.guards.general.admit();
    parts.connections.prove(request.socket);
  } catch (error) {
    if (
      error instanceof ProblemError &&
      error.status === 401 &&
      parts.guards.addresses.recordFailure(context.address)
    ) {
      parts.log.warn(`IP blocked due to exceeded number of logins attempts: ${context.address}`);
      parts.logger.warn(`IP blocked due to exceeded number of logins attempts: ${context.address}`);
    }
    throw error;
  }
}

/** Step 7. */
function checkParameters(parts: RequestPipelineParts, context: RequestContext, request: Request): void {
  const { operation } = context;
  if (operation === undefined) return;
  const header = (name: string) => {
    const value = request.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : value?.join(',');
  };
  context.parameters = readParameters(
    operation,
    { query: context.query, path: context.pathValues, header },
    parts.checker,
  );
}

/** Step 8. A body that was not received whole is refused in step 9. */
function checkBody(parts: RequestPipelineParts, context: RequestContext, request: Request): void {
  const rule = context.operation?.body;
  if (rule === undefined || context.expect !== 'none') return;
  checkMediaType(rule, mediaType(request.headers['content-type']));
  if (rule.json === undefined || context.received.tooLarge) return;
  context.json = parseJsonBody(context.received.bytes, rule.json, parts.checker);
}

/** Step 9. */
function checkExpectation(parts: RequestPipelineParts, context: RequestContext): void {
  const { maxUploadSize } = parts.settings();
  const exceeded = (length: number) => `Maximum content size limit (${maxUploadSize}) exceeded (${length} bytes read)`;
  if (context.expect === 'unknown') {
    throw new ProblemError(417, { title: 'Expectation failed', detail: 'Unknown Expect' });
  }
  if (context.expect === 'too-large') {
    throw new ProblemError(417, { title: 'Expectation failed', detail: exceeded(context.announcedLength) });
  }
  if (context.received.tooLarge) {
    throw new ProblemError(413, { title: 'Content size exceeded.', detail: exceeded(context.received.length) });
  }
}

/** Step 10. */
async function dispatch(
  parts: RequestPipelineParts,
  context: RequestContext,
  request: Request,
  response: Response,
): Promise<void> {
  const { operation, parameters } = context;
  if (operation === undefined || parameters === undefined) throw new Error('a step of the pipeline is missing');
  const client = new AbortController();
  const leave = (): void => client.abort(new RequestAbortedError('the client went away before the answer'));
  response.once('close', leave);
  const contentType = request.headers['content-type'];
  const result = await parts.dispatcher
    .dispatch(context, operation, parameters, { contentType, gone: client.signal })
    .finally(() => response.off('close', leave));
  if (result.kind === 'stream') {
    await parts.streams.answer(response, result, {
      head: request.method === 'HEAD',
      check: () => parts.authenticator.authenticate(request.headers.authorization),
      onFailure: (error) => parts.logger.error(`${request.method} ${operation.path} failed: ${describeError(error)}`),
    });
    return;
  }
  sendResult(response, result, {
    pretty: parameters['pretty'] === true,
    head: request.method === 'HEAD',
    ifNoneMatch: request.headers['if-none-match'],
  });
}
