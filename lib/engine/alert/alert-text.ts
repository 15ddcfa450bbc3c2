import { visibleLabel } from '../../events/agent-labels.js';
import type { EngineEvent } from '../event.js';
import type { LocalClock } from '../local-clock.js';
import { type Alert, type AlertOrigin, hasAgentLocation, previousOutput } from './alert.js';
import { syscheckText } from './syscheck-text.js';

/** Agents' keep-alive messages are not archived (rules-and-alerts.md 7.7). */
const KEEPALIVE = 'ossec-keepalive';

/** Writes the text forms: alerts.log, archives.log, firewall.log and the configured format (rules-and-alerts.md 7.7). */
export class AlertText {
  readonly #origin: AlertOrigin;
  readonly #clock: LocalClock;

  constructor(origin: AlertOrigin, clock: LocalClock) {
    this.#origin = origin;
    this.#clock = clock;
  }

  /**
   * An entry of alerts.log, with the empty line that ends it.
   * @param id `<seconds>.<offset>` of the alert
   */
  alert(alert: Alert, id: string): string {
    const { event } = alert;
    const rule = alert.rule?.rule;
    let text = `** Alert ${id}:${rule?.mail === true ? ' mail ' : ''} - ${rule?.groups ?? ''}\n`;
    text += `${this.#timeOf(event)} ${origin(event)}\n`;
    for (const [name, value] of event.labels ?? []) {
      const shown = visibleLabel(name, this.#origin.showHiddenLabels);
      if (shown !== undefined) text += `${shown}: ${value}\n`;
    }
    const ruleId = String(rule?.id ?? 0);
    text += `Rule: ${ruleId} (level ${String(rule?.level ?? 0)}) -> '${alert.description ?? '(null)'}'\n`;
    if (event.srcip !== undefined) text += `Src IP: ${event.srcip}\n`;
    if (event.srcport !== undefined) text += `Src Port: ${event.srcport}\n`;
    if (event.dstip !== undefined) text += `Dst IP: ${event.dstip}\n`;
    if (event.dstport !== undefined) text += `Dst Port: ${event.dstport}\n`;
    if (event.dstuser !== undefined) text += `User: ${event.dstuser}\n`;
    text += `${alert.fullLog}\n`;
    if (event.decoder?.name.startsWith('syscheck_') === true) {
      text += syscheckText(event);
    } else {
      event.fieldNames.forEach((name, i) => {
        const value = event.fieldValues[i];
        if (value !== undefined && value !== '') text += `${name}: ${value}\n`;
      });
    }
    for (const log of previousOutput(alert)) text += `${log}\n`;
    return `${text}\n`;
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

  #timeOf(event: EngineEvent): string {
    return this.#clock.textTime(Math.floor(event.receivedAt / 1000));
  }
}

/** Whether the event is a keep-alive message, which no archive takes. */
export function isKeepalive({ location }: EngineEvent): boolean {
  return location === KEEPALIVE || location.includes(`->${KEEPALIVE}`);
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
