import { escapeJson } from '../json-text.js';

/** Logs that are remembered: each shows in several alerts of a composite rule, and in the archive. A power of two. */
const SLOTS = 2048;
/** Longer logs are escaped each time. */
const MAX_LOG = 16_384;
/** Bytes of logs that are remembered, escaped and not; beyond them it begins anew. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Characters of a log that say where it is remembered. */
const SAMPLES = 12;

/** The insides of JSON strings of full logs, kept for those that were shown last. */
export class EscapedLogs {
  readonly #logs: string[] = Array.from({ length: SLOTS }, () => '');
  readonly #escaped: string[] = Array.from({ length: SLOTS }, () => '');
  #bytes = 0;

  /** The log as it stands between the quotes of a JSON string. */
  of(log: string): string {
    if (log.length > MAX_LOG) return escapeJson(log);
    const slot = slotOf(log);
    // the same object in nearly all cases, which takes no look at its text
    if (this.#logs[slot] === log) return this.#escaped[slot] ?? '';
    const escaped = escapeJson(log);
    this.#keep(slot, log, escaped);
    return escaped;
  }

  #keep(slot: number, log: string, escaped: string): void {
    this.#bytes += log.length + escaped.length - (this.#logs[slot] ?? '').length - (this.#escaped[slot] ?? '').length;
    if (this.#bytes > MAX_BYTES) {
      this.#logs.fill('');
      this.#escaped.fill('');
      this.#bytes = log.length + escaped.length;
    }
    this.#logs[slot] = log;
    this.#escaped[slot] = escaped;
  }
}

/** By some of its characters, from its end on: lines of one kind begin in the same way. */
function slotOf(log: string): number {
  const { length } = log;
  const step = length / SAMPLES;
  let hash = length;
  for (let i = 1; i <= SAMPLES; i += 1) hash = (hash * 31 + log.charCodeAt((length - i * step) | 0)) | 0;
  return (hash ^ (hash >>> 15) ^ (hash >>> 7)) & (SLOTS - 1);
}
