import type { SyslogFormat } from '../../../../lib/config/sections/outputs.js';
import type { AlertView } from '../../../../lib/output/alert-view.js';
import { COMPATIBILITY_VERSION } from '../../../../lib/product/version.js';
import { MONTH_NAMES } from '../../../../lib/time/local-day.js';
import { groupList } from '../alert-filter.js';
import { cutBytes } from '../cut-bytes.js';

/** Facility local0, severity warning. */
const PRIORITY = '<132>';
/** Bytes of everything before the log. */
const MAX_HEAD_BYTES = 2048;
/** Bytes of the log itself. */
const MAX_LOG_BYTES = 61_440;
const MOST_CEF_SEVERITY = 10;

/**
 * One alert as a syslog message, one line without its end.
 * @param text its line of alerts.json, which the format `json` takes as it is
 * @param host name of this manager
 */
export function syslogMessage(format: SyslogFormat, alert: AlertView, text: string, host: string): string {
  const head = `${PRIORITY}${syslogTime(alert.time)} ${host} `;
  switch (format) {
    case 'default':
      return `${cutBytes(head + defaultHead(alert), MAX_HEAD_BYTES)} ${log(alert)}`;
    case 'cef':
      return cefMessage(head, alert, host);
    case 'splunk':
      return `${cutBytes(head + splunkHead(alert), MAX_HEAD_BYTES)} message="${quoted(log(alert))}"`;
    case 'json':
      return `${head}ossec: ${text}`;
  }
}

/** `Jun  5 10:11:23`, local time. */
function syslogTime(time: number): string {
  const at = new Date(Number.isNaN(time) ? Date.now() : time);
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return `${MONTH_NAMES[at.getMonth()] ?? ''} ${String(at.getDate()).padStart(2)} ${clock.join(':')}`;
}

function defaultHead(alert: AlertView): string {
  const fim = fileChanges(alert);
  const parts = [
    `ossec: Alert Level: ${String(alert.level)}; Rule: ${alert.ruleId} - ${line(alert.description)};`,
    `Location: ${line(alert.origin)};`,
    given('classification:  ', groupList(alert)),
    given('srcip: ', alert.data('srcip')),
    given('dstip: ', alert.data('dstip')),
    given('user: ', alert.data('dstuser')),
    ...(['md5', 'sha1', 'sha256'] as const).flatMap((sum) => [
      given(`Previous ${sum.toUpperCase()}: `, fim[`${sum}_old`]),
      given(`Current ${sum.toUpperCase()}: `, fim[`${sum}_new`]),
    ]),
    given('Size changed: ', change('from', 'to', alert, 'size')),
    given('User ownership: ', change('was', 'now it is', alert, 'uid')),
    given('Group ownership: ', change('was', 'now it is', alert, 'gid')),
    given('Permissions changed: ', change('from', 'to', alert, 'perm')),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function given(label: string, value: string): string {
  return value === '' ? '' : `${label}${line(value)};`;
}

/** `from '10' to '20'`, as file integrity alerts say it; '' without a change. */
function change(before: string, after: string, alert: AlertView, name: string): string {
  const old = alert.syscheck(`${name}_before`);
  if (old === '') return '';
  const separator = before === 'was' ? ', ' : ' ';
  return `${before} '${old}'${separator}${after} '${alert.syscheck(`${name}_after`)}'`;
}

function cefMessage(head: string, alert: AlertView, host: string): string {
  const { level, ruleId, description } = alert;
  const fim = fileChanges(alert);
  const product = ['CEF:0', 'Wazuh Inc.', 'Wazuh', `v${COMPATIBILITY_VERSION}`, ruleId, description];
  const severity = String(Math.min(level, MOST_CEF_SEVERITY));
  const user = alert.data('dstuser');
  const dst = alert.data('dstip');
  const src = alert.data('srcip');
  const before = [
    pair('dvc', host),
    pair('cs1', alert.origin),
    pair('cs1Label', 'Location'),
    pair('cat', groupList(alert)),
    pair('src', src),
    pair('dpt', alert.data('dstport')),
    pair('spt', alert.data('srcport')),
    pair('fname', alert.syscheck('path')),
    pair('dhost', dst),
    pair('shost', src),
    // The reference says both twice, and what reads it is used to that.
    pair('suser', user),
    pair('dst', dst),
    pair('suser', user),
    pair('dst', dst),
  ];
  const behind = [
    fim.md5_old === '' ? '' : `cs2Label=OldMD5 ${pair('cs2', fim.md5_old)}`,
    fim.md5_new === '' ? '' : `cs3Label=NewMD5 ${pair('cs3', fim.md5_new)}`,
    pair('oldFileHash', fim.sha1_old),
    pair('fhash', fim.sha1_new),
    pair('fileHash', fim.sha256_new),
  ];
  const header = `${product.map(cefHeader).join('|')}|${severity}|`;
  const start = cutBytes(`${head}${header}${joined(before)}`, MAX_HEAD_BYTES);
  return joined([start, `msg=${cefValue(log(alert))}`, ...behind]);
}

function pair(name: string, value: string): string {
  return value === '' ? '' : `${name}=${cefValue(value)}`;
}

function cefHeader(text: string): string {
  return line(text).replace(/[\\|]/g, '\\$&');
}

function cefValue(text: string): string {
  return line(text).replace(/[\\=]/g, '\\$&');
}

function splunkHead(alert: AlertView): string {
  const fim = fileChanges(alert);
  const text = (name: string, value: string): string => (value === '' ? '' : `${name}="${quoted(value)}",`);
  const number = (name: string, value: string): string => (value === '' ? '' : `${name}=${line(value)},`);
  return joined([
    `ossec: crit=${String(alert.level)} id=${alert.ruleId} description="${quoted(alert.description)}"`,
    text('component', alert.origin),
    text('classification', groupList(alert)),
    text('src_ip', alert.data('srcip')),
    number('src_port', alert.data('srcport')),
    text('dst_ip', alert.data('dstip')),
    number('dst_port', alert.data('dstport')),
    text('file', alert.syscheck('path')),
    text('acct', alert.data('dstuser')),
    ...Object.entries(fim).map(([name, value]) => text(name, value)),
  ]);
}

/** Within quotation marks. */
function quoted(text: string): string {
  return line(text).replace(/[\\"]/g, '\\$&');
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** Sums of a file that has changed; '' where there are none. */
function fileChanges(alert: AlertView) {
  const sum = (name: string, when: 'before' | 'after'): string =>
    alert.syscheck(`${name}_before`) === '' ? '' : alert.syscheck(`${name}_${when}`);
  return {
    md5_old: sum('md5', 'before'),
    md5_new: sum('md5', 'after'),
    sha1_old: sum('sha1', 'before'),
    sha1_new: sum('sha1', 'after'),
    sha256_old: sum('sha256', 'before'),
    sha256_new: sum('sha256', 'after'),
  };
}

function log(alert: AlertView): string {
  return cutBytes(line(alert.fullLog), MAX_LOG_BYTES, '...');
}

/** A message is one line: an attacker's log must not begin another one. */
function line(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ');
}
