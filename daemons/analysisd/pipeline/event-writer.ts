import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import type { Alert } from '../../../lib/engine/alert/alert.js';
import { isKeepalive } from '../../../lib/engine/alert/alert-text.js';
import type { EngineEvent } from '../../../lib/engine/event.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { AgentTally } from '../agent-counters.js';
import type { Analysis } from '../analysis.js';
import { componentOf } from '../component.js';
import type { Counters } from '../counters.js';
import type { ResponseSettings } from '../responses/response-settings.js';
import { decisionLine } from '../responses/responses.js';
import { incomingEvent } from './incoming-event.js';
import type { TakenEvents } from './taken-events.js';

/** Takes one event after the other through the engine and appends what comes of it to the outputs; nothing is flushed. */
export class EventWriter {
  readonly #analysis: Analysis;
  readonly #taken: TakenEvents;
  readonly #counters: Counters;
  readonly #failureLog: LimitedLogger;

  constructor(analysis: Analysis, taken: TakenEvents, counters: Counters, logger: Logger) {
    this.#analysis = analysis;
    this.#taken = taken;
    this.#counters = counters;
    this.#failureLog = logger.limited();
  }

  /** Never throws, whatever the event holds. */
  take(event: ReceivedEvent): void {
    const counters = this.#counters;
    counters.eventsReceived += 1;
    counters.bytesReceived += event.message.length;
    if (!this.#taken.take(event)) {
      counters.duplicates += 1;
      return;
    }
    const tally = event.agent === undefined ? undefined : counters.agents.of(event.agent.id);
    if (tally !== undefined) tally.received += 1;
    const component = componentOf(event.queue, event.location);
    const outcome = this.#analysis.engine.process(incomingEvent(event));
    if (outcome.disposition === 'dropped') {
      counters.eventsDropped += 1;
      counters.dropped[component] += 1;
      if (tally !== undefined) tally.dropped += 1;
      return;
    }
    counters.decoded[component] += 1;
    counters.eventsProcessed += 1;
    if (tally !== undefined) tally.processed += 1;
    try {
      this.#write(outcome, tally);
    } catch (error) {
      // A defect of ours. Thrown on, it would have the event analysed again, the others of its batch with it, for ever.
      counters.alertsFailed += 1;
      const reason = error instanceof Error ? error.message : String(error);
      this.#failureLog.error(`The alert of an event from '${event.location}' could not be written: ${reason}`);
    }
  }

  #write(outcome: EventOutcome, tally: AgentTally | undefined): void {
    const counters = this.#counters;
    const { engine, outputs } = this.#analysis;
    const { event } = outcome;
    if (outcome.firewall) {
      outputs.append('firewall', engine.texts.firewall(event));
      counters.firewallWritten += 1;
      if (tally !== undefined) tally.firewall += 1;
    }
    // That there were more events than usual is no alert of an agent.
    if (outcome.statistics !== undefined) {
      this.#writeAlert(outcome.statistics, this.#nextId(event));
      counters.statsWritten += 1;
    }
    const responses = this.#analysis.responses.triggered(outcome);
    if (outcome.isAlert || responses !== undefined) {
      const id = this.#nextId(event);
      if (outcome.isAlert) {
        this.#writeAlert(outcome.alert, id);
        if (tally !== undefined) tally.alerts += 1;
      }
      if (responses !== undefined) this.#respond(responses, outcome, id);
    }
    if (outcome.disposition === 'processed') this.#archive(outcome, tally);
  }

  /** What the next alert is called (rules-and-alerts.md 7.4). */
  #nextId({ receivedAt }: EngineEvent): string {
    return `${String(Math.floor(receivedAt / 1000))}.${String(this.#analysis.outputs.alertOffset)}`;
  }

  #writeAlert(alert: Alert, id: string): void {
    const { engine, outputs, customFormat } = this.#analysis;
    const { settings } = outputs;
    if (settings.alertsText) {
      const text = customFormat === null ? engine.alertText(alert, id) : engine.texts.custom(alert, id, customFormat);
      outputs.append('alertsText', text);
    }
    if (settings.alertsJson) outputs.append('alertsJson', `${engine.alertJson(alert, { id })}\n`);
    this.#counters.alertsWritten += 1;
  }

  /** What is decided has its place among the outputs, so that a replay decides it again and writes it once. */
  #respond(responses: readonly ResponseSettings[], outcome: EventOutcome, id: string): void {
    const { engine, outputs } = this.#analysis;
    const alertJson = engine.alertJson(outcome.alert, { id });
    for (const response of responses) outputs.append('responses', decisionLine(response, outcome, alertJson));
    this.#counters.responsesDecided += responses.length;
  }

  #archive(outcome: EventOutcome, tally: AgentTally | undefined): void {
    const { engine, outputs } = this.#analysis;
    const { settings } = outputs;
    const { event } = outcome;
    if (!settings.archivesText && !settings.archivesJson) return;
    if (isKeepalive(event)) return;
    if (settings.archivesText) {
      const line = engine.texts.archive(event);
      if (line !== undefined) outputs.append('archivesText', line);
    }
    if (settings.archivesJson) {
      const id = this.#nextId(event);
      outputs.append('archivesJson', `${engine.alertJson(outcome.alert, { id, alwaysFullLog: true })}\n`);
    }
    this.#counters.archivesWritten += 1;
    if (tally !== undefined) tally.archives += 1;
  }
}
