import { constants, createInflate, deflateSync, inflateSync } from 'node:zlib';

/** What Node's stream has below it; not part of its interface, so that it is tried before it is used. */
type NativeInflate = {
  writeSync(
    flush: number,
    input: Buffer,
    inputAt: number,
    inputBytes: number,
    output: Buffer,
    outputAt: number,
    outputBytes: number,
  ): void;
  reset(): void;
  onerror: () => void;
};
type InflateParts = { readonly _handle?: Partial<NativeInflate>; readonly _writeState?: Uint32Array };

const TRIAL = Buffer.from('a text that is tried');

/**
 * Inflates many small texts with one inflate state. `inflateSync` makes a stream for each of them, which costs several times what
 * small ones take. Where this version of Node has nothing to do it with, `inflateSync` does it.
 */
export class Inflater {
  readonly #native: NativeInflate | undefined;
  /** Bytes of output, then of input, that the last call has left. */
  readonly #left: Uint32Array;
  readonly #output: Buffer;
  readonly #most: number;
  #failed = false;

  /** @param most bytes that a text may have */
  constructor(most: number) {
    this.#most = most;
    this.#output = Buffer.allocUnsafeSlow(most + 1);
    const { _handle: native, _writeState: left } = createInflate() as unknown as InflateParts;
    this.#left = left ?? new Uint32Array(2);
    if (typeof native?.writeSync !== 'function' || typeof native.reset !== 'function') return;
    native.onerror = () => {
      this.#failed = true;
    };
    this.#native = native as NativeInflate;
    if (!this.#works()) this.#native = undefined;
  }

  /** Whether it has what it needs of Node. */
  get isNative(): boolean {
    return this.#native !== undefined;
  }

  /** Inflates a zlib stream. @returns a buffer of its own; undefined for what is no whole stream, or too long a text */
  inflate(stream: Buffer): Buffer | undefined {
    const native = this.#native;
    if (native === undefined) return inflatedAlone(stream, this.#most);
    this.#failed = false;
    const output = this.#output;
    native.writeSync(constants.Z_FINISH, stream, 0, stream.length, output, 0, output.length);
    const bytes = output.length - (this.#left[0] ?? 0);
    native.reset();
    return this.#failed || bytes > this.#most ? undefined : Buffer.from(output.subarray(0, bytes));
  }

  #works(): boolean {
    try {
      const stream = deflateSync(TRIAL);
      return (
        this.inflate(stream)?.equals(TRIAL) === true &&
        this.inflate(stream.subarray(0, -1)) === undefined &&
        this.inflate(stream)?.equals(TRIAL) === true
      );
    } catch {
      return false;
    }
  }
}

function inflatedAlone(stream: Buffer, most: number): Buffer | undefined {
  try {
    return inflateSync(stream, { maxOutputLength: most });
  } catch {
    return undefined;
  }
}
