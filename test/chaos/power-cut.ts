import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CheckpointData } from '../../daemons/analysisd/pipeline/checkpoint-data.js';
import { EVENTS } from '../../daemons/analysisd/pipeline/journal-record.js';
import type { Home } from '../../lib/home/home.js';
import { CheckpointStore } from '../../lib/journal/checkpoint-store.js';
import { DurableMark } from '../../lib/journal/durable-mark.js';
import { SEGMENT_HEADER_BYTES } from '../../lib/journal/journal-limits.js';
import type { JournalRecord } from '../../lib/journal/journal-record.js';
import { recoverSegments } from '../../lib/journal/recover-segments.js';
import { SegmentDamage, SegmentReader } from '../../lib/journal/segment-reader.js';
import { type StateLogFile, stateLogGeneration, stateLogName } from '../../lib/journal/state-log-file.js';
import { compareDays } from '../../lib/output/dated-files.js';
import { decodeEventBatch } from '../support/journal/decode-event-batch.js';
import { readOutput } from '../support/read-output.js';
import { numbersMentioned } from './numbered-events.js';
import { datedParts, type OutputName, outputPart, outputParts } from './output-parts.js';
import type { Random } from './random.js';
import type { RunLog } from './run-log.js';

/** Newest parts of an output among which the last events are searched. */
const NEWEST_PARTS = 2;
/** Bytes of an interrupted write behind the journal's end, at most. */
const MAX_REMAINS = 5000;

const STREAMS = {
  'alerts.json': 'alertsJson',
  'alerts.log': 'alertsText',
  'archives.json': 'archivesJson',
  responses: 'responses',
  totals: undefined,
} as const;

/**
 * Does to the files of a product that was killed what a power cut does: bytes that nobody has made safe are gone, or
 * there as zeros. Of the journal only records go that had no effect yet that anybody could see: none of their events was
 * acknowledged or written to an output. Of the outputs, what came after the newest checkpoint.
 */
export class PowerCut {
  readonly #home: Home;
  readonly #random: Random;
  readonly #log: RunLog;
  readonly #directory: string;

  constructor(home: Home, random: Random, log: RunLog) {
    this.#home = home;
    this.#random = random;
    this.#log = log;
    this.#directory = home.path('queue', 'journal');
  }

  /** @param isKnown whether somebody who lives on, or a file, has the acknowledgement of a number */
  strike(isKnown: (number: number) => boolean): void {
    if (!existsSync(this.#directory)) return;
    const checkpoint = new CheckpointStore(this.#directory, () => {}).load();
    this.#cutJournal(checkpoint?.position ?? 0, isKnown);
    const data = checkpoint?.data as CheckpointData | undefined;
    this.#cutOutputs(data);
    this.#cutStateLog(data?.log ?? []);
  }

  #cutJournal(committed: number, isKnown: (number: number) => boolean): void {
    const newest = recoverSegments(this.#directory, { marked: 0, committed: 0 }).segments.at(-1);
    if (newest?.key === undefined) return;
    const { path, first } = newest;
    // The mark is never made safe itself. Without it, nobody knows of records whose effects nobody knows of.
    if (this.#random.chance(0.4)) rmSync(join(this.#directory, 'durable'), { force: true });
    const marked = new DurableMark(this.#directory, () => {}).read();
    const written = this.#numbersWritten();
    let least = Math.max(first, committed, marked);
    for (const record of recordsOf({ path, first, key: newest.key })) {
      if (hasEffect(record, (number) => isKnown(number) || written.has(number))) least = Math.max(least, record.next);
    }
    const size = statSync(path).size;
    const leastSize = SEGMENT_HEADER_BYTES + least - first;
    const cut = leastSize < size ? this.#random.integer(leastSize, size) : size;
    truncateSync(path, cut);
    const remains = this.#random.chance(0.5) ? this.#remains(path) : Buffer.alloc(0);
    appendFileSync(path, remains);
    this.#log.say(
      `power cut: ${path} from ${String(size)} to ${String(cut)} bytes (${String(leastSize)} were safe), ` +
        `${String(remains.length)} bytes of an interrupted write behind`,
    );
  }

  /** What a write leaves that did not come to its end: zeros, or the beginning of what looks like a record. */
  #remains(path: string): Buffer {
    const length = this.#random.integer(1, MAX_REMAINS);
    if (this.#random.chance(0.5)) return Buffer.alloc(length);
    return readFileSync(path).subarray(SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES + length);
  }

  #cutOutputs(data: CheckpointData | undefined): void {
    for (const [name, stream] of Object.entries(STREAMS) as [OutputName, (typeof STREAMS)[OutputName]][]) {
      const state = stream === undefined ? data?.analysis.statistics.totals : data?.analysis.outputs.files[stream];
      // A part is made safe when the next one is begun.
      const newest = datedParts(this.#home, name).at(-1);
      if (newest === undefined) continue;
      const order = state === undefined ? 1 : compareDays(newest.day, state.day) || newest.part - state.part;
      // What came before the place of the checkpoint is safe as well.
      if (order >= 0) this.#cutFile(outputPart(this.#home, name, newest), order === 0 ? (state?.length ?? 0) : 0);
    }
    this.#cutFile(this.#home.path('queue', 'fts', 'fts-queue'), data?.analysis.firstTimeSeen ?? 0);
  }

  /** Of the log of the state, what no checkpoint counts on. */
  #cutStateLog(counting: readonly StateLogFile[]): void {
    const safe = new Map(counting.map(({ generation, length }) => [stateLogName(generation), length]));
    const newest = Math.max(0, ...counting.map(({ generation }) => generation));
    for (const name of readdirSync(this.#directory)) {
      const generation = stateLogGeneration(name);
      // One that is older may be what the older checkpoint counts on.
      if (generation === undefined || (generation < newest && !safe.has(name))) continue;
      this.#cutFile(join(this.#directory, name), safe.get(name) ?? 0);
    }
  }

  #cutFile(path: string, safe: number): void {
    const size = existsSync(path) ? statSync(path).size : 0;
    if (size <= safe || this.#random.chance(0.4)) return;
    const cut = this.#random.integer(safe, size);
    const zeros = this.#random.chance(0.3);
    if (zeros) overwrite(path, cut, Buffer.alloc(size - cut));
    else truncateSync(path, cut);
    this.#log.say(
      `power cut: ${path} ${zeros ? 'has zeros' : 'ends'} from byte ${String(cut)} of ${String(size)} on (${String(safe)} were safe)`,
    );
  }

  /** Numbers that the newest outputs mention. */
  #numbersWritten(): Set<number> {
    const numbers = new Set<number>();
    for (const name of Object.keys(STREAMS) as OutputName[]) {
      for (const path of outputParts(this.#home, name).slice(-NEWEST_PARTS)) {
        for (const number of numbersMentioned(readOutput(path).toString('latin1'))) numbers.add(number);
      }
    }
    return numbers;
  }
}

function* recordsOf(segment: ConstructorParameters<typeof SegmentReader>[0]): Generator<JournalRecord> {
  const end = segment.first + statSync(segment.path).size - SEGMENT_HEADER_BYTES;
  const reader = new SegmentReader(segment);
  try {
    for (let position = segment.first; position < end;) {
      const found = reader.read(position, end);
      if (!(found instanceof SegmentDamage)) yield found;
      position = found instanceof SegmentDamage ? found.to : found.next;
    }
  } finally {
    reader.close();
  }
}

function hasEffect({ kind, payload }: JournalRecord, isKnown: (number: number) => boolean): boolean {
  if (kind !== EVENTS) return true;
  return decodeEventBatch(payload).some(({ message }) => {
    const [number] = numbersMentioned(message.toString('latin1'));
    // Nobody here knows who waits for events that are not ours.
    return number === undefined || isKnown(number);
  });
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const fd = openSync(path, 'r+');
  try {
    writeSync(fd, bytes, 0, bytes.length, at);
  } finally {
    closeSync(fd);
  }
}
