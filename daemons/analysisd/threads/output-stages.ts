import type { Analysis } from '../analysis.js';
import { type Stream, STREAM_NAMES } from '../outputs.js';
import type { ResultGap, ResultTarget } from './results.js';

/** Bytes of a stage. */
const STAGE_BYTES = 256 * 1024;
/** Bytes of all of them. */
export const STAGES_BYTES = STREAM_NAMES.length * STAGE_BYTES;
/** A late value has no more bytes. */
const LATE_BYTES = 48;
/** Numbers below it are divided as small integers. */
const SMALL = 0x40000000;
const ZERO = 0x30;
const POINT = 0x2e;

/** Records of a stream that are whole: from where up to where they lie, and the bytes of each. */
type Stage = { readonly start: number; at: number; lengths: number[] };

/**
 * Puts records of threads together: their parts with the late values between them. It is done in the memory in which the parts
 * lie, where a copy of some bytes costs no object, and goes to the outputs in blocks, by `drain`: before anybody else writes to
 * them or asks where they stand.
 */
export class OutputStages implements ResultTarget {
  readonly #analysis: Pick<Analysis, 'outputs'>;
  readonly #memory: Buffer;
  readonly #stages: readonly Stage[];
  /** The record at hand: its stream, what its parts lie in, where it is put together, from where on, and where its next byte goes. */
  #stream = 0;
  #source: Buffer;
  /** Whether the parts lie where it is put together: a copy needs no object then. */
  #isHere = true;
  #into: Buffer;
  #start = 0;
  #at = 0;
  /** The id of the alert at hand. */
  #second = Number.NaN;
  #secondText = '';
  #offset = 0;

  /** @param memory that results lie in. @param at where `STAGES_BYTES` of it begin that are for stages */
  constructor(analysis: Pick<Analysis, 'outputs'>, memory: SharedArrayBuffer, at: number) {
    this.#analysis = analysis;
    this.#memory = Buffer.from(memory);
    this.#source = this.#into = this.#memory;
    this.#stages = STREAM_NAMES.map((_, stream) => {
      const start = at + stream * STAGE_BYTES;
      return { start, at: start, lengths: [] };
    });
  }

  newId(receivedAt: number): void {
    const second = Math.floor(receivedAt / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = String(second);
    }
    const { outputs } = this.#analysis;
    const stream = outputs.alertOffsetStream;
    this.#offset = outputs.alertOffset;
    if (stream === undefined) return;
    const stage = this.#stageOf(STREAM_NAMES.indexOf(stream));
    this.#offset += stage.at - stage.start;
  }

  beginRecord(stream: number, bytes: Buffer, length: number, gaps: number): void {
    const stage = this.#stageOf(stream);
    const most = length + gaps * LATE_BYTES;
    this.#stream = stream;
    this.#source = bytes;
    if (stage.at + most > stage.start + STAGE_BYTES) this.#drain(stream);
    const fits = most <= STAGE_BYTES;
    this.#into = fits ? this.#memory : Buffer.allocUnsafeSlow(most);
    this.#isHere = fits && bytes.buffer === this.#memory.buffer;
    this.#start = this.#at = fits ? stage.at : 0;
  }

  addBytes(from: number, to: number): void {
    const into = this.#into;
    if (this.#isHere) into.copyWithin(this.#at, from, to);
    else this.#source.copy(into, this.#at, from, to);
    this.#at += to - from;
  }

  addLate(late: ResultGap['late'], times: number): void {
    if (late === 'firedTimes') {
      this.#addNumber(times);
      return;
    }
    if (late === 'id') {
      this.#addText(this.#secondText);
      this.#into[this.#at] = POINT;
      this.#at += 1;
    }
    this.#addNumber(this.#offset);
  }

  endRecord(): void {
    const length = this.#at - this.#start;
    if (this.#into === this.#memory) {
      const stage = this.#stageOf(this.#stream);
      stage.at = this.#at;
      stage.lengths.push(length);
    } else {
      this.#analysis.outputs.addRecords(streamName(this.#stream), this.#into, 0, length, [length]);
      this.#into = this.#memory;
    }
  }

  /** Hands everything to the outputs. */
  drain(): void {
    for (let stream = 0; stream < this.#stages.length; stream += 1) this.#drain(stream);
  }

  #drain(stream: number): void {
    const stage = this.#stageOf(stream);
    if (stage.at === stage.start) return;
    this.#analysis.outputs.addRecords(streamName(stream), this.#memory, stage.start, stage.at, stage.lengths);
    stage.at = stage.start;
    stage.lengths = [];
  }

  #stageOf(stream: number): Stage {
    const stage = this.#stages[stream];
    if (stage === undefined) throw new RangeError('a result names no output');
    return stage;
  }

  #addText(text: string): void {
    const into = this.#into;
    const at = this.#at;
    for (let index = 0; index < text.length; index += 1) into[at + index] = text.charCodeAt(index);
    this.#at = at + text.length;
  }

  /** Adds a whole number of 0 or more. */
  #addNumber(value: number): void {
    if (value >= SMALL) {
      this.#addText(String(value));
      return;
    }
    let digits = 1;
    for (let rest = value; rest >= 10; digits += 1) rest = (rest / 10) | 0;
    const into = this.#into;
    const end = this.#at + digits;
    for (let at = end - 1, rest = value; at >= this.#at; at -= 1) {
      const tens = (rest / 10) | 0;
      into[at] = ZERO + rest - tens * 10;
      rest = tens;
    }
    this.#at = end;
  }
}

function streamName(stream: number): Stream {
  const name = STREAM_NAMES[stream];
  if (name === undefined) throw new RangeError('a result names no output');
  return name;
}
