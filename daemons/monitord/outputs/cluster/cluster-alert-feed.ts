import { createHash } from 'node:crypto';
import { pause } from '../../../../lib/async/pause.js';
import type { CallResult } from '../../../../lib/bus/contract.js';
import type { clusterdContract } from '../../../../lib/bus/contracts/clusterd.js';
import type { ClusterdClient } from '../../../../lib/cluster/shared-records.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { type AlertBatch, StreamedAlert } from '../../../../lib/output/alert-feed.js';
import type { RecordPosition } from '../../../../lib/output/record-stream.js';
import type { AlertSource } from '../alert-source.js';
import { clusterName, type OutputTurns } from './output-turns.js';

/** How long svc-clusterd waits for alerts, milliseconds. */
const TAKE_MS = 1000;
const CALL_MS = 15_000;
/** A stop waits no longer, milliseconds. */
const STOP_MS = 2000;
/** How often it is looked whether this node is to run the output by now, milliseconds. */
const LOOK_MS = 1000;
/** Between two waits of svc-clusterd, whatever it answers at once, milliseconds. */
const BREATH_MS = 10;
/** How often svc-clusterd hears that what was taken is still at work, milliseconds. */
const KEEP_MS = 5000;
/** Of what is held so much is left at least when something is delivered, milliseconds. */
const SPARE_MS = 2000;

export type ClusterAlertFeedParts = {
  /** Of the output's definition. */
  readonly key: string;
  /** As logs call it. */
  readonly name: string;
  readonly clusterd: ClusterdClient;
  readonly turns: Pick<OutputTurns, 'isMine'>;
  readonly logger: Logger;
  /** Milliseconds, monotonic: it goes on while a process stands still. */
  readonly now?: () => number;
  readonly lookMs?: number;
};

type Given = NonNullable<CallResult<typeof clusterdContract, 'alerts.take'>['batch']>;
/** Alerts that this node has to deliver, and until when they are its own. */
type Taken = { readonly receipt: string; readonly batch: AlertBatch; readonly file: string; until: number };

/**
 * The alerts of all nodes of a cluster for one output. svc-clusterd gives a few at a time, to one node; the next ones when these are
 * done, and the same again, perhaps to another node, when this one is not heard of for half a minute. Positions name the message, what
 * is in it, and the alert, so that a start goes on where it was.
 */
export class ClusterAlertFeed implements AlertSource {
  readonly #parts: ClusterAlertFeedParts;
  readonly #output: string;
  readonly #now: () => number;
  #taken: Taken | undefined;
  #behindBytes = 0;
  /** Whether the last look was a wait already. */
  #waited = false;
  #keeping: NodeJS.Timeout | undefined;

  constructor(parts: ClusterAlertFeedParts) {
    this.#parts = parts;
    this.#output = clusterName(parts.key);
    this.#now = parts.now ?? (() => performance.now());
  }

  /** The cluster knows where an output is, this node need not. */
  end(): Promise<RecordPosition> {
    return Promise.resolve({ file: '', offset: 0 });
  }

  bytesAfter(): number {
    return this.#behindBytes;
  }

  holds(): boolean {
    return this.#taken !== undefined && this.#now() < this.#taken.until;
  }

  mark(): string {
    return '';
  }

  async changed(_mark: string, signal: AbortSignal): Promise<void> {
    await pause(this.#waited ? BREATH_MS : (this.#parts.lookMs ?? LOOK_MS), signal);
  }

  /** What is not delivered is given back, so that another node, or the next start, has it at once. */
  async close(position: RecordPosition): Promise<void> {
    const taken = this.#taken;
    const held = this.holds();
    this.#forget();
    if (taken === undefined || !held) return;
    const delivered = position.file === taken.file && position.offset >= taken.batch.alerts.length;
    await this.#done(taken, delivered, STOP_MS).catch(() => {
      // It comes again, and is known by its position here.
    });
  }

  async read(from: RecordPosition): Promise<AlertBatch> {
    const nothing = { alerts: [], next: from };
    this.#waited = false;
    if (!this.holds()) this.#forget();
    if (this.#taken === undefined) {
      if (!(await this.#parts.turns.isMine(this.#output))) return nothing;
      this.#waited = true;
      await this.#take();
    }
    const taken = this.#taken;
    if (taken === undefined) return nothing;
    const { alerts, next } = taken.batch;
    const left = from.file === taken.file ? alerts.slice(from.offset) : alerts;
    if (left.length > 0) return { alerts: left, next };
    await this.#done(taken, true);
    this.#forget();
    return await this.read(next);
  }

  async #done({ receipt }: Taken, delivered: boolean, deadlineMs = CALL_MS): Promise<void> {
    await this.#parts.clusterd.call('alerts.done', { output: this.#output, receipt, delivered }, { deadlineMs });
  }

  async #take(): Promise<void> {
    const { clusterd, logger, name } = this.#parts;
    const { batch, behind } = await clusterd.call('alerts.take', { output: this.#output, waitMs: TAKE_MS }, CALL);
    this.#behindBytes = behind.bytes;
    if (batch === null) return;
    const { receipt, leftMs } = batch;
    sayWhatIsMissing(batch, name, logger);
    const file = placeOf(batch);
    const alerts = batch.alerts.map((text, index) => new StreamedAlert(text, { file, offset: index + 1 }));
    const next = { file, offset: alerts.length };
    this.#taken = { receipt, file, batch: { alerts, next }, until: this.#now() + leftMs - SPARE_MS };
    this.#keeping = setInterval(() => void this.#keep(), KEEP_MS).unref();
  }

  /** Who stood still for too long has lost it: another node delivers it by now. */
  async #keep(): Promise<void> {
    const taken = this.#taken;
    if (taken === undefined || !this.holds()) return;
    const asked = this.#now();
    try {
      const { receipt } = taken;
      const { leftMs } = await this.#parts.clusterd.call('alerts.keep', { output: this.#output, receipt }, CALL);
      if (this.#now() < taken.until) taken.until = asked + leftMs - SPARE_MS;
    } catch (error) {
      this.#parts.logger.debug(`Alerts for '${this.#parts.name}' are not kept: ${describeError(error)}.`);
    }
  }

  #forget(): void {
    clearInterval(this.#keeping);
    this.#taken = undefined;
  }
}

const CALL = { deadlineMs: CALL_MS } as const;

/** So many digits tell two batches of the same number apart. */
const CONTENT_DIGITS = 16;

/** By number and content: a number is given again where NATS lost messages, and what was passed over may come in front. */
function placeOf({ sequence, alerts }: Given): string {
  const content = createHash('sha256');
  for (const text of alerts) content.update(text).update('\n');
  return `cluster ${String(sequence)} ${content.digest('hex').slice(0, CONTENT_DIGITS)}`;
}

function sayWhatIsMissing({ sequence, missed, skipped, lost }: Given, name: string, logger: Logger): void {
  if (missed > 0) {
    logger.error(
      `${String(missed)} messages with alerts of the cluster were dropped before '${name}' had them: they were too old or too many.`,
    );
  }
  if (skipped > 0) {
    logger.warn(
      `NATS had passed over ${String(skipped)} messages with alerts of the cluster for '${name}': they are handed on now, before message ${String(sequence)}.`,
    );
  }
  for (const { node, file, from, to } of lost) {
    logger.error(
      `Alerts of node '${node}' are lost in NATS, or too far back, and were not handed on to '${name}': they are bytes ${String(from)} to ${String(to)} of '${file}' in logs/alerts there.`,
    );
  }
}
