import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { CloseOptions, FileRepair } from '../../lib/output/append-file.js';
import { ALERT_FILES, RESPONSE_FILES } from '../../lib/output/dated-files.js';
import { OutputFile, type OutputFileState } from '../../lib/output/output-file.js';
import { describeRepair } from './describe-repair.js';

export type OutputSettings = {
  readonly alertsText: boolean;
  readonly alertsJson: boolean;
  readonly archivesText: boolean;
  readonly archivesJson: boolean;
  /** `<rotate_interval>`, seconds; 0 = off. */
  readonly rotateIntervalSeconds: number;
  /** `<max_output_size>`, bytes; 0 = off. */
  readonly maxOutputBytes: number;
  /** `analysisd.min_rotate_interval`: seconds between two rotations by size. */
  readonly minRotateIntervalSeconds: number;
  /** Whether alerts.log has the lines of `<custom_alert_output>` instead of records of several lines (default false). */
  readonly hasCustomText?: boolean;
};

/** What is written to; the order is how threads name them. */
export const STREAM_NAMES = [
  'alertsText',
  'alertsJson',
  'archivesText',
  'archivesJson',
  'firewall',
  'responses',
] as const;
export type Stream = (typeof STREAM_NAMES)[number];

/** Where the files of a stream lie in the home, and what they are called. */
type Place = { area: readonly string[]; live: string | undefined; stem: string; extension: string };

const STREAMS: Readonly<Record<Stream, Place>> = {
  alertsText: { area: ['logs', 'alerts'], live: 'alerts.log', stem: 'ossec-alerts', extension: 'log' },
  alertsJson: { area: ['logs', 'alerts'], live: 'alerts.json', ...ALERT_FILES },
  archivesText: { area: ['logs', 'archives'], live: 'archives.log', stem: 'ossec-archive', extension: 'log' },
  archivesJson: { area: ['logs', 'archives'], live: 'archives.json', stem: 'ossec-archive', extension: 'json' },
  firewall: { area: ['logs', 'firewall'], live: 'firewall.log', stem: 'ossec-firewall', extension: 'log' },
  // Nobody reads it but svc-execd, over the bus: it has a file only on days on which something is decided.
  responses: { area: ['queue', 'responses'], live: undefined, ...RESPONSE_FILES },
};

/** Where all outputs stand; plain data for a checkpoint. */
export type OutputsState = {
  /** When the parts within the day were changed last, epoch milliseconds. */
  readonly rotatedAt: number;
  readonly files: Readonly<Partial<Record<Stream, OutputFileState>>>;
};

/**
 * The output files of svc-analysisd (rules-and-alerts.md 7.7, 7.8). Records are collected by the files and reach the
 * disk at `flush`. The text streams are always open, even when nothing is written to them, as users' tools expect the
 * live names; an empty dated file goes away when it is closed.
 *
 * Opened from a state they take the same records and rotations once more, until `endReplay`: what is in the files already
 * is not written again, and every `alertOffset` is what it was in the first run (architecture.md 4 "Journal and checkpoint").
 */
export class Outputs {
  readonly settings: OutputSettings;
  readonly #files: Partial<Record<Stream, OutputFile>> = {};
  #rotatedAt: number;

  /**
   * @param from a moment: the newest files of its day are continued; a state: replay begins there
   * @throws Error of the file system, naming the path
   */
  constructor(home: Home, settings: OutputSettings, logger: Logger, from: Date | OutputsState) {
    this.settings = settings;
    this.#rotatedAt = from instanceof Date ? from.getTime() : from.rotatedAt;
    const wanted: Record<Stream, boolean> = {
      alertsText: true,
      alertsJson: settings.alertsJson,
      archivesText: true,
      archivesJson: settings.archivesJson,
      firewall: true,
      responses: true,
    };
    try {
      for (const stream of Object.keys(STREAMS) as Stream[]) {
        if (wanted[stream]) this.#files[stream] = this.#open(stream, home, logger, from);
      }
    } catch (error) {
      // It is tried again each second: what is open by now must not cost descriptors each time.
      for (const file of this.#all()) file.giveUp();
      throw error;
    }
  }

  /** The `<offset>` of the next alert's id: the byte position of alerts.log, else of alerts.json (7.4). */
  get alertOffset(): number {
    const stream = this.alertOffsetStream;
    return stream === undefined ? 0 : (this.#files[stream]?.position ?? 0);
  }

  /** Whose position it is. */
  get alertOffsetStream(): 'alertsText' | 'alertsJson' | undefined {
    const { alertsText, alertsJson } = this.settings;
    return alertsText ? 'alertsText' : alertsJson ? 'alertsJson' : undefined;
  }

  /** Adds a record, a byte string with its end, to a stream. */
  append(stream: Stream, record: string): void {
    this.#files[stream]?.append(record);
  }

  /** Adds whole records to a stream: bytes `from` up to `to`, exclusive. @param lengths bytes of each */
  addRecords(stream: Stream, bytes: Buffer, from: number, to: number, lengths: readonly number[]): void {
    this.#files[stream]?.addRecords(bytes, from, to, lengths);
  }

  /**
   * Hands everything to the file system.
   * @throws the system's error; nothing is lost, the next `flush` goes on where this one stopped
   */
  flush(): void {
    forEachOrThrow(this.#all(), (file) => {
      file.flush();
    });
  }

  /** Where everything stands, with all records appended so far. A checkpoint waits for a `sync` begun after it. */
  state(): OutputsState {
    const files: Partial<Record<Stream, OutputFileState>> = {};
    for (const [stream, file] of Object.entries(this.#files) as [Stream, OutputFile][]) files[stream] = file.state();
    return { rotatedAt: this.#rotatedAt, files };
  }

  /** Flushes and waits until everything is on the disk itself. @throws the system's error */
  async sync(): Promise<void> {
    const results = await Promise.allSettled(this.#all().map((file) => file.sync()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Replay has given everything: whole records that the files have beyond stay. Errors as `flush`; call it again then. */
  endReplay(): void {
    forEachOrThrow(this.#all(), (file) => {
      file.endReplay();
    });
  }

  /** Whether `rotate` would change a file now, so that only such moments need to be recorded for replay. */
  isRotationDue(now: Date): boolean {
    return this.#all().some((file) => !file.isOn(now)) || this.#partsDue(now).length > 0;
  }

  /** Day switch and rotation within the day (7.8); to be called between two events. Errors as `flush`. */
  rotate(now: Date): void {
    forEachOrThrow(this.#all(), (file) => {
      file.switchDay(now);
    });
    const due = this.#partsDue(now);
    for (const file of due) file.nextPart();
    if (due.length > 0) this.#rotatedAt = now.getTime();
  }

  /** Flushes and closes all files. */
  close(options?: CloseOptions): void {
    for (const file of this.#all()) file.close(options);
  }

  #open(stream: Stream, home: Home, logger: Logger, from: Date | OutputsState): OutputFile {
    const { area, live, stem, extension } = STREAMS[stream];
    const { hasCustomText, maxOutputBytes } = this.settings;
    return new OutputFile(
      {
        directory: home.path(...area),
        liveName: live,
        stem,
        extension,
        recordEnd: stream === 'alertsText' && hasCustomText !== true ? '\n\n' : '\n',
        maxBytes: maxOutputBytes,
        onRepair: (repair: FileRepair) => {
          logger.warn(describeRepair(repair));
        },
        onFinished: (path) => {
          logger.info(`'${path}' was compressed or removed meanwhile: what is recovered of it counts as written.`);
        },
      },
      from instanceof Date ? from : (from.files[stream] ?? dayIn(from)),
    );
  }

  /** Files that move to their next part; by the interval also empty ones, which then stay where they are. */
  #partsDue(now: Date): OutputFile[] {
    const { rotateIntervalSeconds, maxOutputBytes, minRotateIntervalSeconds } = this.settings;
    const elapsed = (now.getTime() - this.#rotatedAt) / 1000;
    if (rotateIntervalSeconds > 0 && elapsed >= rotateIntervalSeconds) return this.#all();
    if (maxOutputBytes === 0 || elapsed < minRotateIntervalSeconds) return [];
    return this.#all().filter((file) => file.position > maxOutputBytes);
  }

  #all(): OutputFile[] {
    return Object.values(this.#files);
  }
}

/** The day of a state, for a stream that was switched on since. */
function dayIn({ files, rotatedAt }: OutputsState): Date {
  const [known] = Object.values(files);
  return known === undefined ? new Date(rotatedAt) : new Date(known.day.year, known.day.month, known.day.day, 12);
}

/**
 * Does it to every file even when one fails, so that a stream whose disk is full keeps no other one behind.
 * @throws what the first that failed threw
 */
function forEachOrThrow(files: readonly OutputFile[], action: (file: OutputFile) => void): void {
  let failure: unknown;
  for (const file of files) {
    try {
      action(file);
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
