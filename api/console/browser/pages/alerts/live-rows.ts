import type { Alert } from '../../client/alerts.js';

/** Alerts that are kept of a stream: nobody reads more while they move. */
export const MOST_LIVE_ROWS = 100;
/** Seconds over which the rate is taken. */
const RATE_S = 5;

/** What is drawn of a stream. */
export type LiveView = {
  /** The newest first. */
  readonly alerts: readonly Alert[];
  readonly came: number;
  /** Alerts that came and went between two looks: they were never shown. */
  readonly passedOver: number;
  /** Alerts a second, lately. */
  readonly perSecond: number;
};

type Row = { readonly id: string; readonly text: string; alert?: Alert; isSeen: boolean };

/** The newest alerts of a stream. They are read when they are looked at, so that a thousand a second cost little. */
export class LiveRows {
  /** The oldest first. */
  #rows: Row[] = [];
  #came = 0;
  #passedOver = 0;
  #marks: { readonly at: number; readonly came: number }[] = [];

  push(text: string, id: string): void {
    this.#came += 1;
    this.#rows.push({ id, text, isSeen: false });
    // Cut in pieces: to move everything for each alert would cost more than the alert.
    if (this.#rows.length >= MOST_LIVE_ROWS * 2) this.#cut();
  }

  /** What is to be drawn after another view; the same while nothing changes. @param now milliseconds of any clock */
  next(before: LiveView, now: number): LiveView {
    const isStill = this.#came === before.came && before.perSecond === 0;
    return isStill ? before : this.look(now);
  }

  /** @param now milliseconds of any clock */
  look(now: number): LiveView {
    this.#cut();
    const alerts: Alert[] = [];
    for (const row of this.#rows) {
      row.isSeen = true;
      row.alert ??= JSON.parse(row.text) as Alert;
      alerts.unshift(row.alert);
    }
    return { alerts, came: this.#came, passedOver: this.#passedOver, perSecond: this.#rate(now) };
  }

  #cut(): void {
    const gone = this.#rows.splice(0, Math.max(0, this.#rows.length - MOST_LIVE_ROWS));
    this.#passedOver += gone.filter(({ isSeen }) => !isSeen).length;
  }

  #rate(now: number): number {
    this.#marks.push({ at: now, came: this.#came });
    while (this.#marks.length > 2 && (this.#marks[1]?.at ?? now) < now - RATE_S * 1000) this.#marks.shift();
    const [first] = this.#marks;
    if (first === undefined || first.at === now) return 0;
    return ((this.#came - first.came) * 1000) / (now - first.at);
  }
}
