import { QueryError } from '../../lib/query/query-error.js';
import { ApiError } from '../http/api-error.js';
import { type ListPage, type ListQuery, type ListRules, runListQuery } from './run-list-query.js';

/**
 * Applies the common list parameters of a request to a list (rest-api.md 4).
 * @throws ApiError 1403, 1407, 1408, 1409, 1412 or 1724
 */
export function pageOf(items: readonly unknown[], parameters: ListQuery, rules: ListRules = {}): ListPage {
  try {
    return runListQuery(items, parameters, rules);
  } catch (error) {
    throw queryFailure(error);
  }
}

/** What a client is told of a list parameter that is not valid; other errors stay as they are. */
export function queryFailure(error: unknown): unknown {
  if (!(error instanceof QueryError)) return error;
  return new ApiError(error.code, {
    ...(error.extra === undefined ? {} : { extra: error.extra }),
    ...(error.remediationExtra === undefined ? {} : { remediationExtra: error.remediationExtra }),
  });
}
