import { type Alert, factsOf } from '../../client/alerts.js';

/** Columns of a table of alerts, by their path; what else was decoded is in the last one, as JSON. */
const COLUMNS = [
  'timestamp',
  'alert_id',
  'rule.level',
  'rule.id',
  'rule.description',
  'rule.groups',
  'rule.mitre.id',
  'agent.id',
  'agent.name',
  'location',
  'decoder.name',
  'data.srcip',
  'data.srcport',
  'data.srcuser',
  'data.dstip',
  'data.dstport',
  'data.dstuser',
  'full_log',
] as const;

/** The first line. The mark in front says to spreadsheets that it is UTF-8. */
export const CSV_HEAD = `\ufeff${[...COLUMNS, 'data'].join(',')}\r\n`;

/** One alert as a line (RFC 4180). */
export function csvLine(alert: Alert): string {
  const values = new Map<string, string>();
  for (const { path, value } of factsOf(alert)) {
    const before = values.get(path);
    values.set(path, before === undefined ? String(value) : `${before}; ${String(value)}`);
  }
  const data = alert.data === undefined ? '' : JSON.stringify(alert.data);
  const cells = [...COLUMNS.map((path) => values.get(path) ?? ''), data];
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A cell: what a spreadsheet would take for a formula gets a quote in front, since attackers write into logs what they like. */
export function csvCell(value: string): string {
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
