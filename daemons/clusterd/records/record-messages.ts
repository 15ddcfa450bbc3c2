import * as z from 'zod';
import { RECORD_KINDS, type RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import { type ClusterSubjects, subjectToken } from '../../../lib/cluster/cluster-subjects.js';
import type { SharedRecord } from '../../../lib/cluster/shared-records.js';
import { pack, unpack } from '../nats/packing.js';
import type { Seal } from '../nats/sealing.js';

const message = z.object({
  kind: z.enum(RECORD_KINDS),
  key: z.string().min(1),
  /** Null: removed. */
  value: z.unknown(),
  /** Which node wrote it. */
  node: z.string(),
});

/** Subject of a record: the key is one token, whatever is in it. */
export function recordSubject({ root }: ClusterSubjects, kind: RecordKind, key: string): string {
  return `${root}.shared.${kind}.${subjectToken(key)}`;
}

const place = (subject: string, revision: number): string => `${subject} ${revision}`;

/** A record on its way to the stream. */
export type RecordMessage = { readonly subject: string; readonly plain: Buffer };

/** Records as messages of the stream, sealed and bound to their subject and their place in it. */
export class RecordMessages {
  constructor(
    private readonly subjects: ClusterSubjects,
    private readonly seal: Seal,
    private readonly node: string,
  ) {}

  /** What is to be sent: sealed when its place in the stream is known. */
  write(kind: RecordKind, key: string, value: unknown): RecordMessage {
    const subject = recordSubject(this.subjects, kind, key);
    return { subject, plain: pack({ kind, key, value: value ?? null, node: this.node }) };
  }

  /** @param revision that the message will have: elsewhere nobody takes it, so that an old one cannot be sent again */
  sealed({ subject, plain }: RecordMessage, revision: number): Buffer {
    return this.seal.seal(plain, place(subject, revision));
  }

  /** @throws SealError; Error when it is no record */
  read(subject: string, payload: Uint8Array, revision: number): SharedRecord {
    const { kind, key, value } = unpack(this.seal.open(payload, place(subject, revision)), message);
    if (recordSubject(this.subjects, kind, key) !== subject) {
      throw new Error(`a record of another subject on ${subject}`);
    }
    return { kind, key, revision, value: value ?? null };
  }
}
