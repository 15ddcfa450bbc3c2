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
function recordSubject({ root }: ClusterSubjects, kind: RecordKind, key: string): string {
  return `${root}.shared.${kind}.${subjectToken(key)}`;
}

/** Records as messages of the stream, sealed and bound to their subject. */
export class RecordMessages {
  constructor(
    private readonly subjects: ClusterSubjects,
    private readonly seal: Seal,
    private readonly node: string,
  ) {}

  write(kind: RecordKind, key: string, value: unknown): { readonly subject: string; readonly payload: Buffer } {
    const subject = recordSubject(this.subjects, kind, key);
    return { subject, payload: this.seal.seal(pack({ kind, key, value: value ?? null, node: this.node }), subject) };
  }

  /** @throws SealError; Error when it is no record */
  read(subject: string, payload: Uint8Array, revision: number): SharedRecord {
    const { kind, key, value } = unpack(this.seal.open(payload, subject), message);
    if (recordSubject(this.subjects, kind, key) !== subject) {
      throw new Error(`a record of another subject on ${subject}`);
    }
    return { kind, key, revision, value: value ?? null };
  }
}
