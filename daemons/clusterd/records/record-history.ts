import type { StreamInfo } from '@nats-io/jetstream';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import type { NatsSession } from '../nats/nats-link.js';
import type { RecordCopy } from './record-copy.js';
import { recordSubject } from './record-messages.js';

/**
 * So long something that this node has is to be missing before it is taken for lost, milliseconds: a server that is cut off answers for
 * some ten seconds as if it led.
 */
const LOST_MS = 30_000;

export type RecordHistoryParts = {
  readonly subjects: ClusterSubjects;
  readonly copy: Pick<RecordCopy, 'revision' | 'newest'>;
  /** Milliseconds of a clock that is not set. */
  readonly monotonic: () => number;
};

/** What is known of whether NATS has what this node has of the records. */
export type HistoryState = 'the same' | 'in doubt' | 'lost';

/**
 * Whether the stream still has the newest record that this node has from it. It may have lost what it had acknowledged, with disks, or
 * by an error of the servers, and others may have written past that since: then records here and there are different ones
 * of the same revision, and nothing may be decided by them.
 */
export class RecordHistory {
  readonly #parts: RecordHistoryParts;
  #missingSince: number | undefined;

  constructor(parts: RecordHistoryParts) {
    this.#parts = parts;
  }

  /** @throws JetStreamApiError, TimeoutError when it cannot be known now */
  async look({ jsm }: NatsSession, info?: StreamInfo): Promise<HistoryState> {
    const { subjects, copy, monotonic } = this.#parts;
    const { name } = subjects.streams.shared;
    // Before the stream is asked: what comes meanwhile is newer.
    const { revision } = copy;
    const newest = copy.newest();
    const { state } = info ?? (await jsm.streams.info(name));
    if (state.last_seq >= revision && (newest === undefined || (await this.#has(jsm, newest)))) {
      this.#missingSince = undefined;
      return 'the same';
    }
    this.#missingSince ??= monotonic();
    return monotonic() - this.#missingSince < LOST_MS ? 'in doubt' : 'lost';
  }

  async #has(
    jsm: NatsSession['jsm'],
    { kind, key, revision }: NonNullable<ReturnType<RecordCopy['newest']>>,
  ): Promise<boolean> {
    const { subjects } = this.#parts;
    const last = await jsm.streams.getMessage(subjects.streams.shared.name, {
      last_by_subj: recordSubject(subjects, kind, key),
    });
    return last !== null && last.seq >= revision;
  }
}
