import type { AlertBatch } from '../../../lib/output/alert-feed.js';
import type { RecordPosition } from '../../../lib/output/record-stream.js';

/** Where an output has its alerts from: the files of this node, or the alerts of all nodes of a cluster. */
export interface AlertSource {
  /** Behind the newest alert: where an output begins that is new. */
  end(): Promise<RecordPosition>;
  /** Alerts behind a position; none when there is nothing new. @param anew whether what was read before is not enough */
  read(from: RecordPosition, anew?: boolean): Promise<AlertBatch>;
  /** What there is now: take it before reading, and wait for another after. */
  mark(): string;
  /** Waits for something new since a mark, or for the signal; a while without news ends it, too. */
  changed(mark: string, signal: AbortSignal): Promise<void>;
  /** Bytes of alerts behind a position, about. */
  bytesAfter(position: RecordPosition): number;
  /** Whether what was read last is still this output's to deliver; always where it does not say. */
  holds?(): boolean;
  /** Ends what goes on beside. @param position up to which alerts are dealt with */
  close?(position: RecordPosition): Promise<void>;
}
