import type { Response } from 'express';
import type { WholeResult } from './envelope.js';
import { jsonLine, jsonText } from './json-text.js';
import type { ProblemError } from './problem-error.js';

/** Writes a result; of a HEAD request the headers only, and of what the client has already that it is so (304). */
export function sendResult(
  response: Response,
  result: WholeResult,
  options: { readonly pretty: boolean; readonly head: boolean; readonly ifNoneMatch?: string | undefined },
): void {
  if (result.kind === 'json') {
    send(response, result.status, 'application/json', jsonBytes(result, options.pretty), options.head);
    return;
  }
  const { etag } = result;
  if (etag !== undefined) {
    response.setHeader('etag', etag);
    if (result.status === 200 && matchesEtag(options.ifNoneMatch, etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
  }
  send(response, result.status, result.contentType, result.body, options.head);
}

/** A JSON result as it is sent. */
export function jsonBytes({ body, line }: WholeResult & { readonly kind: 'json' }, pretty: boolean): Buffer {
  if (pretty) return Buffer.from(jsonText(body, true));
  return line === undefined ? jsonLine(body) : line();
}

/** Whether the client has what it would get (RFC 9110 13.1.2). */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((one) => {
    const wanted = one.trim();
    return wanted === '*' || wanted.replace(/^W\//, '') === etag;
  });
}

/** Writes a refusal as `application/problem+json`, members in the order of rest-api.md 3.4. */
export function sendProblem(
  response: Response,
  problem: ProblemError,
  options: { readonly pretty: boolean; readonly head: boolean },
): void {
  const { title, detail, remediation, dapi_errors, error } = problem.members;
  const body = jsonText({ title, detail, remediation, dapi_errors, error }, options.pretty);
  for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
  send(response, problem.status, 'application/problem+json; charset=utf-8', body, options.head);
}

function send(response: Response, status: number, contentType: string, body: string | Buffer, head: boolean): void {
  response.statusCode = status;
  response.setHeader('content-type', contentType);
  response.setHeader('content-length', Buffer.byteLength(body));
  if (head) response.end();
  else response.end(body);
}
