import type { Category } from '../event.js';
import type { SnapshotEvent } from './correlation-snapshot.js';
import type { RememberedEvent } from './remembered-event.js';

/**
 * Remembered events by column, as plain data: much quicker to serialize than as many objects. Texts that are the end of
 * another, or missing, are not repeated.
 */
export type EventColumns = {
  readonly times: readonly number[];
  readonly agentIds: readonly string[];
  readonly categories: readonly Category[];
  readonly fullLogs: readonly string[];
  /** Where the log begins in the full log, or its text when it is no part of that. */
  readonly logs: readonly (number | string)[];
  readonly marks: readonly number[];
  readonly hasFields: readonly boolean[];
  readonly attributeCount: number;
  /** For each event: number of attributes it has, then position and value of each. */
  readonly attributes: readonly (number | string)[];
  /** For each event: number of fields it has, then name and value of each. */
  readonly fields: readonly (number | string)[];
};

/** All remembered events of a moment. Events do not change but for their marks, which are copied. */
export class RememberedEvents {
  readonly #events: readonly RememberedEvent[];
  readonly #marks: readonly number[];
  readonly #fieldKeys: readonly string[];

  constructor(events: readonly RememberedEvent[], fieldKeys: readonly string[]) {
    this.#events = events;
    this.#marks = events.map(({ mark }) => mark);
    this.#fieldKeys = fieldKeys;
  }

  get count(): number {
    return this.#events.length;
  }

  /** Events `from` up to `to`, exclusive. */
  columns(from: number, to: number): EventColumns {
    const events = this.#events.slice(from, to);
    const attributes: (number | string)[] = [];
    const fields: (number | string)[] = [];
    for (const event of events) {
      putPresent(attributes, event.attributes, undefined);
      putPresent(fields, event.fields, this.#fieldKeys);
    }
    return {
      times: events.map(({ time }) => time),
      agentIds: events.map(({ agentId }) => agentId),
      categories: events.map(({ category }) => category),
      fullLogs: events.map(({ fullLog }) => fullLog),
      logs: events.map(({ fullLog, log }) => (fullLog.endsWith(log) ? fullLog.length - log.length : log)),
      marks: this.#marks.slice(from, to),
      hasFields: events.map(({ hasFields }) => hasFields),
      attributeCount: events[0]?.attributes.length ?? 0,
      attributes,
      fields,
    };
  }
}

/** The events of columns, as a snapshot has them. */
export function eventsOf(columns: EventColumns): SnapshotEvent[] {
  const { times, agentIds, categories, fullLogs, logs, marks, hasFields, attributeCount } = columns;
  const attributes = new Cells(columns.attributes);
  const fields = new Cells(columns.fields);
  return times.map((time, index) => {
    const fullLog = fullLogs[index] ?? '';
    const log = logs[index] ?? '';
    const values: (string | null)[] = Array.from({ length: attributeCount }, () => null);
    for (const [position, value] of attributes.next()) values[Number(position)] = value;
    return {
      time,
      agentId: agentIds[index] ?? '',
      category: categories[index] ?? 'syslog',
      fullLog,
      log: typeof log === 'number' ? fullLog.slice(log) : log,
      attributes: values,
      hasFields: hasFields[index] ?? false,
      fields: fields.next().map(([name, value]) => [String(name), value] as const),
      mark: marks[index] ?? 0,
    };
  });
}

function putPresent(
  cells: (number | string)[],
  values: readonly (string | undefined)[],
  names: readonly string[] | undefined,
): void {
  const at = cells.push(0) - 1;
  let count = 0;
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    cells.push(names?.[index] ?? index, value);
    count += 1;
  }
  cells[at] = count;
}

/** Reads what `putPresent` has written. */
class Cells {
  readonly #cells: readonly (number | string)[];
  #at = 0;

  constructor(cells: readonly (number | string)[]) {
    this.#cells = cells;
  }

  next(): [number | string, string][] {
    const count = Number(this.#cells[this.#at++] ?? 0);
    const pairs: [number | string, string][] = [];
    for (let number = 0; number < count; number += 1) {
      pairs.push([this.#cells[this.#at] ?? '', String(this.#cells[this.#at + 1] ?? '')]);
      this.#at += 2;
    }
    return pairs;
  }
}
