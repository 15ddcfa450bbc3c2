/**
 * A window of the day (rules-and-alerts.md 6.4): `[!] H[H][:MM][am|pm] - H[H][:MM][am|pm]`, both ends inclusive to the
 * minute. A window that crosses midnight means "not between end and start", and a `!` before it is lost.
 */
export class TimeExpression {
  readonly #from: number;
  readonly #to: number;
  readonly #negated: boolean;

  private constructor(from: number, to: number, negated: boolean) {
    this.#from = from;
    this.#to = to;
    this.#negated = negated;
  }

  /** @returns undefined when the text is no window: `(1240): Invalid time format: '%s'.` */
  static parse(text: string): TimeExpression | undefined {
    const parts = /^\s*(!?)\s*(\d{1,2})(?::(\d{2}))?\s*([ap]m)?\s*-\s*(\d{1,2})(?::(\d{2}))?\s*([ap]m)?\s*$/i.exec(
      text,
    );
    if (parts === null) return undefined;
    const from = minuteOfDay(parts[2], parts[3], parts[4]);
    const to = minuteOfDay(parts[5], parts[6], parts[7]);
    if (from === undefined || to === undefined) return undefined;
    return from > to ? new TimeExpression(to, from, true) : new TimeExpression(from, to, parts[1] === '!');
  }

  /** @param minute minute of the local day, 0 to 1439 */
  contains(minute: number): boolean {
    return (minute >= this.#from && minute <= this.#to) !== this.#negated;
  }
}

/**
 * Minutes after midnight; undefined when there is no such time.
 * @param half `am`, `pm` or nothing
 */
export function minuteOfDay(
  hourText: string | undefined,
  minuteText: string | undefined,
  half: string | undefined,
): number | undefined {
  let hour = Number(hourText);
  const minute = minuteText === undefined ? 0 : Number(minuteText);
  const suffix = half?.toLowerCase();
  if (hour >= 24 || minute > 59) return undefined;
  if (suffix === 'pm') {
    // 12 pm is noon; 13 pm and later are mistakes
    if (hour > 12) return undefined;
    if (hour < 12) hour += 12;
  } else if (suffix === 'am' && hour === 12) {
    hour = 0;
  }
  return hour * 60 + minute;
}
