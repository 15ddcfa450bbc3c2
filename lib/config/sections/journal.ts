import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { type Field, group, scalar, type Values } from '../field.js';
import { duration, requireText, size } from '../value-fields.js';

/** When the journal is made durable: with every batch, never by itself, or at most that many milliseconds late. */
export type JournalSync = 'batch' | 'never' | number;

const DEFAULT_SYNC_MS = 10;
/** Longest wait of a producer for its acknowledgement that a setting may ask for. */
const MOST_SYNC_MS = 1000;

const MEBIBYTE = 1024 ** 2;
const DEFAULT_SEGMENT_BYTES = 64 * MEBIBYTE;
/** Below it the journal is mostly making files; above it the newest takes too long to read at a start. */
const LEAST_SEGMENT_BYTES = MEBIBYTE;
const MOST_SEGMENT_BYTES = 1024 * MEBIBYTE;
const DEFAULT_MAX_BYTES = 8192 * MEBIBYTE;
/** One segment is written while the one before it waits for a checkpoint. */
const LEAST_SEGMENTS = 2;

const DEFAULT_CHECKPOINT_SECONDS = 10;
const MOST_CHECKPOINT_SECONDS = 3600;

/** `<journal>`: where events are kept until their alerts are written. A section of this product; scalars, last one wins. */
const JOURNAL_FIELDS = {
  /** `batch`, `never`, or `10ms`: 1 to 1000 milliseconds. */
  sync: scalar<JournalSync>(DEFAULT_SYNC_MS, readSync),
  /** Bytes of one file, 1 MB to 1 GB. */
  segment_size: size(DEFAULT_SEGMENT_BYTES, (bytes) => bytes >= LEAST_SEGMENT_BYTES && bytes <= MOST_SEGMENT_BYTES),
  /** Bytes of all files together; events are refused beyond. */
  max_size: size(DEFAULT_MAX_BYTES, (bytes) => bytes >= LEAST_SEGMENTS * LEAST_SEGMENT_BYTES),
  /** Seconds from one checkpoint to the next. */
  checkpoint_interval: duration(DEFAULT_CHECKPOINT_SECONDS, { min: 1, max: MOST_CHECKPOINT_SECONDS }),
};

/** `<journal>` as read. */
export type JournalConfig = Values<typeof JOURNAL_FIELDS>;
/** Reads `<journal>` blocks. */
export const JOURNAL: Field<JournalConfig> = group(JOURNAL_FIELDS);

/**
 * Holds the two sizes against each other, once all blocks are read.
 * @throws ConfigError (1235) at the size that was given last
 */
export function finishJournal(
  journal: JournalConfig,
  blocks: readonly XmlElement[],
  report: ConfigReport,
): JournalConfig {
  if (journal.max_size >= LEAST_SEGMENTS * journal.segment_size) {
    return journal;
  }
  const sizes = blocks.flatMap(({ children }) => children.filter(({ name }) => /^(segment|max)_size$/.test(name)));
  const last = sizes.at(-1);
  if (last === undefined) {
    throw new Error('The default sizes of the journal contradict each other.');
  }
  const room = `max_size is ${megabytes(journal.max_size)} and must hold ${String(LEAST_SEGMENTS)} segments of ${megabytes(journal.segment_size)}`;
  throw report.error(last, 1235, `Invalid value for element '${last.name}': ${last.content}: ${room}.`);
}

function readSync(element: XmlElement, report: ConfigReport): JournalSync {
  const value = requireText(element, report);
  if (value === 'batch' || value === 'never') {
    return value;
  }
  const milliseconds = Number(/^(\d{1,4})ms$/.exec(value)?.[1] ?? 0);
  if (milliseconds < 1 || milliseconds > MOST_SYNC_MS) {
    throw report.invalidValue(element);
  }
  return milliseconds;
}

function megabytes(bytes: number): string {
  return `${String(Math.round(bytes / MEBIBYTE))} MB`;
}
