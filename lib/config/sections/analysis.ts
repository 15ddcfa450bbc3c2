import { availableParallelism } from 'node:os';
import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { type Field, group, scalar, type Values } from '../field.js';
import { requireText } from '../value-fields.js';

/** More threads than that would only wait for the place that brings their results into order. */
const MOST_THREADS = 64;

/** `<analysis>`: how events are analysed. A section of this product; scalars, last one wins. */
const ANALYSIS_FIELDS = {
  /** Threads that analyse events, 1 to 64; `auto`: as many as there are cores. With 1 events are analysed where they come in. */
  threads: scalar<number>(1, readThreads),
};

/** `<analysis>` as read. */
export type AnalysisConfig = Values<typeof ANALYSIS_FIELDS>;
/** Reads `<analysis>` blocks. */
export const ANALYSIS: Field<AnalysisConfig> = group(ANALYSIS_FIELDS);

function readThreads(element: XmlElement, report: ConfigReport): number {
  const value = requireText(element, report);
  if (value === 'auto') return Math.min(MOST_THREADS, availableParallelism());
  const threads = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (threads < 1 || threads > MOST_THREADS) throw report.invalidValue(element);
  return threads;
}
