import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { StreamPlan } from '../../../lib/cluster/cluster-subjects.js';
import type { NatsSession } from './nats-link.js';

/** The server has no such stream, or no such consumer. */
const STREAM_NOT_FOUND = 10_059;
const CONSUMER_NOT_FOUND = 10_014;
/** A message came behind another one than its writer knows of. */
const WRONG_LAST = [10_070, 10_071, 10_164];

/** A message has the id of one that a server, of a newer version, is still at work on. */
const IN_PROCESS = 10_158;

/** How a stream that keeps the last message of each subject is made. */
export type LastStreamOptions = {
  /** Copies, each on a server of its own. */
  readonly replicas: number;
  /** Bytes of one message at most. */
  readonly maxMessageBytes: number;
  /** Bytes of all messages at most. */
  readonly maxBytes: number;
};

/**
 * A stream of the plan, on disk, of which nothing can be taken away; made when it is not there. One that was made otherwise is left
 * as it is: only the administrator's credential may change it.
 * @throws JetStreamApiError, TimeoutError
 */
export async function streamOf(
  { jsm }: NatsSession,
  plan: StreamPlan,
  limits: Partial<StreamConfig>,
): Promise<StreamInfo> {
  try {
    return await jsm.streams.info(plan.name);
  } catch (error) {
    if (!isNoStream(error)) throw error;
  }
  return await jsm.streams.add({
    name: plan.name,
    subjects: [...plan.subjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    deny_delete: true,
    deny_purge: true,
    ...limits,
  });
}

/** The stream that keeps the last message of each subject. @throws JetStreamApiError, TimeoutError */
export function lastMessageStream(
  session: NatsSession,
  plan: StreamPlan,
  { replicas, maxMessageBytes, maxBytes }: LastStreamOptions,
): Promise<StreamInfo> {
  return streamOf(session, plan, {
    // Made-up subjects of a stolen login fill this stream, and not the disk of the server that others need.
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
    max_msgs_per_subject: 1,
    max_msg_size: maxMessageBytes,
    num_replicas: replicas,
    allow_direct: true,
  });
}

function isApiError(error: unknown): error is JetStreamApiError {
  return error instanceof JetStreamApiError;
}

/** Whether the server has no such stream. */
export function isNoStream(error: unknown): boolean {
  return isApiError(error) && error.code === STREAM_NOT_FOUND;
}

/** Whether the server has no such consumer, or not even its stream. */
export function isNoConsumer(error: unknown): boolean {
  return isApiError(error) && (error.code === CONSUMER_NOT_FOUND || error.code === STREAM_NOT_FOUND);
}

/** Whether a message was refused since another one came before it, which its writer did not know. */
export function isOvertaken(error: unknown): boolean {
  return isApiError(error) && WRONG_LAST.includes(error.code);
}

/** Whether a message was refused for its id alone: one of that id is not stored yet, and is perhaps never. */
export function isInProcess(error: unknown): boolean {
  return isApiError(error) && error.code === IN_PROCESS;
}

/** The last sequence that a refusal names, if it does. */
export function lastSequenceOf(error: unknown): number | undefined {
  const digits = /wrong last sequence: (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether the server refused for good: asking again gives the same. A stream that is full has the status of a passing failure. */
export function isRefused(error: unknown): boolean {
  return isApiError(error) && (error.status < 500 || isFull(error));
}

/** Whether a stream that drops nothing has no room for a message. */
function isFull(error: unknown): boolean {
  return isApiError(error) && /maximum bytes exceeded/.test(error.message);
}
