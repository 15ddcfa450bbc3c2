import { isObject } from '../../../../lib/json/is-object.js';
import type { AlertView } from '../../../../lib/output/alert-view.js';
import { cutBytes } from '../cut-bytes.js';

/** Receivers have limits on what a message shows; bytes of a log in one. */
const MAX_TEXT_BYTES = 16_384;

type Json = Readonly<Record<string, unknown>>;

/** What a stock integration posts. */
export type WebhookMessage = { readonly body: Json; readonly headers?: Readonly<Record<string, string>> };

/**
 * The message of a stock integration for one alert (daemons-and-config.md 8.2).
 * @param options members that are set over ours, of the object that describes the alert
 */
export function webhookMessage(name: string, alert: AlertView, apiKey: string, options: Json): WebhookMessage {
  switch (name) {
    case 'slack':
      return { body: { attachments: [{ ...slackAttachment(alert), ...options }] } };
    case 'shuffle':
      return { body: { ...shuffleMessage(alert), ...options } };
    case 'pagerduty':
      return { body: { ...pagerDutyEvent(alert, apiKey), ...options } };
    default:
      return {
        body: { ...alert.json, ...options },
        ...(apiKey === '' ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
      };
  }
}

function slackAttachment(alert: AlertView): Json {
  const { level } = alert;
  const { agentless } = alert.json;
  const fields = [
    ...(alert.agentId === '' ? [] : [{ title: 'Agent', value: `(${alert.agentId}) - ${alert.agentName}` }]),
    ...(isObject(agentless) ? [{ title: 'Agentless Host', value: agentless['host'] }] : []),
    { title: 'Location', value: alert.location },
    { title: 'Rule ID', value: `${alert.ruleId} _(Level ${String(level)})_` },
  ];
  return {
    color: level <= 4 ? 'good' : level <= 7 ? 'warning' : 'danger',
    pretext: 'WAZUH Alert',
    title: alert.description || 'N/A',
    text: log(alert),
    fields,
    ts: alert.id,
  };
}

function shuffleMessage(alert: AlertView): Json {
  const { level } = alert;
  return {
    severity: level <= 4 ? 1 : level <= 7 ? 2 : 3,
    pretext: 'WAZUH Alert',
    title: alert.description || 'N/A',
    text: log(alert),
    rule_id: alert.ruleId,
    timestamp: alert.timestamp,
    id: alert.id,
    all_fields: alert.json,
  };
}

function pagerDutyEvent(alert: AlertView, apiKey: string): Json {
  const { level } = alert;
  return {
    routing_key: apiKey,
    event_action: 'trigger',
    // The receiver makes one incident of events with one key: an alert that comes twice counts once.
    dedup_key: `${alert.managerName} ${alert.id}`,
    payload: {
      summary: cutBytes(alert.description || 'N/A', 1024, '...'),
      timestamp: alert.timestamp,
      source: alert.agentName || alert.managerName,
      severity: level >= 13 ? 'critical' : level >= 10 ? 'error' : level >= 7 ? 'warning' : 'info',
      group: alert.groups.join(', '),
      custom_details: alert.json,
    },
    client: 'Security Manager',
  };
}

function log(alert: AlertView): string {
  return cutBytes(alert.fullLog, MAX_TEXT_BYTES, '...');
}
