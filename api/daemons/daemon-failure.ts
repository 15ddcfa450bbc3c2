import { BusError } from '../../lib/bus/bus-error.js';
import { readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { StoreError } from '../../lib/store/store-error.js';
import { ApiError, type ApiErrorOptions } from '../http/api-error.js';
import { ProblemError } from '../http/problem-error.js';

/** Seconds after which a client may try again when a daemon is busy. */
const RETRY_AFTER_SECONDS = '1';
/** Of the file system, where a disk, a quota or a file has no room. */
const FULL_CODES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What is said where nobody knows whether a change was made: it is not to be taken for one that was refused. */
const NOT_KNOWN = 'whether it was carried out is not known';

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
  {
    lives = false,
    ...answer
  }: Pick<ApiErrorOptions, 'status' | 'headers' | 'extra'> & { readonly lives?: boolean } = {},
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

export type FailedCall = {
  readonly home: Home;
  /** Name of this node, as it may be shown. */
  readonly node: string;
  readonly daemon: DaemonName;
  /** Whether the call may have changed something: then it is said where that is not known. */
  readonly isChange: boolean;
};

/** What a client is told when a call to a daemon failed. Codes of the daemon's own stay as they are. */
export async function daemonFailure(error: unknown, { home, node, daemon, isChange }: FailedCall): Promise<unknown> {
  if (!(error instanceof BusError)) return error;
  const unclear = isChange && error.isUnclear ? { extra: NOT_KNOWN } : {};
  if (isAway(error)) return notReady(home, node, daemon, { lives: error.code === 'unresponsive', ...unclear });
  switch (error.code) {
    case 'timeout':
      return timedOut(isChange, error.message);
    case 'disk_full':
      return diskFull(node, daemon);
    case 'disk_failed':
      return new ApiError(8006, { values: { node_name: node }, extra: daemon });
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

/**
 * 3021. Reading takes nothing back, so that nothing more is said of it.
 * @param isChange whether something may have been changed @param reason in words, without the end of the sentence
 */
export function timedOut(isChange: boolean, reason?: string): ApiError {
  if (!isChange) return new ApiError(3021);
  return new ApiError(3021, { extra: reason === undefined ? NOT_KNOWN : `${reason}; ${NOT_KNOWN}` });
}

/** Whether a disk has no room for what this process was to write. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'full';
  return error instanceof Error && FULL_CODES.has((error as NodeJS.ErrnoException).code);
}

/** 8005. @param node as it may be shown @param daemon that could not write */
export function diskFull(node: string, daemon: DaemonName): ApiError {
  return new ApiError(8005, { values: { node_name: node }, extra: daemon });
}
