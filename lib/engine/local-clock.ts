import { MONTH_NAMES } from '../time/local-day.js';

/**
 * Local calendar of the manager for epoch times, as alerts, time windows and hourly counters need it. Everything that
 * stays the same for a second is computed once a second: events come in the order of time.
 */
export class LocalClock {
  #second = Number.NaN;
  #minuteOfDay = 0;
  #weekday = 0;
  #hourKey = '';
  #dayKey = '';
  #isoSecond = '';
  #zone = '';
  #textTime = '';

  /** Minute of the day, 0 to 1439. */
  minuteOfDay(second: number): number {
    this.#move(second);
    return this.#minuteOfDay;
  }

  hour(second: number): number {
    this.#move(second);
    return Math.floor(this.#minuteOfDay / 60);
  }

  /** 0 = Sunday. */
  weekday(second: number): number {
    this.#move(second);
    return this.#weekday;
  }

  /** Names the local hour: equal for two times exactly when they lie in the same hour. */
  hourKey(second: number): string {
    this.#move(second);
    return this.#hourKey;
  }

  /** Names the local day, `YYYY-MM-DD`. */
  dayKey(second: number): string {
    this.#move(second);
    return this.#dayKey;
  }

  /** `YYYY-MM-DDTHH:MM:SS.mmm+hhmm` (rules-and-alerts.md 7.1). */
  timestamp(milliseconds: number): string {
    const second = Math.floor(milliseconds / 1000);
    this.#move(second);
    const millis = Math.floor(milliseconds - second * 1000);
    const digits = millis < 10 ? `00${String(millis)}` : millis < 100 ? `0${String(millis)}` : String(millis);
    return `${this.#isoSecond}.${digits}${this.#zone}`;
  }

  /** `YYYY Mon DD HH:MM:SS`, the form of the text logs (rules-and-alerts.md 7.7). */
  textTime(second: number): string {
    this.#move(second);
    return this.#textTime;
  }

  #move(second: number): void {
    if (second === this.#second) return;
    this.#second = second;
    const date = new Date(second * 1000);
    const year = String(date.getFullYear()).padStart(4, '0');
    const month = two(date.getMonth() + 1);
    const day = two(date.getDate());
    const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
    const offset = -date.getTimezoneOffset();
    const ahead = Math.abs(offset);
    this.#minuteOfDay = date.getHours() * 60 + date.getMinutes();
    this.#weekday = date.getDay();
    this.#dayKey = `${year}-${month}-${day}`;
    this.#zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}${two(ahead % 60)}`;
    // the zone keeps the two equal hours of an autumn night apart
    this.#hourKey = `${this.#dayKey}T${two(date.getHours())}${this.#zone}`;
    this.#isoSecond = `${this.#dayKey}T${time}`;
    this.#textTime = `${year} ${MONTH_NAMES[date.getMonth()] ?? ''} ${day} ${time}`;
  }
}

function two(value: number): string {
  return value < 10 ? `0${String(value)}` : String(value);
}
