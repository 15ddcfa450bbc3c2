import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import * as z from 'zod';
import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { pack, unpack } from '../nats/packing.js';
import type { Seal } from '../nats/sealing.js';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Stops a small message from becoming a large one: more than the longest record of a stream of alerts. */
const MAX_INFLATED_BYTES = 16 * 1024 * 1024;

const position = z.object({ file: z.string().max(64), offset: z.number().int().min(0) });

const batch = z.object({
  node: z.string().max(128),
  /** Of the home that the node is: another one has other files. */
  instance: z.string().max(64),
  /** Behind those of the message before it. Not said where the node begins, nor by earlier versions, which leave it out when they read. */
  start: position.optional(),
  /** Behind the last of them in the files of that node. */
  position,
  /** Lines of alerts.json, in their order. */
  alerts: z.array(z.string()),
});
/** Alerts of a node as they go through NATS. */
export type AlertBatch = z.output<typeof batch>;

/** Alerts as messages: compressed, sealed for their subject, and opened again. */
export class AlertMessages {
  readonly #subjects: ClusterSubjects;
  readonly #seal: Seal;

  constructor(subjects: ClusterSubjects, seal: Seal) {
    this.#subjects = subjects;
    this.#seal = seal;
  }

  /** What a node writes its alerts under. */
  subject(node: string): string {
    return this.#subjects.alerts(node);
  }

  async write(alerts: AlertBatch): Promise<Buffer> {
    return this.#seal.seal(await deflate(pack(alerts)), this.subject(alerts.node));
  }

  /** @throws Error when it is no message of this cluster, or of another node than its subject says */
  async read(subject: string, data: Uint8Array): Promise<AlertBatch> {
    const opened = this.#seal.open(data, subject);
    const alerts = unpack(await inflate(opened, { maxOutputLength: MAX_INFLATED_BYTES }), batch);
    if (this.subject(alerts.node) !== subject) throw new Error(`alerts of '${alerts.node}' on ${subject}`);
    return alerts;
  }
}
