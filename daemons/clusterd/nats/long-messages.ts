import { randomBytes } from 'node:crypto';

const ID_BYTES = 12;
const HEAD_BYTES = ID_BYTES + 8;
/** Bytes of one part: NATS takes 1 MiB at most where nothing else is set. */
export const PART_BYTES = 512 * 1024;
/** Stops one message from filling memory: as much as a message of the bus has. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** All messages that are not whole yet: stops many begun ones from filling memory. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** What a message takes beside its bytes, at least: stops many empty ones. */
const MESSAGE_COST = 1024;
/** Messages that are not whole: stops many begun ones. */
const MAX_WAITING = 1000;
/** One that is not whole after so long lost a part, milliseconds. */
const PATIENCE_MS = 30_000;

/** Cuts a message into parts that NATS takes. */
export function* partsOf(message: Buffer): Generator<Buffer> {
  const id = randomBytes(ID_BYTES);
  const count = Math.max(1, Math.ceil(message.length / PART_BYTES));
  for (let index = 0; index < count; index += 1) {
    const head = Buffer.alloc(HEAD_BYTES);
    id.copy(head);
    head.writeUInt32BE(index, ID_BYTES);
    head.writeUInt32BE(count, ID_BYTES + 4);
    yield Buffer.concat([head, message.subarray(index * PART_BYTES, (index + 1) * PART_BYTES)]);
  }
}

type Waiting = { readonly parts: (Buffer | undefined)[]; missing: number; bytes: number; readonly begunAt: number };

/** Puts parts together again. Those of one message come in their order on one subject; what lacks one is dropped. */
export class MessageAssembler {
  readonly #waiting = new Map<string, Waiting>();
  readonly #now: () => number;
  #bytes = 0;
  /** Messages of which a part was lost, or that were too large. */
  dropped = 0;

  /** @param now milliseconds, monotonic */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns the message with its last part */
  take(part: Uint8Array): Buffer | undefined {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    if (bytes.length < HEAD_BYTES) return this.#drop();
    const index = bytes.readUInt32BE(ID_BYTES);
    const count = bytes.readUInt32BE(ID_BYTES + 4);
    const body = bytes.subarray(HEAD_BYTES);
    if (body.length > PART_BYTES) return this.#drop();
    if (count === 0 || index >= count || count * PART_BYTES > MAX_MESSAGE_BYTES + PART_BYTES) return this.#drop();
    if (count === 1) return body;
    return this.#add(bytes.toString('latin1', 0, ID_BYTES), index, count, body);
  }

  #add(id: string, index: number, count: number, body: Buffer): Buffer | undefined {
    let waiting = this.#waiting.get(id);
    this.#forgetOld(id, body.length + MESSAGE_COST);
    if (waiting === undefined) {
      waiting = {
        parts: new Array<Buffer | undefined>(count),
        missing: count,
        bytes: MESSAGE_COST,
        begunAt: this.#now(),
      };
      this.#waiting.set(id, waiting);
      this.#bytes += MESSAGE_COST;
    }
    if (waiting.parts.length !== count || waiting.parts[index] !== undefined) return this.#drop();
    // A copy: what NATS gives may lie in a buffer that is used again.
    waiting.parts[index] = Buffer.from(body);
    waiting.missing -= 1;
    waiting.bytes += body.length;
    this.#bytes += body.length;
    if (waiting.missing > 0) return undefined;
    this.#forget(id);
    return Buffer.concat(waiting.parts as Buffer[]);
  }

  /** Makes room by dropping the oldest, but for the one that a part has come for. */
  #forgetOld(coming: string, bytes: number): void {
    for (const [id, { begunAt }] of this.#waiting) {
      const old = this.#now() - begunAt > PATIENCE_MS;
      const full = this.#bytes + bytes > MAX_WAITING_BYTES || this.#waiting.size >= MAX_WAITING;
      if (!old && !full) return;
      if (id === coming) continue;
      this.#forget(id);
      this.#drop();
    }
  }

  #forget(id: string): void {
    this.#bytes -= this.#waiting.get(id)?.bytes ?? 0;
    this.#waiting.delete(id);
  }

  #drop(): undefined {
    this.dropped += 1;
    return undefined;
  }
}
