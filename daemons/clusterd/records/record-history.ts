import { isDeepStrictEqual } from 'node:util';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import type { NatsSession } from '../nats/nats-link.js';
import type { RecordCopy } from './record-copy.js';
import { type RecordMessages, recordSubject } from './record-messages.js';

/**
 * So long something that this node has is to be missing before it is taken for lost, milliseconds: a server that is cut off answers for
 * some ten seconds as if it led.
 */
const LOST_MS = 30_000;
/** Looks that are further from each other say nothing of the time between. */
const APART_MS = 12_000;
/** Records that are looked at, from the newest on, until one is found that nobody has changed since. */
const MOST_LOOKED_AT = 50;

export type RecordHistoryParts = {
  readonly subjects: ClusterSubjects;
  readonly copy: Pick<RecordCopy, 'revision' | 'newest'>;
  readonly messages: Pick<RecordMessages, 'read'>;
  /** Milliseconds of a clock that is not set. */
  readonly monotonic: () => number;
};

/** What is known of whether NATS has what this node has of the records. */
export type HistoryState = 'the same' | 'in doubt' | 'lost';

/**
 * Whether the stream still has the newest records that this node has from it. It may have lost what it had acknowledged, with disks, or
 * by an error of the servers, and others may have written past that since: then records here and there are different ones
 * of the same revision, and nothing may be decided by them. Where all of the newest records were changed since, nothing is known.
 */
export class RecordHistory {
  readonly #parts: RecordHistoryParts;
  /** First and last of the looks one behind the other at which something was missing. */
  #missing: { readonly since: number; readonly last: number } | undefined;

  constructor(parts: RecordHistoryParts) {
    this.#parts = parts;
  }

  /** @throws JetStreamApiError, TimeoutError when it cannot be known now */
  async look(session: NatsSession): Promise<HistoryState> {
    const { monotonic } = this.#parts;
    if (await this.#isThere(session)) {
      this.#missing = undefined;
      return 'the same';
    }
    const now = monotonic();
    const before = this.#missing;
    const since = before !== undefined && now - before.last <= APART_MS ? before.since : now;
    this.#missing = { since, last: now };
    return now - since < LOST_MS ? 'in doubt' : 'lost';
  }

  async #isThere({ jsm }: NatsSession): Promise<boolean> {
    const { subjects, copy } = this.#parts;
    // Before the stream is asked: what comes meanwhile is newer.
    const { revision } = copy;
    const records = copy.newest(MOST_LOOKED_AT);
    const { state } = await jsm.streams.info(subjects.streams.shared.name);
    if (state.last_seq < revision) return false;
    for (const record of records) {
      const found = await this.#find(jsm, record);
      if (found !== 'changed since') return found === 'there';
    }
    return true;
  }

  async #find(jsm: NatsSession['jsm'], record: SharedRecord): Promise<'there' | 'missing' | 'changed since'> {
    const { subjects, messages } = this.#parts;
    const subject = recordSubject(subjects, record.kind, record.key);
    const last = await jsm.streams.getMessage(subjects.streams.shared.name, { last_by_subj: subject });
    if (last === null || last.seq < record.revision) return 'missing';
    if (last.seq > record.revision) return 'changed since';
    try {
      return isDeepStrictEqual(messages.read(subject, last.data, last.seq).value, record.value) ? 'there' : 'missing';
    } catch {
      // It was read once: what is there now was written by somebody else.
      return 'missing';
    }
  }
}
