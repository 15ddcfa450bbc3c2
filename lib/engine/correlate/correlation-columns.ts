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

/** The columns of events. @param fieldKeys names of their fields */
export function columnsOf(remembered: readonly RememberedEvent[], fieldKeys: readonly string[]): EventColumns {
  const attributes: (number | string)[] = [];
  const fields: (number | string)[] = [];
  for (const event of remembered) {
    putPresent(attributes, event.attributes, undefined);
    putPresent(fields, event.fields, fieldKeys);
  }
  return {
    times: remembered.map(({ time }) => time),
    agentIds: remembered.map(({ agentId }) => agentId),
    categories: remembered.map(({ category }) => category),
    fullLogs: remembered.map(({ fullLog }) => fullLog),
    logs: remembered.map(({ fullLog, log }) => (fullLog.endsWith(log) ? fullLog.length - log.length : log)),
    marks: remembered.map(({ mark }) => mark),
    hasFields: remembered.map(({ hasFields }) => hasFields),
    attributeCount: remembered[0]?.attributes.length ?? 0,
    attributes,
    fields,
  };
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
