import type { AlertView } from '../../../../lib/output/alert-view.js';
import { textTime } from '../../../../lib/time/text-time.js';
import { cutBytes } from '../cut-bytes.js';

/** Bytes of the logs of one alert in a mail. */
const MAX_LOG_BYTES = 65_536;
/** Characters of a subject; a header of many lines is refused by some servers. */
const MAX_SUBJECT = 250;
/** Characters of the body of a short message (daemons-and-config.md 8.3). */
const MAX_SMS = 127;
const LINE_END = '\r\n';

/** Subject of a mail about some alerts: that of the highest level, the first of them. @param full `maild.full_subject` */
export function mailSubject(alerts: readonly AlertView[], full: boolean): string {
  const highest = alerts.reduce((best, alert) => (alert.level > best.level ? alert : best));
  const { origin, level, description } = highest;
  const host = origin.split('->')[0] ?? origin;
  const text = full
    ? `Wazuh alert - ${origin} - Level ${String(level)} - ${description}`
    : `Wazuh notification - ${host} - Alert level ${String(level)}`;
  return mailHeader(text);
}

/** Text of a mail about some alerts, one after the other. */
export function mailBody(alerts: readonly AlertView[]): string {
  return alerts.map(notification).join('');
}

/** A short message about one alert. */
export function shortMessage(alert: AlertView): { readonly subject: string; readonly text: string } {
  const { level, ruleId, description, fullLog } = alert;
  return {
    subject: mailHeader(`Wazuh ${String(level)} - ${ruleId} - ${description}`),
    text: fullLog.replace(/[\r\n]+/g, ' ').slice(0, MAX_SMS),
  };
}

function notification(alert: AlertView): string {
  const given = (label: string, value: string): string[] => (value === '' ? [] : [`${label}: ${oneLine(value)}`]);
  return [
    '',
    'Wazuh Notification.',
    textTime(Number.isNaN(alert.time) ? Date.now() : alert.time),
    '',
    `Received From: ${oneLine(alert.origin)}`,
    `Rule: ${alert.ruleId} fired (level ${String(alert.level)}) -> "${oneLine(alert.description)}"`,
    ...given('Src IP', alert.data('srcip')),
    ...given('Dst IP', alert.data('dstip')),
    ...given('User', alert.data('dstuser')),
    'Portion of the log(s):',
    '',
    ...logLines(alert),
    '',
    '',
    ' --END OF NOTIFICATION',
    '',
    '',
    '',
  ].join(LINE_END);
}

function logLines({ fullLog, previousOutput }: AlertView): string[] {
  const text = previousOutput === '' ? fullLog : `${fullLog}\n${previousOutput}`;
  return cutBytes(text, MAX_LOG_BYTES, '...').split(/\r\n|\r|\n/);
}

/** A subject or a part of one: one line, not too long. */
export function mailHeader(text: string): string {
  return oneLine(text).slice(0, MAX_SUBJECT);
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ');
}
