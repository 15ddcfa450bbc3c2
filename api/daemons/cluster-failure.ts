import { ApiError } from '../http/api-error.js';

/** Seconds after which a client may try again when the cluster cannot be reached. */
const RETRY_AFTER_SECONDS = '5';

/**
 * 3012: what all nodes have in common cannot be changed now, or other nodes cannot be asked. Nothing was changed unless the reason
 * says otherwise.
 * @param reason in words, as svc-clusterd or the daemon that asked it gives it
 */
export function clusterUnavailable(reason: string): ApiError {
  return new ApiError(3012, { extra: reason, status: 503, headers: { 'retry-after': RETRY_AFTER_SECONDS } });
}
