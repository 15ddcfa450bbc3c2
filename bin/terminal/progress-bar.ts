/** Where a bar is drawn: a terminal. */
export type Terminal = { readonly write: (text: string) => void; readonly columns: number };

const BAR = 24;
const REDRAWN_EACH_MS = 100;
const CLEAR = '\r\u001b[K';

/** A bar in the last line of a terminal, which shows how far a scan is. */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #started = performance.now();
  #drawn = -Infinity;
  /** Files there are; unknown until they have been counted. */
  total: number | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws it anew, not more often than can be seen. */
  show(files: number, bytes: number): void {
    const now = performance.now();
    if (now - this.#drawn < REDRAWN_EACH_MS) return;
    this.#drawn = now;
    const text = progressText(files, bytes, this.total, (now - this.#started) / 1000);
    this.#terminal.write(CLEAR + text.slice(0, Math.max(this.#terminal.columns - 1, 0)));
  }

  /** Takes it away. */
  clear(): void {
    if (this.#drawn > -Infinity) this.#terminal.write(CLEAR);
    this.#drawn = -Infinity;
  }
}

/** @param total undefined while it is not known @param seconds since the beginning */
export function progressText(files: number, bytes: number, total: number | undefined, seconds: number): string {
  const rate = `${grouped(Math.round(files / Math.max(seconds, 0.001)))} files/s`;
  const read = `${grouped(Math.floor(bytes / 1024 ** 2))} MiB`;
  if (total === undefined) return `${grouped(files)} files  ${read}  ${rate}`;
  // Files come and go while they are counted.
  const share = total === 0 ? 1 : Math.min(files / total, 1);
  const full = Math.floor(share * BAR);
  const bar = '#'.repeat(full) + '.'.repeat(BAR - full);
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)}%  ${grouped(files)} of ${grouped(total)} files  ${read}  ${rate}`;
}

/** Digits in groups of three. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
