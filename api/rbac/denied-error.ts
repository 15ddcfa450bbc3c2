import { ApiError } from '../http/api-error.js';

/** The refusal of what shows the whole ruleset, to who may not read all of it. */
export function deniedRuleset(): ApiError {
  return deniedError('rule:file, decoder:file, list:file');
}

/** The refusal of resources that the caller may not use. @param resource their kind, for example `group:id` (rest-api.md 5.2) */
export function deniedError(resource: string): ApiError {
  return new ApiError(4000, { extra: `Resource type: ${resource}` });
}
