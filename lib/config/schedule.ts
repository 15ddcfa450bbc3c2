import type { XmlElement } from '../xml/xml-element.js';
import type { ConfigReport } from './config-report.js';
import { type Field, scalar } from './field.js';
import { parseDigits, parseDuration } from './units.js';
import { requireText } from './value-fields.js';

/** How often a module runs: every so many seconds, or every so many calendar months. */
export type Interval = { readonly unit: 'second' | 'month'; readonly count: number };

/** When a scheduled module runs (daemons-and-config.md 7.3). */
export type Schedule = {
  readonly interval: Interval;
  /** Day of the month, 1..31. */
  readonly day: number | undefined;
  /** 0 is Sunday. */
  readonly wday: number | undefined;
  /** Minutes after midnight, local time. */
  readonly time: number | undefined;
};

const DAY = 86400;
const WEEK = 7 * DAY;
const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** The four elements of a schedule, for the shape of a module's block. @param initialSeconds interval when absent */
export function scheduleFields(initialSeconds: number): {
  readonly interval: Field<Interval>;
  readonly day: Field<number | undefined>;
  readonly wday: Field<number | undefined>;
  readonly time: Field<number | undefined>;
} {
  return {
    interval: scalar({ unit: 'second', count: initialSeconds }, readInterval),
    day: scalar<number | undefined>(undefined, (element, report) => {
      const value = parseDigits(requireText(element, report));
      if (value === undefined || value < 1 || value > 31) {
        throw report.invalidDay(element);
      }
      return value;
    }),
    wday: scalar<number | undefined>(undefined, (element, report) => {
      const value = parseWeekday(requireText(element, report));
      if (value === undefined) {
        throw report.invalidDay(element);
      }
      return value;
    }),
    time: scalar<number | undefined>(undefined, (element, report) => {
      const match = /^(\d{1,2}):(\d{2})$/.exec(requireText(element, report));
      const minutes = match === null ? NaN : Number(match[1]) * 60 + Number(match[2]);
      if (match === null || Number(match[1]) > 23 || Number(match[2]) > 59) {
        throw report.invalidTime(element);
      }
      return minutes;
    }),
  };
}

/**
 * Makes interval, day, weekday and time agree: `day` needs months, `wday` whole weeks, `time` whole days; else the
 * interval is changed with a warning (daemons-and-config.md 7.3).
 * @throws ConfigError when both day and wday are given
 */
export function agreeSchedule(schedule: Schedule, block: XmlElement, report: ConfigReport): Schedule {
  const { interval, day, wday } = schedule;
  if (day !== undefined && wday !== undefined) {
    throw report.error(block, undefined, "Options 'day' and 'wday' are not compatible.");
  }
  // A schedule by the calendar without a time of day runs at midnight.
  const time = schedule.time ?? (day !== undefined || wday !== undefined ? 0 : undefined);
  const changed = (text: string, next: Interval): Schedule => {
    report.warn(block, `The interval of '${blockName(block)}' does not fit its other options; ${text} is used.`);
    return { interval: next, day, wday, time };
  };
  if (day !== undefined && interval.unit !== 'month') {
    return changed('1M', { unit: 'month', count: 1 });
  }
  if (wday !== undefined && (interval.unit !== 'second' || interval.count % WEEK !== 0)) {
    return changed('1w', { unit: 'second', count: WEEK });
  }
  if (day === undefined && wday === undefined && time !== undefined) {
    if (interval.unit === 'second' && interval.count % DAY !== 0) {
      return changed('1d', { unit: 'second', count: DAY });
    }
  }
  return { interval, day, wday, time };
}

function readInterval(element: XmlElement, report: ConfigReport): Interval {
  const value = requireText(element, report);
  const months = /^(\d{1,4})M$/.exec(value);
  const interval: Interval | undefined =
    months === null
      ? { unit: 'second', count: parseDuration(value) ?? 0 }
      : { unit: 'month', count: Number(months[1]) };
  if (interval.count < 1) {
    throw report.invalidValue(element);
  }
  return interval;
}

function parseWeekday(value: string): number | undefined {
  if (/^[0-6]$/.test(value)) {
    return Number(value);
  }
  const word = value.toLowerCase();
  const index = DAY_NAMES.findIndex((name) => name === word || name.slice(0, 3) === word);
  return index < 0 ? undefined : index;
}

function blockName(block: XmlElement): string {
  return block.attributes.find(({ name }) => name === 'name')?.value ?? block.name;
}
