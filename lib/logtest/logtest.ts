import { randomBytes } from 'node:crypto';
import type { AlertOrigin } from '../engine/alert/alert.js';
import { fromByteString, toByteString } from '../engine/byte-string.js';
import type { DiffStore } from '../engine/correlate/diff-store.js';
import { DEFAULT_STEP_BUDGET, Engine } from '../engine/engine.js';
import { DEFAULT_STATE_OPTIONS, EngineState } from '../engine/engine-state.js';
import type { Diagnostics, SourcePlace } from '../engine/event.js';
import { explainWhy, type LoadMessage } from '../engine/explain/explain-why.js';
import { Explainer } from '../engine/explain/explainer.js';
import { explanationOf } from '../engine/explain/explanation.js';
import type { EngineRuleset } from '../engine/load/engine-ruleset.js';
import { describePlace } from '../engine/load/ruleset-error.js';
import { readLocation } from '../engine/predecode/read-location.js';
import { QUEUE_IDS } from '../events/queue-ids.js';
import { LoadMessages } from './load-messages.js';
import {
  type LogtestReply,
  type Message,
  type ProcessRequest,
  type RemoveRequest,
  type Severity,
  TOKEN_LENGTH,
} from './logtest-request.js';

/** Messages kept of one request; the oldest are lost (rules-and-alerts.md 9.4). */
const MAX_MESSAGES = 50;
const MAX_MESSAGE_BYTES = 2047;
/** Memory of one session for remembered events: 64 sessions stay within half a gigabyte at worst. */
const SESSION_BYTES = 8 * 1024 * 1024;

export type LogtestOptions = {
  /** Sessions alive at a time; one more ends the one not used for longest. */
  readonly maxSessions: number;
  /** A session idle for this long is removed by the next sweep. */
  readonly sessionTimeoutSeconds: number;
  readonly origin: AlertOrigin;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Where `check_diff` keeps its logs: shared with the running manager (rules-and-alerts.md 9.6). */
  readonly diffs: DiffStore;
  /**
   * The ruleset as it is on disk now. Compiled rulesets are shared: sessions made while nothing changes get the same
   * object. @throws RulesetError when it does not load; what led to it goes to the diagnostics
   */
  readonly ruleset: (diagnostics: Diagnostics) => EngineRuleset;
  /** Messages of the load end with file, line and rule; the reference's have none. */
  readonly showPlaces?: true;
};

type Session = {
  readonly engine: Engine;
  /** What was said while its ruleset was loaded. */
  readonly loadMessages: readonly LoadMessage[];
  usedAt: number;
};

/** Logtest: log lines through the engine in sessions of their own, with nothing written (rules-and-alerts.md 9). */
export class Logtest {
  readonly #options: LogtestOptions;
  /** By token, in the order of use. */
  readonly #sessions = new Map<string, Session>();

  constructor(options: LogtestOptions) {
    this.#options = options;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Answers a request that passed `parseLogtestRequest` or one of its parts. Never throws. */
  answer(request: ProcessRequest | RemoveRequest): LogtestReply {
    return request.kind === 'process' ? this.#process(request) : this.#remove(request.token);
  }

  /** Removes sessions that were idle for the timeout; to be called each `sessionTimeoutSeconds`. */
  sweep(): void {
    const oldest = this.#options.now() - this.#options.sessionTimeoutSeconds * 1000;
    for (const [token, session] of this.#sessions) {
      if (session.usedAt > oldest) return;
      this.#sessions.delete(token);
    }
  }

  #process(request: ProcessRequest): LogtestReply {
    const messages = new Messages(request.warnings, this.#options.showPlaces === true);
    const found = this.#find(request.token, messages);
    if (found === undefined) return { error: 0, data: { messages: messages.texts(), codemsg: -1 } };
    const { engine } = found.session;
    const trace: string[] | undefined = request.debugRules ? [] : undefined;
    const explainer = request.explain || request.why !== undefined ? new Explainer() : undefined;
    const failures = engine.failures;
    const outcome = engine.process(
      {
        queue: QUEUE_IDS.log,
        ...readLocation(toByteString(request.location)),
        message: request.event,
        receivedAt: this.#options.now(),
      },
      trace,
      explainer,
    );
    const data: Record<string, unknown> = {};
    if (outcome.disposition === 'dropped' || engine.failures > failures) {
      messages.add('ERROR', '(7312): Failed to process the event');
      data['messages'] = messages.texts();
      data['token'] = found.token;
      data['codemsg'] = -1;
      return { error: 0, data };
    }
    if (outcome.rule !== undefined) {
      for (const text of engine.mitreWarnings(outcome.rule)) messages.add('WARNING', text);
    }
    if (messages.size > 0) data['messages'] = messages.texts();
    data['token'] = found.token;
    const id = `${String(Math.floor(outcome.event.receivedAt / 1000))}.0`;
    data['output'] = JSON.parse(fromByteString(engine.alertJson(outcome.alert, { id, showLevelZero: true })));
    if (trace !== undefined) data['rules_debug'] = trace.map(fromByteString);
    if (explainer !== undefined && request.explain) data['explain'] = explanationOf(explainer, outcome, engine.ruleset);
    if (explainer !== undefined && request.why !== undefined) {
      data['why'] = explainWhy(request.why, engine.ruleset, explainer, outcome, found.session.loadMessages);
    }
    data['alert'] = outcome.isAlert;
    data['codemsg'] = messages.codemsg;
    return { error: 0, data };
  }

  #find(token: string | undefined, messages: Messages): { token: string; session: Session } | undefined {
    if (token !== undefined) {
      const session = this.#sessions.get(token);
      if (session !== undefined) {
        session.usedAt = this.#options.now();
        this.#sessions.delete(token);
        this.#sessions.set(token, session);
        return { token, session };
      }
      messages.add('WARNING', `(7003): '${token}' token expires`);
    }
    return this.#create(messages);
  }

  #create(messages: Messages): { token: string; session: Session } | undefined {
    const { now, maxSessions, origin, diffs } = this.#options;
    const loadMessages = new LoadMessages(messages);
    let ruleset: EngineRuleset;
    try {
      ruleset = this.#options.ruleset(loadMessages);
    } catch (error) {
      if (!messages.hasErrors) messages.add('ERROR', error instanceof Error ? error.message : String(error));
      messages.add('ERROR', '(7311): Failure to initializing session');
      return undefined;
    }
    if (messages.hasErrors) return undefined;
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size < Math.max(1, maxSessions)) break;
      this.#sessions.delete(oldest);
    }
    const state = new EngineState(
      ruleset.rules,
      { ...DEFAULT_STATE_OPTIONS, maxRememberedBytes: SESSION_BYTES },
      diffs,
    );
    const engine = new Engine({
      ruleset,
      state,
      options: { mode: 'test', origin, logFirewall: false, budget: DEFAULT_STEP_BUDGET },
      diagnostics: messages,
    });
    const token = this.#newToken();
    const session = { engine, loadMessages: loadMessages.all, usedAt: now() };
    this.#sessions.set(token, session);
    messages.add('INFO', `(7202): Session initialized with token '${token}'`);
    return { token, session };
  }

  #newToken(): string {
    for (;;) {
      const token = randomBytes(TOKEN_LENGTH / 2).toString('hex');
      if (!this.#sessions.has(token)) return token;
    }
  }

  #remove(token: string): LogtestReply {
    const removed = this.#sessions.delete(token);
    const message = removed
      ? `INFO: (7206): The session '${token}' was closed successfully`
      : `ERROR: (7004): No session found for token '${token}'`;
    return { error: 0, data: { messages: [message], codemsg: removed ? 0 : -1 } };
  }
}

/** The `messages` of one reply, and the code that sums them up. */
class Messages implements Diagnostics {
  readonly #list: Message[];
  readonly #showPlaces: boolean;

  constructor(initial: readonly Message[], showPlaces: boolean) {
    this.#list = [...initial];
    this.#showPlaces = showPlaces;
  }

  get size(): number {
    return this.#list.length;
  }

  get hasErrors(): boolean {
    return this.#list.some(({ severity }) => severity === 'ERROR');
  }

  /** -1 with an error, 1 with a warning, else 0. */
  get codemsg(): number {
    if (this.hasErrors) return -1;
    return this.#list.some(({ severity }) => severity === 'WARNING') ? 1 : 0;
  }

  add(severity: Severity, text: string): void {
    this.#list.push({ severity, text: text.slice(0, MAX_MESSAGE_BYTES) });
    if (this.#list.length > MAX_MESSAGES) this.#list.shift();
  }

  texts(): string[] {
    return this.#list.map(({ severity, text }) => `${severity}: ${text}`);
  }

  debug(): void {}

  /** What the loader says at this level is for the daemon's log. */
  info(): void {}

  warn(message: string, place?: SourcePlace): void {
    this.#report('WARNING', message, place);
  }

  error(message: string, place?: SourcePlace): void {
    this.#report('ERROR', message, place);
  }

  #report(severity: Severity, message: string, place: SourcePlace | undefined): void {
    const where = this.#showPlaces && place !== undefined ? ` (${describePlace(place)})` : '';
    this.add(severity, fromByteString(message) + where);
  }
}
