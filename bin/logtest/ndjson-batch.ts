import { splitGroups } from '../../lib/engine/alert/rule-json.js';
import { fromByteString, toByteString } from '../../lib/engine/byte-string.js';
import { MemoryDiffStore } from '../../lib/engine/correlate/diff-store.js';
import { Engine, type EngineOptions } from '../../lib/engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../../lib/engine/engine-state.js';
import type { Diagnostics } from '../../lib/engine/event.js';
import { explainWhy, type LoadMessage } from '../../lib/engine/explain/explain-why.js';
import { Explainer } from '../../lib/engine/explain/explainer.js';
import { explanationOf } from '../../lib/engine/explain/explanation.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import type { EventOutcome } from '../../lib/engine/outcome.js';
import { readLocation } from '../../lib/engine/predecode/read-location.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { isObject } from '../../lib/json/is-object.js';

/** Sessions kept at the same time; of more, the one not used for longest is forgotten. */
const MAX_SESSIONS = 256;
/** Memory of one session for remembered events. */
const SESSION_BYTES = 8 * 1024 * 1024;

export type NdjsonBatchOptions = {
  readonly ruleset: EngineRuleset;
  readonly engine: EngineOptions;
  readonly diagnostics: Diagnostics;
  /** Epoch milliseconds at which an event is received. */
  readonly now: () => number;
  /** Adds `explain`: every step of the event's way. */
  readonly explain?: boolean;
  /** Adds `why`: why this rule did not fire, with what was said while the ruleset was loaded. */
  readonly why?: { readonly rule: number; readonly messages: readonly LoadMessage[] };
};

/** One event of the batch protocol. */
export type BatchEvent = {
  /** Events of one session share their state; null = a fresh state. */
  readonly session: string | null;
  readonly location: string;
  /** Byte string. */
  readonly log: string;
};

/**
 * Runs single log lines through the engine for tools: one JSON object in, one out. The state of a session is made when its
 * first event comes.
 */
export class NdjsonBatch {
  readonly #options: NdjsonBatchOptions;
  /** What `check_diff` compares with belongs to the host, not to a session (rules-and-alerts.md 9.6). */
  readonly #diffs = new MemoryDiffStore();
  /** In the order of use. */
  readonly #sessions = new Map<string, Engine>();

  constructor(options: NdjsonBatchOptions) {
    this.#options = options;
  }

  /**
   * Answers one line of the protocol; a line that is none gets `{"error": ...}`.
   * @param line JSON text `{"session", "location", "log" | "log_b64"}`
   */
  answerLine(line: string): string {
    const event = parseBatchEvent(line);
    return typeof event === 'string' ? JSON.stringify({ error: event }) : this.answer(event);
  }

  /** Answers one event with a line of JSON. */
  answer(event: BatchEvent): string {
    const { now, explain, why } = this.#options;
    const engine = event.session === null ? this.#newEngine() : this.#engineOf(event.session);
    const explainer = explain === true || why !== undefined ? new Explainer() : undefined;
    const origin = readLocation(toByteString(event.location));
    const incoming = { ...origin, queue: QUEUE_IDS.log, message: event.log, receivedAt: now() };
    const outcome = engine.process(incoming, undefined, explainer);
    const answer = describe(engine, outcome);
    if (explainer !== undefined && explain === true) {
      answer['explain'] = explanationOf(explainer, outcome, engine.ruleset);
    }
    if (explainer !== undefined && why !== undefined) {
      answer['why'] = explainWhy(why.rule, engine.ruleset, explainer, outcome, why.messages);
    }
    return JSON.stringify(answer);
  }

  #engineOf(session: string): Engine {
    const engine = this.#sessions.get(session) ?? this.#newEngine();
    this.#sessions.delete(session);
    this.#sessions.set(session, engine);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      this.#sessions.delete(oldest);
    }
    return engine;
  }

  #newEngine(): Engine {
    const { ruleset, engine, diagnostics } = this.#options;
    const limits = { ...DEFAULT_STATE_OPTIONS, maxRememberedBytes: SESSION_BYTES };
    const state = new EngineState(ruleset.rules, limits, this.#diffs);
    return new Engine({ ruleset, state, options: engine, diagnostics });
  }
}

/** Reads one line of the protocol; a text says what is wrong with it. */
function parseBatchEvent(line: string): BatchEvent | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!isObject(value)) return 'not a JSON object';
  const members = new Map<string, unknown>(Object.entries(value));
  const session = members.get('session') ?? null;
  const location = members.get('location') ?? 'stdin';
  const log = members.get('log');
  const encoded = members.get('log_b64');
  if (session !== null && typeof session !== 'string') return "'session' must be a string or null";
  if (typeof location !== 'string') return "'location' must be a string";
  if (typeof encoded === 'string') return { session, location, log: Buffer.from(encoded, 'base64').toString('latin1') };
  if (typeof log !== 'string') return "'log' or 'log_b64' must be a string";
  return { session, location, log: toByteString(log) };
}

function describe(engine: Engine, outcome: EventOutcome): Record<string, unknown> {
  const { event, rule, alert } = outcome;
  const result: Record<string, unknown> = {};
  const shown: unknown = JSON.parse(
    fromByteString(
      engine.alertJson(alert, {
        id: `${String(Math.floor(event.receivedAt / 1000))}.0`,
        showLevelZero: true,
      }),
    ),
  );
  const output =
    typeof shown === 'object' && shown !== null ? new Map(Object.entries(shown)) : new Map<string, unknown>();
  result['predecoder'] = predecoder(engine, outcome);
  const { decoder } = event;
  result['decoder'] =
    decoder === undefined
      ? {}
      : { name: fromByteString(decoder.name), ...(decoder.parent && { parent: fromByteString(decoder.parent) }) };
  result['data'] = output.get('data') ?? {};
  if (rule !== undefined) {
    result['rule'] = {
      id: String(rule.rule.id),
      level: rule.rule.level,
      firedtimes: alert.firedTimes,
      description: fromByteString(alert.description ?? ''),
      groups: splitGroups(rule.rule.groups)[0]?.values.map(fromByteString),
    };
  }
  result['alert'] = outcome.isAlert;
  if (outcome.isAlert) result['output'] = shown;
  return result;
}

/** What pre-decoding found; the host name only when the event brought one. */
function predecoder(engine: Engine, { event }: EventOutcome): Record<string, string> {
  const result: Record<string, string> = {};
  if (event.programName !== undefined) result['program_name'] = fromByteString(event.programName);
  if (event.timestamp !== undefined) result['timestamp'] = fromByteString(event.timestamp);
  if (event.hostname !== '' && event.hostname !== engine.hostName) result['hostname'] = fromByteString(event.hostname);
  return result;
}
