import type { Alert } from '../../../lib/engine/alert/alert.js';
import type { AlertRecord } from '../../../lib/engine/alert/alert-record.js';
import { isKeepalive } from '../../../lib/engine/alert/alert-text.js';
import type { EngineEvent } from '../../../lib/engine/event.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import type { InForce } from '../in-force.js';
import type { EventOutputs, Judgement } from '../pipeline/event-judge.js';
import type { ResponseSettings } from '../responses/response-settings.js';
import { decisionLine } from '../responses/responses.js';
import type { ResultPiece, ResultWriter } from './results.js';

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
    this.#results.record('firewall', [{ text: this.#judgement.engine.texts.firewall(event) }]);
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
    const pieces = this.#judgement.engine.renderJson(outcome.alert).pieces();
    for (const response of responses) {
      const [before = '', after = ''] = decisionLine(response, outcome, PLACE).split(PLACE);
      this.#results.record('responses', enclosed(before, pieces, after));
    }
  }

  archive(outcome: EventOutcome): boolean {
    const { engine, inForce } = this.#judgement;
    const { archivesText, archivesJson } = inForce.outputs;
    const { event, alert } = outcome;
    if ((!archivesText && !archivesJson) || isKeepalive(event)) return false;
    if (archivesText) {
      const line = engine.texts.archive(event);
      if (line !== undefined) this.#results.record('archivesText', [{ text: line }]);
    }
    if (archivesJson) {
      this.#results.newId();
      this.#results.record('archivesJson', lineOf(engine.renderJson(alert, { alwaysFullLog: true })));
    }
    return true;
  }

  #text(alert: Alert): readonly ResultPiece[] {
    const { engine, inForce } = this.#judgement;
    if (inForce.customFormat === null) return engine.renderText(alert).pieces();
    const id = `${String(Math.floor(alert.event.receivedAt / 1000))}.${PLACE}`;
    const texts = engine.texts.custom(alert, id, inForce.customFormat).split(PLACE);
    return texts.map((text, index) => (index === texts.length - 1 ? { text } : { text, late: 'offset' }));
  }
}

function lineOf(record: AlertRecord): readonly ResultPiece[] {
  record.add('\n');
  return record.pieces();
}

function enclosed(before: string, pieces: readonly ResultPiece[], after: string): ResultPiece[] {
  return pieces.map((piece, index) => ({
    ...piece,
    text: (index === 0 ? before : '') + piece.text + (index === pieces.length - 1 ? after : ''),
  }));
}
