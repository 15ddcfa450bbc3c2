import { createHash } from 'node:crypto';
import type { ManagerConfig } from '../../../lib/config/manager-config.js';
import type { Home } from '../../../lib/home/home.js';
import type { ReportOptions } from '../../../lib/report/alert-report.js';
import type { ReportField } from '../../../lib/report/report-fields.js';
import { mailServer, serverProblem } from '../outputs/mail/mail-output.js';
import type { MailServer } from '../outputs/mail/mail-transport.js';

type ReportSections = ManagerConfig<'global' | 'reports'>;

/** A report that is mailed every day. */
export type DailyReport = {
  /** Of which day it was mailed last is kept under it: made of the title, whatever else of the block changes. */
  readonly key: string;
  readonly title: string;
  readonly to: readonly string[];
  readonly options: ReportOptions;
};

/** The reports that the configuration asks for, and how they are mailed. */
export type ReportPlan = { readonly reports: readonly DailyReport[]; readonly server: MailServer | undefined };

/** Fields of a block, each with the element that tells of it. */
const ELEMENTS = [
  ['group', 'category'],
  ['rule', 'rule'],
  ['level', 'level'],
  ['location', 'location'],
  ['srcip', 'srcip'],
  ['user', 'user'],
] as const satisfies readonly (readonly [ReportField, string])[];

/** Why no report is mailed although some are configured, and in which line; undefined when nothing is wrong. */
export function reportsProblem({
  global,
  reports,
}: ReportSections): { readonly text: string; readonly line: number } | undefined {
  const problem = serverProblem(global, ['smtp_server', 'email_from']);
  const [first] = reports;
  if (first === undefined || problem === undefined) return undefined;
  return { text: `Reports are off: ${problem}`, line: first.line };
}

/** Reports of the same title count as several. `<email_notification>` is about alerts: reports do not need it (daemons-and-config.md 4.4). */
export function reportPlan(sections: ReportSections, home: Home): ReportPlan {
  const { global, reports } = sections;
  if (reportsProblem(sections) !== undefined) return { reports: [], server: undefined };
  const seen = new Map<string, number>();
  return {
    server: mailServer(global, home),
    reports: reports.map((block) => {
      const number = (seen.get(block.title) ?? 0) + 1;
      seen.set(block.title, number);
      const key = `${createHash('sha256').update(block.title).digest('hex').slice(0, 32)} ${String(number)}`;
      return { key, title: block.title, to: block.email_to, options: optionsOf(block) };
    }),
  };
}

function optionsOf(block: ReportSections['reports'][number]): ReportOptions {
  const told = ELEMENTS.map(([field, name]) => ({ field, ...(block[name] ?? { value: undefined, related: [] }) }));
  return {
    name: block.title,
    filters: told.flatMap(({ field, value }) => (value === undefined ? [] : [{ field, value }])),
    relations: told.flatMap(({ field, related }) => related.map((by) => ({ field, by }))),
    showLogs: block.showlogs,
  };
}
