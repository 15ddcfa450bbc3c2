import { DiscardPolicy, RetentionPolicy, StorageType, type StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { MAX_NATS_PAYLOAD, type StreamPlan } from '../../../lib/cluster/cluster-subjects.js';
import type { NatsSession } from '../nats/nats-link.js';
import { isNoStream } from '../nats/streams.js';

/** How much of the alerts of all nodes is kept. */
export type AlertLimits = { readonly replicas: number; readonly bytes: number; readonly ms: number };

/**
 * The stream of the alerts of all nodes; made when it is not there. One that was made otherwise is left as it is: only the
 * administrator's credential may change it.
 * @throws JetStreamApiError, TimeoutError
 */
export async function alertStream(
  { jsm }: NatsSession,
  plan: StreamPlan,
  { replicas, bytes, ms }: AlertLimits,
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
    discard: DiscardPolicy.Old,
    max_bytes: bytes,
    max_age: nanos(ms),
    max_msg_size: MAX_NATS_PAYLOAD,
    num_replicas: replicas,
    deny_delete: true,
    deny_purge: true,
  });
}

/**
 * Whether there is room: what is to be dropped for more has been taken by all outputs. Outputs that do not take anything for days are
 * forgotten, so that they do not hold up the others for ever.
 */
export async function hasRoom({ jsm }: NatsSession, plan: StreamPlan): Promise<boolean> {
  const { state, config } = await jsm.streams.info(plan.name);
  if (config.max_bytes <= 0 || state.bytes < config.max_bytes * FULL) return true;
  let slowest = state.last_seq;
  for await (const { ack_floor } of jsm.consumers.list(plan.name)) slowest = Math.min(slowest, ack_floor.stream_seq);
  const waiting = Math.min(state.messages, state.last_seq - slowest);
  return (state.bytes / Math.max(1, state.messages)) * waiting < config.max_bytes * FULL;
}

/** Part of the stream's bytes that may wait for an output: the rest is room for what other nodes publish meanwhile. */
const FULL = 0.8;
