import { QueryError } from '../../lib/query/query-error.js';
import { ApiError } from '../http/api-error.js';
import type { ParameterValues } from '../http/parameter-values.js';
import { type ListPage, type ListQuery, type ListRules, runListQuery } from './run-list-query.js';

/** The common list parameters of a request. */
export function listQuery(parameters: ParameterValues): ListQuery {
  return {
    offset: parameters.integer('offset'),
    limit: parameters.integer('limit'),
    sort: parameters.text('sort'),
    search: parameters.text('search'),
    select: parameters.texts('select'),
    q: parameters.text('q'),
    distinct: parameters.flag('distinct'),
  };
}

/**
 * Applies the common list parameters of a request to a list (rest-api.md 4).
 * @throws ApiError 1403, 1407, 1408, 1409, 1412 or 1724
 */
export function pageOf(items: readonly unknown[], parameters: ParameterValues, rules: ListRules = {}): ListPage {
  try {
    return runListQuery(items, listQuery(parameters), rules);
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
