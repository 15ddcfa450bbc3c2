import * as z from 'zod';
import { amount, number, size } from '../terminal/amounts.js';
import { textTable } from '../terminal/text-table.js';

const count = z.number();

/** What svc-monitord counts of an output of alerts. */
const output = z.object({
  delivered: count,
  failed: count,
  rejected: count,
  available: z.boolean(),
  /** Alerts that were taken over and are not out: mail. */
  waiting: count.optional(),
  lag: z.object({ bytes: count, seconds: count }),
});

/** What svc-execd counts of active responses on its host. */
const responses = z.object({ started: count, failed: count, in_force: count, undone: count, runs: count });
/** And, on a manager, of those that svc-analysisd decides. */
const feed = z.object({
  decisions: z.object({ here: count, agents: count, refused: count, late: count, unreadable: count }),
  deliveries: z.object({ sent: count, dropped: count, waiting: count }),
  lag_seconds: count,
});

type OutputStats = z.output<typeof output>;
type ResponseStats = z.output<typeof responses>;
type ResponseFeedStats = z.output<typeof feed>;

/** What follows from alerts, as a daemon counts it. */
export type EffectStats = {
  /** By name. */
  readonly outputs?: ReadonlyMap<string, OutputStats>;
  readonly responses?: ResponseStats;
  readonly feed?: ResponseFeedStats;
};

/** Reads it from the answer to `stats`; what is of another form is left out. */
export function effectStats(stats: Readonly<Record<string, unknown>>): EffectStats {
  const outputs = z.record(z.string(), output).safeParse(stats['outputs']);
  const run = responses.safeParse(stats['responses']);
  const followed = feed.safeParse(stats['feed']);
  return {
    ...(outputs.success ? { outputs: new Map(Object.entries(outputs.data)) } : {}),
    ...(run.success ? { responses: run.data } : {}),
    ...(followed.success ? { feed: followed.data } : {}),
  };
}

/** A line an output. */
export function outputLines(outputs: ReadonlyMap<string, OutputStats>): string[] {
  const head = ['OUTPUT', 'DELIVERED', 'FAILED TRIES', 'REJECTED', 'WAITING', 'BEHIND', ''];
  const rows = [...outputs].map(([name, { delivered, failed, rejected, waiting, available, lag }]) => [
    ...[name, amount(delivered), amount(failed), amount(rejected)],
    ...[waits(lag.bytes, waiting), `${number(lag.seconds)} s`, available ? '' : 'AWAY'],
  ]);
  return textTable([head, ...rows], 1);
}

function waits(bytes: number, alerts: number | undefined): string {
  const mails = alerts === undefined || alerts === 0 ? [] : [`${number(alerts)} alerts`];
  return [...(bytes === 0 && mails.length > 0 ? [] : [size(bytes)]), ...mails].join(' + ');
}

/** The responses of a host, and of a manager what it decided. */
export function responseLines(daemon: string, run: ResponseStats, followed: ResponseFeedStats | undefined): string[] {
  const { started, failed, in_force: inForce, undone, runs } = run;
  const here = [amount(started), amount(runs), amount(failed), amount(inForce), amount(undone)];
  const head = ['RESPONSES', 'STARTED', 'RUNNING', 'FAILED', 'IN FORCE', 'UNDONE'];
  if (followed === undefined) return textTable([head, [daemon, ...here]], 1);
  const { decisions, deliveries, lag_seconds: seconds } = followed;
  const notDone = decisions.refused + decisions.late + decisions.unreadable;
  return textTable(
    [
      [...head, 'NOT DONE', 'SENT TO AGENTS', 'WAITING', 'DROPPED', 'BEHIND'],
      [
        ...[daemon, ...here, amount(notDone), amount(deliveries.sent), amount(deliveries.waiting)],
        ...[amount(deliveries.dropped), `${number(seconds)} s`],
      ],
    ],
    1,
  );
}
