import type { Alert } from '../../../lib/engine/alert/alert.js';
import type { AlertJsonOptions } from '../../../lib/engine/alert/alert-json.js';
import { isKeepalive } from '../../../lib/engine/alert/alert-text.js';
import type { EngineEvent, IncomingEvent } from '../../../lib/engine/event.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import type { Analysis } from '../analysis.js';
import type { Counters } from '../counters.js';
import type { ResponseSettings } from '../responses/response-settings.js';
import { decisionLine } from '../responses/responses.js';
import type { EventOutputs } from './event-judge.js';

const ARCHIVED: AlertJsonOptions = { alwaysFullLog: true };

/** Appends what comes of events to the outputs; nothing is flushed. */
export class AppendingOutputs implements EventOutputs {
  readonly #analysis: Analysis;
  readonly #counters: Counters;
  #id = '';

  constructor(analysis: Analysis, counters: Counters) {
    this.#analysis = analysis;
    this.#counters = counters;
  }

  firewall(event: EngineEvent): void {
    const { engine, outputs } = this.#analysis;
    outputs.append('firewall', engine.texts.firewall(event));
  }

  statistics(event: IncomingEvent, text: string): void {
    const alert = this.#analysis.statisticsAlert(event, text);
    this.beginAlert(alert.event);
    this.alert(alert);
    this.#counters.alertsWritten += 1;
    this.#counters.statsWritten += 1;
  }

  beginAlert({ receivedAt }: EngineEvent): void {
    this.#id = this.idAt(receivedAt);
  }

  /** What an alert is called that is written now (rules-and-alerts.md 7.4). @param receivedAt epoch milliseconds */
  idAt(receivedAt: number): string {
    return `${String(Math.floor(receivedAt / 1000))}.${String(this.#analysis.outputs.alertOffset)}`;
  }

  alert(alert: Alert): void {
    const { engine, outputs, customFormat } = this.#analysis;
    const { settings } = outputs;
    const id = this.#id;
    if (settings.alertsText) {
      const text = customFormat === null ? engine.alertText(alert, id) : engine.texts.custom(alert, id, customFormat);
      outputs.append('alertsText', text);
    }
    if (settings.alertsJson) outputs.append('alertsJson', engine.jsonLine(alert, id));
  }

  /** What is decided has its place among the outputs, so that a replay decides it again and writes it once. */
  respond(responses: readonly ResponseSettings[], outcome: EventOutcome): void {
    const { engine, outputs } = this.#analysis;
    const alertJson = engine.alertJson(outcome.alert, { id: this.#id });
    for (const response of responses) outputs.append('responses', decisionLine(response, outcome, alertJson));
  }

  archive(outcome: EventOutcome): boolean {
    const { engine, outputs } = this.#analysis;
    const { settings } = outputs;
    const { event, alert } = outcome;
    if ((!settings.archivesText && !settings.archivesJson) || isKeepalive(event)) return false;
    if (settings.archivesText) {
      const line = engine.texts.archive(event);
      if (line !== undefined) outputs.append('archivesText', line);
    }
    if (settings.archivesJson) {
      this.beginAlert(event);
      outputs.append('archivesJson', engine.jsonLine(alert, this.#id, ARCHIVED));
    }
    return true;
  }
}
