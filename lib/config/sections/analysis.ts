import { availableParallelism, totalmem } from 'node:os';
import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { type Field, group, scalar, type Values } from '../field.js';
import { requireText } from '../value-fields.js';

/** More threads than that would only wait for the place that brings their results into order. */
const MOST_THREADS = 64;
/** What `auto` takes of the memory at most, and what a thread has with a ruleset as large as the public one. */
const MEMORY_SHARE = 1 / 4;
const THREAD_BYTES = 160 * 1024 * 1024;

/** `<analysis>`: how events are analysed. A section of this product; scalars, last one wins. */
const ANALYSIS_FIELDS = {
  /** Threads that analyse events, 1 to 64; `auto`: see `automaticThreads`. With 1 events are analysed where they come in. */
  threads: scalar<number>(1, readThreads),
};

/** `<analysis>` as read. */
export type AnalysisConfig = Values<typeof ANALYSIS_FIELDS>;
/** Reads `<analysis>` blocks. */
export const ANALYSIS: Field<AnalysisConfig> = group(ANALYSIS_FIELDS);

function readThreads(element: XmlElement, report: ConfigReport): number {
  const value = requireText(element, report);
  if (value === 'auto') return automaticThreads(availableParallelism(), memoryBytes());
  const threads = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (threads < 1 || threads > MOST_THREADS) throw report.invalidValue(element);
  return threads;
}

/** As many threads as there are cores, and no more than a quarter of the memory has room for. @param bytes of memory */
export function automaticThreads(cores: number, bytes: number): number {
  const room = Math.floor((bytes * MEMORY_SHARE) / THREAD_BYTES);
  return Math.max(1, Math.min(MOST_THREADS, cores, room));
}

/** What the host has, or the control group of this process when that has less. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
