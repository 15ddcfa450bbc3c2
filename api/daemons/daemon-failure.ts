import { BusError } from '../../lib/bus/bus-error.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { ApiError, type ApiErrorOptions } from '../http/api-error.js';
import { ProblemError } from '../http/problem-error.js';

/** Seconds after which a client may try again when a daemon is busy. */
const RETRY_AFTER_SECONDS = '1';

/** 503 with Retry-After: the daemon takes nothing more for the moment, and nothing was done. */
export function busyProblem(daemon: DaemonName): ProblemError {
  const detail = `${daemon} is busy. Please, try again later.`;
  return new ProblemError(503, { title: 'Service Unavailable', detail }, { 'retry-after': RETRY_AFTER_SECONDS });
}

/**
 * 1017: names the daemon that this very request needs and its state (product.md 10 "Readiness").
 * @param answer another status than 500, and headers; `lives` of one that is connected and does not answer
 */
export async function notReady(
  home: Home,
  node: string,
  daemon: DaemonName,
  { lives = false, ...answer }: Pick<ApiErrorOptions, 'status' | 'headers'> & { readonly lives?: boolean } = {},
): Promise<ApiError> {
  const status = (await readDaemonStatus(home, [daemon])).get(daemon);
  // It may have come up in between; for this request it was not there.
  const unseen = lives ? 'unresponsive' : 'stopped';
  const state = status === undefined || status.state === 'running' ? unseen : status.state;
  return new ApiError(1017, { ...answer, values: { node_name: node, not_ready_daemons: `${daemon}->${state}` } });
}

/** Whether the daemon was not there to be asked, or does nothing any more. */
export function isAway({ code }: BusError): boolean {
  return code === 'unavailable' || code === 'unresponsive' || code === 'closed' || code === 'bad_path';
}

/** What a client is told when a call to a daemon failed. Codes of the daemon's own stay as they are. */
export async function daemonFailure(error: unknown, home: Home, node: string, daemon: DaemonName): Promise<unknown> {
  if (!(error instanceof BusError)) return error;
  if (error.code === 'unresponsive') return notReady(home, node, daemon, { lives: true });
  if (isAway(error)) return notReady(home, node, daemon);
  switch (error.code) {
    case 'timeout':
      return new ApiError(3021);
    case 'busy':
      return busyProblem(daemon);
    case 'too_large':
    case 'too_many':
    case 'bad_params':
      return ProblemError.badRequest(`${daemon}: ${error.message}`);
    default:
      return error;
  }
}
