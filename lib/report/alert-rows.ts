import type { ReportAlert } from './report-alert.js';
import type { ReportField } from './report-fields.js';

/** Characters of the rows about rules (daemons-and-config.md 8.4). */
const MAX_RULE = 75;
/** What stands for no address or user in alerts of old. */
const NONE = '(none)';
/** Lists of groups whose names are kept: a ruleset has some hundreds. */
const MOST_GROUP_LISTS = 1000;
const NOTHING: readonly string[] = [];

const groupLists = new Map<string, readonly string[]>();

/** The rows in which an alert counts, by section; each is made once, for all reports that look at the alert. */
export class AlertRows {
  readonly #alert: ReportAlert;
  readonly #rows: Partial<Record<ReportField, readonly string[]>> = {};

  constructor(alert: ReportAlert) {
    this.#alert = alert;
  }

  /** One row, several for groups, none for what the alert does not have. */
  of(field: ReportField): readonly string[] {
    return (this.#rows[field] ??= rowsOf(field, this.#alert));
  }
}

/** What filters compare and relations show of an alert. */
export function valueOf(field: ReportField, alert: ReportAlert): string {
  switch (field) {
    case 'group':
      return alert.groups;
    case 'level':
      return String(alert.level);
    case 'rule':
      return alert.ruleId;
    default:
      return alert[field];
  }
}

/** A value that is there, as a list of it. */
export function present(value: string): readonly string[] {
  return value === '' || value === NONE ? NOTHING : [value];
}

function rowsOf(field: ReportField, alert: ReportAlert): readonly string[] {
  switch (field) {
    case 'group':
      return namesOf(alert.groups);
    case 'level':
      return [`Severity ${String(alert.level)}`];
    case 'rule':
      return [`${alert.ruleId} - ${alert.description}`.slice(0, MAX_RULE)];
    default:
      return present(valueOf(field, alert));
  }
}

/** Names of groups, each once: the same lists come again and again. */
function namesOf(groups: string): readonly string[] {
  let names = groupLists.get(groups);
  if (names === undefined) {
    names = [...new Set(groups.split(',').map((name) => name.trim()))].filter((name) => name !== '');
    if (groupLists.size >= MOST_GROUP_LISTS) groupLists.clear();
    groupLists.set(groups, names);
  }
  return names;
}
