const WORD = Int32Array.BYTES_PER_ELEMENT;

/** Numbers of a slot; the rest of it is for texts. */
const SLOT_NUMBERS = 16_384;
const SLOT_TEXT_BYTES = 1024 * 1024;
/** Size of a slot in the memory that all sides share. */
export const SLOT_BYTES = SLOT_NUMBERS * WORD + SLOT_TEXT_BYTES;
/** Share of it that is filled before results are handed on: what one more event brings shall fit in, as a rule. */
const FULL = 1 / 2;

/** A slot: its number among those of its thread, the memory that all share, and where it lies in it. */
export type ResultSlot = { readonly number: number; readonly memory: SharedArrayBuffer; readonly at: number };

/**
 * Memory for results: numbers and bytes of texts. It lies in a slot that thread and daemon share, so that nothing is copied
 * nor left behind; results that need more, or find no slot free, get memory of their own.
 */
export class ResultMemory {
  /** The slot; undefined for memory of its own. */
  readonly slot: number | undefined;
  #numbers: Int32Array;
  #texts: Buffer;
  #count: number;
  #bytes: number;
  #isOwn: boolean;
  /** Where texts begin in `#texts`, and how many bytes there are for them. */
  #textsAt: number;
  #room: number;

  /** Memory of a slot, or, without one, such as grows by need. @param filled numbers and bytes that are in it already */
  constructor(slot?: ResultSlot, filled = { count: 0, bytes: 0 }) {
    this.slot = slot?.number;
    this.#isOwn = slot === undefined;
    this.#numbers = slot === undefined ? new Int32Array(0) : new Int32Array(slot.memory, slot.at, SLOT_NUMBERS);
    this.#texts = slot === undefined ? EMPTY : Buffer.from(slot.memory);
    this.#textsAt = slot === undefined ? 0 : slot.at + SLOT_NUMBERS * WORD;
    this.#room = slot === undefined ? 0 : SLOT_TEXT_BYTES;
    this.#count = filled.count;
    this.#bytes = filled.bytes;
  }

  /** Memory with what `own` gave. */
  static of({ numbers, texts }: OwnResults): ResultMemory {
    const memory = new ResultMemory();
    memory.#numbers = numbers;
    memory.#texts = Buffer.from(texts.buffer, texts.byteOffset, texts.length);
    memory.#room = texts.length;
    memory.#count = numbers.length;
    memory.#bytes = texts.length;
    return memory;
  }

  /** Numbers that are in it. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of texts that are in it. */
  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#count >= SLOT_NUMBERS * FULL || this.#bytes >= SLOT_TEXT_BYTES * FULL;
  }

  /** What is in it, when it does not lie in the slot. */
  get own(): OwnResults | undefined {
    if (!this.#isOwn) return undefined;
    return {
      numbers: this.#numbers.slice(0, this.#count),
      texts: Uint8Array.from(this.#texts.subarray(this.#textsAt, this.#textsAt + this.#bytes)),
    };
  }

  /** Adds a number. @returns its place */
  put(value: number): number {
    if (this.#count === this.#numbers.length) this.#growNumbers();
    this.#numbers[this.#count] = value;
    this.#count += 1;
    return this.#count - 1;
  }

  /** Adds to a number. */
  add(place: number, amount: number): void {
    this.#numbers[place] = (this.#numbers[place] ?? 0) + amount;
  }

  number(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  /** Takes the last numbers out again. */
  takeBack(count: number): number[] {
    this.#count -= count;
    return [...this.#numbers.subarray(this.#count, this.#count + count)];
  }

  /** Adds a byte string. */
  text(text: string): void {
    const end = this.#bytes + text.length;
    if (end > this.#room) this.#growTexts(end);
    this.#texts.write(text, this.#textsAt + this.#bytes, 'latin1');
    this.#bytes = end;
  }

  /** What has the texts, one behind the other from `textsAt` on: with a slot it is the whole of the memory that all share. */
  get texts(): Buffer {
    return this.#texts;
  }

  get textsAt(): number {
    return this.#textsAt;
  }

  #growNumbers(): void {
    this.#leaveSlot(Math.max(1024, this.#numbers.length * 2), this.#room);
  }

  #growTexts(least: number): void {
    this.#leaveSlot(this.#numbers.length, Math.max(least, 4096, this.#room * 2));
  }

  #leaveSlot(numbers: number, texts: number): void {
    const grownNumbers = new Int32Array(numbers);
    grownNumbers.set(this.#numbers.subarray(0, this.#count));
    const grownTexts = Buffer.allocUnsafeSlow(texts);
    this.#texts.copy(grownTexts, 0, this.#textsAt, this.#textsAt + this.#bytes);
    this.#numbers = grownNumbers;
    this.#texts = grownTexts;
    this.#textsAt = 0;
    this.#room = texts;
    this.#isOwn = true;
  }
}

/** Results that do not lie in a slot. */
export type OwnResults = { readonly numbers: Int32Array; readonly texts: Uint8Array };

const EMPTY = Buffer.alloc(0);
