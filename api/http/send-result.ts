import type { Response } from 'express';
import type { ApiResult } from './envelope.js';
import { jsonText } from './json-text.js';
import type { ProblemError } from './problem-error.js';

/** Writes a result; of a HEAD request the headers only. */
export function sendResult(
  response: Response,
  result: ApiResult,
  options: { readonly pretty: boolean; readonly head: boolean },
): void {
  const body = result.kind === 'json' ? jsonBody(result, options.pretty) : result.body;
  const contentType = result.kind === 'json' ? 'application/json' : result.contentType;
  send(response, result.status, contentType, body, options.head);
}

function jsonBody({ body, line }: ApiResult & { readonly kind: 'json' }, pretty: boolean): string | Buffer {
  return line === undefined || pretty ? jsonText(body, pretty) : line();
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
