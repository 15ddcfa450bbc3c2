import type { ReportAlert } from '../../lib/report/report-alert.js';

/** An alert as reports see it, with what a test changes of it. */
export function reportAlert(changes: Partial<ReportAlert> = {}): ReportAlert {
  return {
    date: '2025 Jun 05 10:11:23',
    location: '(web) 10.0.0.7->/var/log/auth.log',
    groups: 'syslog,sshd,',
    ruleId: '5712',
    level: 10,
    description: 'Many failures',
    srcip: '203.0.113.9',
    user: 'bob',
    filename: '',
    log: 'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9',
    ...changes,
  };
}

/** The alert as an entry of alerts.log (rules-and-alerts.md 7.7). @param labels lines before the rule */
export function textEntry(alert: ReportAlert, labels: readonly string[] = [], mail = false): string {
  return [
    `** Alert 1749118283.7:${mail ? ' mail ' : ''} - ${alert.groups}`,
    `${alert.date} ${alert.location}`,
    ...labels,
    `Rule: ${alert.ruleId} (level ${String(alert.level)}) -> '${alert.description}'`,
    ...(alert.srcip === '' ? [] : [`Src IP: ${alert.srcip}`]),
    ...(alert.user === '' ? [] : [`User: ${alert.user}`]),
    alert.log,
    '',
    '',
  ].join('\n');
}
