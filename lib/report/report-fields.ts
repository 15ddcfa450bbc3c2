/** What reports count, in the order of their sections (daemons-and-config.md 8.4). */
export const REPORT_FIELDS = ['srcip', 'user', 'level', 'group', 'location', 'rule', 'filename'] as const;
export type ReportField = (typeof REPORT_FIELDS)[number];

/** Alerts that a report takes: those of which a field is so. */
export type ReportFilter = { readonly field: ReportField; readonly value: string };

/** Values of a field that a report lists with what another field has beside them. */
export type ReportRelation = { readonly field: ReportField; readonly by: ReportField };

const HIGHEST_LEVEL = 16;

export function isReportField(name: string): name is ReportField {
  return REPORT_FIELDS.some((field) => field === name);
}

/** Why a filter is none, a clause; undefined when it is one. */
export function filterProblem({ field, value }: ReportFilter): string | undefined {
  if (value === '') return 'it is empty';
  if (field === 'level' && (!/^\d{1,2}$/.test(value) || Number(value) > HIGHEST_LEVEL)) {
    return `a level is a number from 0 to ${String(HIGHEST_LEVEL)}`;
  }
  if (field === 'rule' && !/^\d{1,9}(?:[\s,]+\d{1,9})*$/.test(value)) return 'rules are ids, separated by commas';
  return undefined;
}
