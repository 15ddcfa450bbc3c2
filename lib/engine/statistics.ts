const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** Days of history before the alert may fire. */
const MIN_DAYS = 3;
const MAX_ALERTS_A_DAY = 3;
/** Most days that count in an average. */
const MAX_DAYS = 7;
const HOURS = 24;
const DAYS = 7;

export type StatisticsOptions = {
  /** Level of the alert, `<global><stats>`; 0 = off. */
  readonly level: number;
  readonly maxDiff: number;
  readonly minDiff: number;
  readonly percentDiff: number;
};

/** Averages of one table, as in the files under `stats/` (rules-and-alerts.md 11.2): 24 hours and the number of days. */
export type HourTable = { readonly averages: number[]; days: number };

export type StatisticsSnapshot = {
  readonly hourly: { readonly averages: readonly number[]; readonly days: number };
  readonly weekly: readonly { readonly averages: readonly number[]; readonly days: number }[];
  readonly counts: readonly number[];
  readonly day: string;
  readonly firedHour: number;
  readonly firedToday: number;
};

/** Counts events by hour and tells when an hour has far more than usual (rules-and-alerts.md 6.8, 11.2). */
export class Statistics {
  readonly #options: StatisticsOptions;
  readonly hourly: HourTable = emptyTable();
  /** Sunday first. */
  readonly weekly: readonly HourTable[] = Array.from({ length: DAYS }, emptyTable);
  /** Events of the running day by hour. */
  readonly #counts: number[] = Array.from({ length: HOURS }, () => 0);
  #day = '';
  #firedHour = -1;
  #firedToday = 0;

  constructor(options: StatisticsOptions) {
    this.#options = options;
  }

  get level(): number {
    return this.#options.level;
  }

  /** Events of the running day by hour. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  /**
   * Counts an event.
   * @returns the text of an alert, when one is due
   */
  count(day: string, hour: number, weekday: number): string | undefined {
    if (day !== this.#day) this.#startDay(day);
    const count = (this.#counts[hour] ?? 0) + 1;
    this.#counts[hour] = count;
    if (this.#options.level === 0 || this.#firedHour === hour || this.#firedToday >= MAX_ALERTS_A_DAY) return undefined;
    const text =
      this.#exceeds(this.hourly, hour, count, '') ??
      this.#exceeds(this.weekly[weekday], hour, count, ` on ${WEEKDAYS[weekday] ?? ''}`);
    if (text !== undefined) {
      this.#firedHour = hour;
      this.#firedToday += 1;
    }
    return text;
  }

  snapshot(): StatisticsSnapshot {
    return {
      hourly: copy(this.hourly),
      weekly: this.weekly.map(copy),
      counts: [...this.#counts],
      day: this.#day,
      firedHour: this.#firedHour,
      firedToday: this.#firedToday,
    };
  }

  restore(snapshot: StatisticsSnapshot): void {
    assign(this.hourly, snapshot.hourly);
    this.weekly.forEach((table, i) => {
      assign(table, snapshot.weekly[i]);
    });
    snapshot.counts.forEach((count, hour) => (this.#counts[hour] = count));
    this.#day = snapshot.day;
    this.#firedHour = snapshot.firedHour;
    this.#firedToday = snapshot.firedToday;
  }

  #exceeds(table: HourTable | undefined, hour: number, count: number, day: string): string | undefined {
    if (table === undefined || table.days < MIN_DAYS) return undefined;
    const average = table.averages[hour] ?? 0;
    if (average === 0 || count <= average || count <= average + this.#delta(average)) return undefined;
    const from = String(hour);
    const to = String(hour + 1);
    return `The average number of logs between ${from}:00 and ${to}:00${day} is ${String(average)}. We reached ${String(count)}.`;
  }

  #delta(average: number): number {
    const { minDiff, maxDiff, percentDiff } = this.#options;
    return Math.min(maxDiff, Math.max(minDiff, Math.floor((average * percentDiff) / 100) + 1));
  }

  /** Works the counts of the day that ended into the averages (11.2). */
  #startDay(day: string): void {
    if (this.#day !== '' && this.#options.level !== 0) {
      this.#learn(this.hourly, true);
      // Every weekday's table is updated each day, and their number of days never grows (13.1, Q27).
      for (const table of this.weekly) this.#learn(table, false);
    }
    this.#day = day;
    this.#counts.fill(0);
    this.#firedHour = -1;
    this.#firedToday = 0;
  }

  #learn(table: HourTable, counted: boolean): void {
    const days = Math.min(MAX_DAYS, table.days + 1);
    if (counted) table.days = days;
    for (let hour = 0; hour < HOURS; hour += 1) {
      const count = this.#counts[hour] ?? 0;
      const average = table.averages[hour] ?? 0;
      if (count === 0) continue;
      if (average === 0) {
        table.averages[hour] = count + 20;
      } else if (this.#firedToday >= MAX_ALERTS_A_DAY) {
        table.averages[hour] = Math.floor((3 * count + days * average) / (days + 3)) + 25;
      } else {
        table.averages[hour] = Math.floor((count + days * average) / (days + 1)) + 5;
      }
    }
  }
}

function emptyTable(): HourTable {
  return { averages: Array.from({ length: HOURS }, () => 0), days: 0 };
}

function copy(table: HourTable): HourTable {
  return { averages: [...table.averages], days: table.days };
}

function assign(
  table: HourTable,
  from: { readonly averages: readonly number[]; readonly days: number } | undefined,
): void {
  if (from === undefined) return;
  from.averages.forEach((average, hour) => (table.averages[hour] = average));
  table.days = from.days;
}
