import type { IncomingMessage } from 'node:http';
import { JsonDepth } from './json-depth.js';

/**
 * Bytes of an oversized body that are read and thrown away before the answer, so that a client which sends first and
 * reads later sees the 413. A body over it costs the connection. Stops endless uploads from holding a connection.
 */
const MAX_DISCARDED = 64 * 1024 * 1024;

/** What arrived as the body of a request. */
export type ReceivedBody = {
  /** Undefined when nothing was sent, it was over the limit, or it was not to be kept. */
  readonly bytes: Buffer | undefined;
  /** Bytes read; of a body over the limit the announced length, where there is one. */
  readonly length: number;
  readonly tooLarge: boolean;
  readonly tooDeep: boolean;
  /** Whether the client was cut off in the middle: the connection cannot be used again. */
  readonly cutOff: boolean;
};

export const NO_BODY: ReceivedBody = {
  bytes: undefined,
  length: 0,
  tooLarge: false,
  tooDeep: false,
  cutOff: false,
};

export type BodyLimits = {
  /** Bytes kept at most; 0 = no limit. */
  readonly limit: number;
  /** False reads and measures only: a stranger's bytes are not worth memory. */
  readonly keep: boolean;
  /** Whether to measure the nesting of JSON. */
  readonly json: boolean;
};

/** Thrown when the client went away before its body was complete. */
export class RequestAbortedError extends Error {
  override readonly name = 'RequestAbortedError';
}

/**
 * Reads the body of a request to its end, never keeping more than the limit.
 * @throws RequestAbortedError when the connection ends in the middle
 */
export function readRequestBody(request: IncomingMessage, limits: BodyLimits): Promise<ReceivedBody> {
  const limit = limits.limit > 0 ? limits.limit : Number.POSITIVE_INFINITY;
  const announced = Number(request.headers['content-length'] ?? 0);
  const depth = limits.json ? new JsonDepth() : undefined;
  let chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const finish = (cutOff: boolean) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      const tooLarge = length > limit || announced > limit;
      const bytes = tooLarge || !limits.keep || length === 0 ? undefined : Buffer.concat(chunks);
      const total = tooLarge ? Math.max(length, announced) : length;
      resolve({ bytes, length: total, tooLarge, tooDeep: depth?.tooDeep ?? false, cutOff });
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) {
        depth?.add(chunk);
        if (limits.keep) chunks.push(chunk);
      } else {
        chunks = [];
        if (length > limit + MAX_DISCARDED) {
          request.pause();
          finish(true);
        }
      }
    };
    const onEnd = () => finish(false);
    const onClose = () => reject(new RequestAbortedError('the client went away'));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}
