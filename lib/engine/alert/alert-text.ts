import { visibleLabel } from '../../events/agent-labels.js';
import type { EngineEvent } from '../event.js';
import type { LocalClock } from '../local-clock.js';
import type { CompiledRule } from '../rules/ruleset.js';
import { type Alert, type AlertOrigin, hasAgentLocation, previousOutput } from './alert.js';
import { AlertRecord } from './alert-record.js';
import type { EventData } from './event-data.js';
import { type RuleText, ruleText } from './rule-text.js';
import { syscheckText } from './syscheck-text.js';

/** Agents' keep-alive messages are not archived (rules-and-alerts.md 7.7). */
const KEEPALIVE = 'ossec-keepalive';

/** Writes the text forms: alerts.log, archives.log, firewall.log and the configured format (rules-and-alerts.md 7.7). */
export class AlertText {
  readonly #origin: AlertOrigin;
  readonly #clock: LocalClock;
  readonly #data: EventData;
  readonly #rules = new Map<CompiledRule | undefined, RuleText>();

  constructor(origin: AlertOrigin, clock: LocalClock, data: EventData) {
    this.#origin = origin;
    this.#clock = clock;
    this.#data = data;
  }

  /** An entry of alerts.log, with the empty line that ends it. */
  render(alert: Alert): AlertRecord {
    const { event } = alert;
    const rule = this.#ruleText(alert.rule);
    const record = new AlertRecord(false);
    record.add('** Alert ');
    record.addId();
    record.add(rule.header);
    record.add(this.#timeOf(event));
    addOrigin(record, event);
    if (event.labels !== undefined) this.#addLabels(record, event.labels);
    record.add(rule.opening);
    record.add(alert.description ?? '(null)');
    record.add("'\n");
    addMembers(record, event);
    record.add(alert.fullLog);
    record.add('\n');
    if (event.decoder?.name.startsWith('syscheck_') === true) record.add(syscheckText(event));
    else this.#data.addLines(record, event);
    for (const log of previousOutput(alert)) {
      record.add(log);
      record.add('\n');
    }
    record.add('\n');
    return record;
  }

  /** A line of archives.log, or undefined for keep-alive messages. */
  archive(event: EngineEvent): string | undefined {
    if (isKeepalive(event)) return undefined;
    return `${this.#timeOf(event)} ${origin(event)} ${event.fullLog}\n`;
  }

  /** A line of firewall.log. */
  firewall(event: EngineEvent): string {
    const { protocol = '', srcip = '', srcport = '', dstip = '', dstport = '' } = event;
    return `${this.#timeOf(event)} ${origin(event)} ${firewallAction(event.action)} ${protocol} ${srcip}:${srcport}->${dstip}:${dstport}\n`;
  }

  /**
   * An alert in the format of `<custom_alert_output>`, one line.
   * @param id `<seconds>.<offset>` of the alert
   */
  custom(alert: Alert, id: string, format: string): string {
    const { event } = alert;
    const rule = alert.rule?.rule;
    const [seconds = '', offset = ''] = id.split('.');
    const values: Record<string, string | undefined> = {
      TIMESTAMP: seconds,
      FTELL: offset,
      RULEALERT: rule?.mail === true ? 'mail ' : '',
      HOSTNAME: event.hostname,
      LOCATION: event.location,
      RULEID: rule === undefined ? undefined : String(rule.id),
      RULELEVEL: rule === undefined ? undefined : String(rule.level),
      SRCIP: event.srcip,
      DSTUSER: event.dstuser,
      FULLLOG: alert.fullLog.replaceAll('\n', '\\n'),
      RULECOMMENT: alert.description ?? '',
      RULEGROUP: rule?.groups ?? '',
    };
    const line = format.replace(
      /\$(TIMESTAMP|FTELL|RULEALERT|HOSTNAME|LOCATION|RULEID|RULELEVEL|SRCIP|DSTUSER|FULLLOG|RULECOMMENT|RULEGROUP)/g,
      (_, name: string) => values[name] ?? 'None',
    );
    return `${line}\n`;
  }

  #addLabels(record: AlertRecord, labels: ReadonlyMap<string, string>): void {
    for (const [name, value] of labels) {
      const shown = visibleLabel(name, this.#origin.showHiddenLabels);
      if (shown !== undefined) record.add(`${shown}: ${value}\n`);
    }
  }

  #ruleText(rule: CompiledRule | undefined): RuleText {
    let text = this.#rules.get(rule);
    if (text === undefined) this.#rules.set(rule, (text = ruleText(rule)));
    return text;
  }

  #timeOf(event: EngineEvent): string {
    return this.#clock.textTime(Math.floor(event.receivedAt / 1000));
  }
}

/** Whether the event is a keep-alive message, which no archive takes. */
export function isKeepalive({ location }: EngineEvent): boolean {
  return location === KEEPALIVE || location.includes(`->${KEEPALIVE}`);
}

/** `origin` with a space before it and a line end. */
function addOrigin(record: AlertRecord, event: EngineEvent): void {
  record.add(' ');
  if (!hasAgentLocation(event)) {
    record.add(event.hostname);
    record.add('->');
  }
  record.add(event.location);
  record.add('\n');
}

/** Static members that have a line of their own. */
function addMembers(record: AlertRecord, event: EngineEvent): void {
  const { srcip, srcport, dstip, dstport, dstuser } = event;
  if (srcip !== undefined) addLine(record, 'Src IP: ', srcip);
  if (srcport !== undefined) addLine(record, 'Src Port: ', srcport);
  if (dstip !== undefined) addLine(record, 'Dst IP: ', dstip);
  if (dstport !== undefined) addLine(record, 'Dst Port: ', dstport);
  if (dstuser !== undefined) addLine(record, 'User: ', dstuser);
}

function addLine(record: AlertRecord, label: string, value: string): void {
  record.add(label);
  record.add(value);
  record.add('\n');
}

/** `host->location`, or the location alone when it names the agent. */
function origin(event: EngineEvent): string {
  return hasAgentLocation(event) ? event.location : `${event.hostname}->${event.location}`;
}

function firewallAction(action: string | undefined): string {
  const text = (action ?? '').toLowerCase();
  switch (text.charAt(0)) {
    case 'd':
    case 'r':
    case 'b':
      return 'DROP';
    case 'c':
    case 't':
      return 'CLOSED';
    case 'a':
    case 'p':
    case 'o':
      return 'ALLOW';
    default:
      // the reference writes UNKNOWN for the second (13.1, Q20)
      return text.includes('accept') ? 'ALLOW' : text.includes('drop') ? 'DROP' : 'UNKNOWN';
  }
}

/** Whether all members that a firewall event must have are there (rules-and-alerts.md 4.1). */
export function isCompleteFirewallEvent(event: EngineEvent): boolean {
  const { action, srcip, dstip, srcport, dstport, protocol } = event;
  return [action, srcip, dstip, srcport, dstport, protocol].every((value) => value !== undefined);
}
