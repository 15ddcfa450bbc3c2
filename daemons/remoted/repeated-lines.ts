import { FIRST_REPEAT_MS, LONGEST_REPEAT_MS, MAX_REPEATED_LINES } from './remoted-limits.js';

type RepeatedLine = { writtenAt: number; quietMs: number; held: number };

/**
 * Lines of the log that come again and again, as those about an agent that was removed and goes on trying: each is
 * written at once, then after a minute, and then after twice the time each, up to an hour.
 */
export class RepeatedLines {
  readonly #lines = new Map<string, RepeatedLine>();

  /**
   * @param text names the agent or the peer, so that each has a line of its own
   * @param now milliseconds of a clock that is not set
   * @returns how often it was left out since it was written last; undefined when it is left out now
   */
  admit(text: string, now: number): number | undefined {
    const line = this.#lines.get(text);
    const sinceWritten = now - (line?.writtenAt ?? -Infinity);
    if (line !== undefined && sinceWritten < line.quietMs) {
      line.held += 1;
      return undefined;
    }
    // One that stayed away for as long again is news.
    const goesOn = line !== undefined && sinceWritten < 2 * line.quietMs;
    const quietMs = goesOn ? Math.min(2 * line.quietMs, LONGEST_REPEAT_MS) : FIRST_REPEAT_MS;
    // The map keeps the order of insertion: the line moves to its end.
    this.#lines.delete(text);
    this.#lines.set(text, { writtenAt: now, quietMs, held: 0 });
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MAX_REPEATED_LINES && oldest !== undefined) this.#lines.delete(oldest);
    return line?.held ?? 0;
  }
}
