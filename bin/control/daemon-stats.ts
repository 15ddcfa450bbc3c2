import * as z from 'zod';
import { defineContract } from '../../lib/bus/contract.js';
import { commonMethods } from '../../lib/bus/contracts/common.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { type DaemonState, readDaemonStatus } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { type EffectStats, effectStats } from './effects-table.js';

/** A daemon answers by then or counts as silent: whoever asks must see it within 2 s. */
const ANSWER_MS = 1500;

const count = z.number().optional();
const reason = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);

/** The sink's part of the common `stats` (svc-analysisd, svc-agentd): what became of the events it took. */
const sinkEvents = z.object({
  received: count,
  journaled: count,
  analysed: count,
  alerts: count,
  /** Of the analysed ones, those that a recovery went through again. */
  replayed: count,
  duplicates: count,
  /** By reason. */
  dropped: z.record(z.string(), z.number()).optional().catch(undefined),
  pending: count,
  lag: z.object({ events: z.number(), seconds: z.number() }).optional(),
});

const journal = z.object({
  bytes: count,
  max_bytes: count,
  segments: count,
  /** Milliseconds, or a word. */
  sync: z.union([z.string(), z.number()]).optional(),
  blocked: reason,
  outputs_blocked: reason,
  checkpoint: z.object({ age_seconds: z.number().nullable().optional() }).optional(),
});

/** The window of a producer, `EventProducer.stats`. */
const producerEvents = z.object({
  sent: z.number(),
  acknowledged: z.number(),
  pending: z.number(),
  window: count,
  resent: count,
  sentBack: count,
  withdrawn: count,
  refused: count,
  rejected: count,
  connected: z.boolean().optional(),
  refusal: reason,
});

export type SinkEvents = z.output<typeof sinkEvents>;
export type JournalStats = z.output<typeof journal>;
export type ProducerEvents = z.output<typeof producerEvents>;

/** What a daemon told of itself. */
export type DaemonStats = {
  readonly daemon: DaemonName;
  readonly state: DaemonState;
  /** As it was answered. */
  readonly stats?: Readonly<Record<string, unknown>>;
  /** Why there is no answer. */
  readonly problem?: string;
  readonly sink?: SinkEvents;
  readonly journal?: JournalStats;
  readonly producer?: ProducerEvents;
  readonly effects?: EffectStats;
};

/** Asks daemons for their `stats`, all at once; what does not run or does not answer says so within 2 s. */
export async function readDaemonStats(home: Home, names: readonly DaemonName[]): Promise<DaemonStats[]> {
  const statuses = await readDaemonStatus(home, names);
  return Promise.all(
    names.map(async (daemon): Promise<DaemonStats> => {
      const state = statuses.get(daemon)?.state ?? 'stopped';
      const client = new RequestClient({
        contract: defineContract(daemon, commonMethods),
        path: home.socket(daemon),
      });
      try {
        return parts(daemon, state, await client.call('stats', {}, { deadlineMs: ANSWER_MS }));
      } catch (error) {
        const down = state === 'stopped' || state === 'failed';
        return { daemon, state, problem: down ? 'it does not run' : describeError(error) };
      } finally {
        client.close();
      }
    }),
  );
}

function parts(daemon: DaemonName, state: DaemonState, stats: Record<string, unknown>): DaemonStats {
  const producer = producerEvents.safeParse(stats['events']);
  // Whoever has a journal, or takes events, is a sink; a member of another form is left out, the rest is shown.
  const sink = producer.success ? undefined : sinkEvents.safeParse(stats['events']);
  const kept = journal.safeParse(stats['journal']);
  return {
    daemon,
    state,
    stats,
    effects: effectStats(stats),
    ...(producer.success ? { producer: producer.data } : {}),
    ...(sink?.success === true ? { sink: sink.data } : {}),
    ...(kept.success ? { journal: kept.data } : {}),
  };
}
