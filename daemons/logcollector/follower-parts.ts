import type { FileHandle } from 'node:fs/promises';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { EventStream } from '../../lib/bus/event-stream.js';
import type { Logger } from '../../lib/log/logger.js';
import type { FileSource } from './file-source.js';
import type { Outlet } from './outlet.js';

/** As `EventProducer.openStream`. */
export type OpenStream = (name: string, from: number, options?: { readonly rewind: boolean }) => EventStream;

/** The part of the event producer that following files needs. */
export type FollowerEvents = {
  readonly openStream: OpenStream;
  readonly trySend: (event: BusEvent) => boolean;
  /** Resolves when the window has room; rejects when the producer is closed. */
  readonly ready: () => Promise<void>;
};

export type FollowerLimits = {
  /** `logcollector.max_files` */
  readonly maxFiles: number;
  /** `logcollector.max_lines` */
  readonly maxLines: number;
  /** `logcollector.sample_log_length` */
  readonly sampleBytes: number;
};

export type FileFollowerParts = {
  /** Opens a path for reading, without waiting for a pipe. */
  readonly openFile: (path: string) => Promise<FileHandle>;
  readonly events: FollowerEvents;
  readonly makeOutlet: (source: FileSource, path: string, stream: EventStream | undefined) => Outlet;
  readonly logger: Logger;
  readonly limits: FollowerLimits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** The present run of the host: differs after every start. */
  readonly boot: string;
  /**
   * Writes all positions down; false when that failed. Called before the first event of a file that is new: its stream
   * must be known again after a crash, or all of it would be sent a second time.
   */
  readonly savePositions: () => Promise<boolean>;
};
