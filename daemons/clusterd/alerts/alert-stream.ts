import { DiscardPolicy, type StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { MAX_NATS_PAYLOAD, type StreamPlan } from '../../../lib/cluster/cluster-subjects.js';
import type { NatsSession } from '../nats/nats-link.js';
import { streamOf } from '../nats/streams.js';

/** How much of the alerts of all nodes is kept. */
export type AlertLimits = { readonly replicas: number; readonly bytes: number; readonly ms: number };

/** The stream of the alerts of all nodes. @throws JetStreamApiError, TimeoutError */
export function alertStream(
  session: NatsSession,
  plan: StreamPlan,
  { replicas, bytes, ms }: AlertLimits,
): Promise<StreamInfo> {
  return streamOf(session, plan, {
    discard: DiscardPolicy.Old,
    max_bytes: bytes,
    max_age: nanos(ms),
    max_msg_size: MAX_NATS_PAYLOAD,
    num_replicas: replicas,
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
