import { AlertRows, present, valueOf } from './alert-rows.js';
import type { ReportAlert } from './report-alert.js';
import { REPORT_FIELDS, type ReportField, type ReportFilter, type ReportRelation } from './report-fields.js';
import { ownCopy, ValueCounts } from './value-counts.js';

export type ReportOptions = {
  /** Stands in the heading; undefined: a report without a name. */
  readonly name?: string | undefined;
  /** All must hold. */
  readonly filters: readonly ReportFilter[];
  readonly relations: readonly ReportRelation[];
  /** Whether the alerts follow, each with its log. */
  readonly showLogs: boolean;
};

/** Headings of the sections. */
const TITLES: Readonly<Record<ReportField, string>> = {
  srcip: 'Source ip',
  user: 'Username',
  level: 'Level',
  group: 'Group',
  location: 'Location',
  rule: 'Rule',
  filename: 'Filenames',
};
const RULER = '-'.repeat(48);
const LINE_END = '\r\n';
/** Width of the column of values; a longer one moves the next column. */
const VALUE_WIDTH = 78;
const COUNT_WIDTH = 8;
/** Rows of a section: a mail of more is not read. */
const MOST_ROWS = 1000;
/** Different values that a value is related to, and all of them in one section. */
const MOST_RELATED = 100;
const MOST_RELATED_IN_ALL = 20_000;
/** Characters of alerts in the dump: with the rows, about what one mail may have. */
const MOST_DUMPED = 1_000_000;
/** Characters of one log in it. */
const MAX_LOG = 2048;
/**
 * A report about alerts, in the form that users of the reference know (daemons-and-config.md 8.4). Alerts are added one after
 * the other; the memory it takes has an end, and what did not find room is told in the text.
 */
export class AlertReport {
  readonly #options: ReportOptions;
  readonly #filters: readonly ((alert: ReportAlert) => boolean)[];
  readonly #counts: Readonly<Record<ReportField, ValueCounts>>;
  readonly #relations: readonly RelatedValues[];
  readonly #dump: AlertDump | undefined;
  #processed = 0;
  #matched = 0;
  #first = '';
  #last: ReportAlert | undefined;

  /** @param options filters of which {@link filterProblem} knows nothing wrong */
  constructor(options: ReportOptions) {
    this.#options = options;
    this.#filters = options.filters.map(filterTest);
    this.#counts = Object.fromEntries(REPORT_FIELDS.map((field) => [field, new ValueCounts()])) as Record<
      ReportField,
      ValueCounts
    >;
    // In the order of the sections, whatever order they are given in.
    this.#relations = REPORT_FIELDS.flatMap((field) =>
      REPORT_FIELDS.filter((by) =>
        options.relations.some((relation) => relation.field === field && relation.by === by),
      ).map((by) => new RelatedValues({ field, by })),
    );
    this.#dump = options.showLogs ? new AlertDump() : undefined;
  }

  /** Alerts that were looked at. */
  get processed(): number {
    return this.#processed;
  }

  /** Alerts that the filters took. */
  get matched(): number {
    return this.#matched;
  }

  /** @param rows those of the alert, where several reports look at it */
  add(alert: ReportAlert, rows = new AlertRows(alert)): void {
    this.#processed += 1;
    for (const takes of this.#filters) if (!takes(alert)) return;
    this.#matched += 1;
    if (this.#matched === 1) this.#first = ownCopy(alert.date);
    this.#last = alert;
    for (const field of REPORT_FIELDS) this.#count(field, alert, rows.of(field));
    this.#dump?.add(alert);
  }

  /** What the log says when no alert was left. */
  get nothingLeft(): string {
    const { name } = this.#options;
    const report = name === undefined ? 'Report' : `Report '${oneLine(name)}'`;
    return `${report} completed and zero alerts post-filter.`;
  }

  /** The report, with line ends CRLF; empty when no alert was left. */
  text(): string {
    if (this.#matched === 0) return '';
    const { name } = this.#options;
    const lines = [
      ' ',
      name === undefined ? 'Report completed. ==' : `Report '${oneLine(name)}' completed.`,
      RULER,
      `->Processed alerts: ${String(this.#processed)}`,
      `->Post-filtering alerts: ${String(this.#matched)}`,
      `->First alert: ${oneLine(this.#first)}`,
      `->Last alert: ${oneLine(this.#last?.date ?? '')}`,
      ' ',
      ' ',
    ];
    for (const field of REPORT_FIELDS) {
      lines.push(...section(`Top entries for '${TITLES[field]}':`, this.#counts[field], () => []));
    }
    for (const field of REPORT_FIELDS) {
      const relations = this.#relations.filter((relation) => relation.field === field);
      if (relations.length === 0) continue;
      lines.push(
        ...section(`Related entries for '${TITLES[field]}':`, this.#counts[field], (value) =>
          relations.flatMap((relation) => relation.lines(value)),
        ),
      );
    }
    lines.push(...(this.#dump?.lines() ?? []));
    return lines.map((line) => line + LINE_END).join('');
  }

  #count(field: ReportField, alert: ReportAlert, rows: readonly string[]): void {
    for (const value of rows) {
      const counted = this.#counts[field].add(value);
      if (counted === undefined || this.#relations.length === 0) continue;
      for (const relation of this.#relations) if (relation.field === field) relation.add(counted, alert);
    }
  }
}

function filterTest({ field, value }: ReportFilter): (alert: ReportAlert) => boolean {
  if (field === 'level') {
    const lowest = Number(value);
    return ({ level }) => level >= lowest;
  }
  if (field === 'rule') {
    const ids = new Set(value.split(/[\s,]+/).map((id) => String(Number(id))));
    return ({ ruleId }) => ids.has(ruleId);
  }
  return (alert) => valueOf(field, alert).includes(value);
}

/** Values of one field that stand beside those of another. */
class RelatedValues {
  readonly field: ReportField;
  readonly #by: ReportField;
  readonly #values = new Map<string, Set<string>>();
  /** Values of the field beside which more stood than are kept. */
  readonly #cut = new Set<string>();
  #kept = 0;

  constructor({ field, by }: ReportRelation) {
    this.field = field;
    this.#by = by;
  }

  add(value: string, alert: ReportAlert): void {
    for (const related of present(valueOf(this.#by, alert))) {
      let known = this.#values.get(value);
      if (known?.has(related) === true) continue;
      if ((known?.size ?? 0) >= MOST_RELATED || this.#kept >= MOST_RELATED_IN_ALL) {
        this.#cut.add(value);
        continue;
      }
      if (known === undefined) this.#values.set(value, (known = new Set()));
      known.add(ownCopy(related));
      this.#kept += 1;
    }
  }

  lines(value: string): string[] {
    return [
      ...[...(this.#values.get(value) ?? [])].map((related) => `   ${this.#by}: '${oneLine(related)}'`),
      ...(this.#cut.has(value) ? [`   ${this.#by}: ... (others are left out)`] : []),
    ];
  }
}

/** The alerts themselves, as far as there is room. */
class AlertDump {
  readonly #entries: string[][] = [];
  #characters = 0;
  #leftOut = 0;

  add(alert: ReportAlert): void {
    // Once one is left out all are: those that are shown have no gap.
    if (this.#leftOut > 0) {
      this.#leftOut += 1;
      return;
    }
    const { date, location, ruleId, level, description, log } = alert;
    const shown = log.length > MAX_LOG ? `${log.slice(0, MAX_LOG)}...` : log;
    const entry = [
      `${date} ${location}`,
      `Rule: ${ruleId} (level ${String(level)}) -> '${description}'`,
      ...shown.split(/\r\n|\r|\n/),
      '',
    ].map((line) => ownCopy(oneLine(line)));
    const characters = entry.reduce((sum, line) => sum + line.length, 0);
    if (this.#characters + characters > MOST_DUMPED) {
      this.#leftOut += 1;
      return;
    }
    this.#characters += characters;
    this.#entries.push(entry);
  }

  lines(): string[] {
    return [
      'Log dump:',
      RULER,
      ...this.#entries.flat(),
      ...(this.#leftOut === 0 ? [] : [`(${String(this.#leftOut)} later alerts are left out)`, '']),
    ];
  }
}

/** A section with its rows; nothing where it would have none. */
function section(heading: string, counts: ValueCounts, below: (value: string) => readonly string[]): string[] {
  if (counts.size === 0) return [];
  const rows = counts.sorted();
  const lines = [heading, RULER];
  for (const { value, count } of rows.slice(0, MOST_ROWS)) {
    lines.push(`${oneLine(value).padEnd(VALUE_WIDTH)}|${String(count).padEnd(COUNT_WIDTH)}|`, ...below(value));
  }
  const hidden = rows.slice(MOST_ROWS).reduce((sum, { count }) => sum + count, 0);
  if (hidden > 0) {
    lines.push(
      `(${String(rows.length - MOST_ROWS)} less frequent values, counted ${String(hidden)} times, are left out)`,
    );
  }
  if (counts.others > 0) {
    lines.push(
      `(values that came when ${String(counts.size)} were known are left out, ${String(counts.others)} times)`,
    );
  }
  return [...lines, ' ', ' '];
}

/** Without what would end the line or act on a terminal. */
function oneLine(text: string): string {
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, ' ');
}
