import type { Alert } from '../../../lib/engine/alert/alert.js';
import type { AlertRecord } from '../../../lib/engine/alert/alert-record.js';
import { isKeepalive } from '../../../lib/engine/alert/alert-text.js';
import type { EngineEvent } from '../../../lib/engine/event.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import type { InForce } from '../in-force.js';
import type { EventOutputs, Judgement } from '../pipeline/event-judge.js';
import type { ResponseSettings } from '../responses/response-settings.js';
import { decisionLine } from '../responses/responses.js';
import type { OpenResult, ResultWriter } from './results.js';

/** A character that no byte string has: it stands where something goes in. */
const PLACE = '\uE000';

/** Writes down what comes of events as results: what depends on the order of all events is left open. */
export class ThreadOutputs implements EventOutputs {
  readonly #results: ResultWriter;
  readonly #judgement: Pick<Judgement, 'engine'> & { readonly inForce: InForce };

  constructor(results: ResultWriter, judgement: Pick<Judgement, 'engine'> & { readonly inForce: InForce }) {
    this.#results = results;
    this.#judgement = judgement;
  }

  firewall(event: EngineEvent): void {
    this.#results.record('firewall', closed(this.#judgement.engine.texts.firewall(event)));
  }

  statistics(): void {
    throw new Error('A thread counts no statistics.');
  }

  beginAlert(): void {
    this.#results.newId();
  }

  alert(alert: Alert): void {
    const { engine, inForce } = this.#judgement;
    const { alertsText, alertsJson } = inForce.outputs;
    if (alertsText) this.#results.record('alertsText', this.#text(alert));
    if (alertsJson) this.#results.record('alertsJson', lineOf(engine.renderJson(alert)));
  }

  respond(responses: readonly ResponseSettings[], outcome: EventOutcome): void {
    const alert = this.#judgement.engine.renderJson(outcome.alert).open();
    for (const response of responses) {
      const [before = '', after = ''] = decisionLine(response, outcome, PLACE).split(PLACE);
      this.#results.record('responses', enclosed(before, alert, after));
    }
  }

  archive(outcome: EventOutcome): boolean {
    const { engine, inForce } = this.#judgement;
    const { archivesText, archivesJson } = inForce.outputs;
    const { event, alert } = outcome;
    if ((!archivesText && !archivesJson) || isKeepalive(event)) return false;
    if (archivesText) {
      const line = engine.texts.archive(event);
      if (line !== undefined) this.#results.record('archivesText', closed(line));
    }
    if (archivesJson) {
      this.#results.newId();
      this.#results.record('archivesJson', lineOf(engine.renderJson(alert, { alwaysFullLog: true })));
    }
    return true;
  }

  #text(alert: Alert): OpenResult {
    const { engine, inForce } = this.#judgement;
    if (inForce.customFormat === null) return engine.renderText(alert).open();
    const id = `${String(Math.floor(alert.event.receivedAt / 1000))}.${PLACE}`;
    const texts = engine.texts.custom(alert, id, inForce.customFormat).split(PLACE);
    let at = 0;
    const gaps = texts.slice(0, -1).map(({ length }) => ({ at: (at += length), late: 'offset' as const }));
    return { text: texts.join(''), gaps };
  }
}

function closed(text: string): OpenResult {
  return { text, gaps: [] };
}

function lineOf(record: AlertRecord): OpenResult {
  record.add('\n');
  return record.open();
}

function enclosed(before: string, { text, gaps }: OpenResult, after: string): OpenResult {
  return {
    text: before + text + after,
    gaps: gaps.map(({ at, late }) => ({ at: at + before.length, late })),
  };
}
