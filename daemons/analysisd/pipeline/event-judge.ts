import type { BusEvent } from '../../../lib/bus/bus-event.js';
import type { Alert } from '../../../lib/engine/alert/alert.js';
import type { Engine } from '../../../lib/engine/engine.js';
import type { EngineMemory } from '../../../lib/engine/engine-memory.js';
import type { EngineEvent, IncomingEvent } from '../../../lib/engine/event.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { AgentTally } from '../agent-counters.js';
import type { Counters } from '../counters.js';
import type { ResponseSettings } from '../responses/response-settings.js';
import type { Responses } from '../responses/responses.js';
import { eventFrom, type PreparedSource, prepareSource } from './incoming-event.js';

/** With what events are judged; a reload puts others in the place of both. */
export interface Judgement<M extends EngineMemory = EngineMemory> {
  readonly engine: Engine<M>;
  readonly responses: Responses;
}

/** Where what comes of events is written down, in this order for each event. */
export interface EventOutputs {
  firewall(event: EngineEvent): void;
  /** The event set off a statistics alert. @param text what it says */
  statistics(event: IncomingEvent, text: string): void;
  /** What follows has the id of this moment (rules-and-alerts.md 7.4). */
  beginAlert(event: EngineEvent): void;
  alert(alert: Alert): void;
  respond(responses: readonly ResponseSettings[], outcome: EventOutcome): void;
  /** @returns whether it is archived at all */
  archive(outcome: EventOutcome): boolean;
}

/** Takes one event after the other through the engine, has what comes of it written down, and counts. */
export class EventJudge {
  readonly #judgement: Judgement;
  readonly #outputs: EventOutputs;
  readonly #counters: Counters;
  readonly #failureLog: LimitedLogger;

  constructor(judgement: Judgement, outputs: EventOutputs, counters: Counters, logger: Logger) {
    this.#judgement = judgement;
    this.#outputs = outputs;
    this.#counters = counters;
    this.#failureLog = logger.limited();
  }

  /** Never throws, whatever the event holds. */
  judge(event: BusEvent): void {
    this.judgeFrom(prepareSource(event), event.message.toString('latin1'), event.receivedAt);
  }

  /** The same for an event of which the source is known. @param message a byte string. @param receivedAt epoch milliseconds */
  judgeFrom(from: PreparedSource, message: string, receivedAt: number): void {
    const counters = this.#counters;
    const { source, component } = from;
    const tally = source.agent === undefined ? undefined : counters.agents.of(source.agent.id);
    if (tally !== undefined) tally.received += 1;
    const incoming = eventFrom(from, message, receivedAt);
    const outcome = this.#judgement.engine.process(incoming);
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
      this.#write(incoming, outcome, tally);
    } catch (error) {
      // A defect of ours. Thrown on, it would have the event analysed again, the others of its batch with it, for ever.
      counters.alertsFailed += 1;
      const reason = error instanceof Error ? error.message : String(error);
      this.#failureLog.error(`The alert of an event from '${source.location}' could not be written: ${reason}`);
    }
  }

  #write(incoming: IncomingEvent, outcome: EventOutcome, tally: AgentTally | undefined): void {
    const counters = this.#counters;
    const outputs = this.#outputs;
    const { event } = outcome;
    if (outcome.firewall) {
      outputs.firewall(event);
      counters.firewallWritten += 1;
      if (tally !== undefined) tally.firewall += 1;
    }
    // That there were more events than usual is no alert of an agent.
    if (outcome.statistics !== undefined) outputs.statistics(incoming, outcome.statistics.fullLog);
    const responses = this.#judgement.responses.triggered(outcome);
    if (outcome.isAlert || responses !== undefined) {
      outputs.beginAlert(event);
      if (outcome.isAlert) {
        outputs.alert(outcome.alert);
        counters.alertsWritten += 1;
        if (tally !== undefined) tally.alerts += 1;
      }
      if (responses !== undefined) {
        outputs.respond(responses, outcome);
        counters.responsesDecided += responses.length;
      }
    }
    if (outcome.disposition !== 'processed' || !outputs.archive(outcome)) return;
    counters.archivesWritten += 1;
    if (tally !== undefined) tally.archives += 1;
  }
}
