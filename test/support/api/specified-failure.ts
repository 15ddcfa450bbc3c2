import { errorCatalogue } from '../../../api/http/error-catalogue.js';
import type { Operation } from '../../../lib/contract/api-contract.js';
import { isObject } from '../../../lib/json/is-object.js';
import type { TestResponse } from './http-request.js';

/** Codes of failures that nobody meant: an error of a handler, and one that took longer than it may. */
const UNSPECIFIED = [1000, 3021];

/** Whether a status from 500 on is one that the specification has: a code of the catalogue, what is not built, or a busy daemon. */
export function isSpecifiedFailure(answer: TestResponse, operation: Operation | undefined): boolean {
  if (answer.status === 501) return operation?.missing !== undefined;
  if (answer.status === 503 && answer.headers['retry-after'] !== undefined) return true;
  const code = codeOf(answer);
  return code !== undefined && errorCatalogue().has(code) && !UNSPECIFIED.includes(code);
}

/** The code of a refusal or failure; undefined where it has none. */
export function codeOf(answer: TestResponse): number | undefined {
  try {
    const body = answer.json();
    const code = isObject(body) ? body['error'] : undefined;
    return typeof code === 'number' ? code : undefined;
  } catch {
    return undefined;
  }
}
