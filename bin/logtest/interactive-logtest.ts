import { type LogtestReply, membersOf } from '../../lib/logtest/logtest-request.js';
import { renderExplanation } from '../offline/render-explanation.js';
import type { TextStyle } from '../terminal/text-style.js';
import { type LogtestBackend, LogtestConnectionError } from './logtest-backend.js';
import { renderPhases } from './render-phases.js';
import { renderWhy } from './render-why.js';
import { resultTriple, sameTriple, unitTestStatus, type UnitTriple, verdict } from './unit-test.js';

export type InteractiveOptions = {
  readonly backend: LogtestBackend;
  readonly location: string;
  /** Shows the attempts of rules. */
  readonly debugRules: boolean;
  /** Shows every step that mattered. */
  readonly explain: boolean;
  /** Rule whose silence is to be explained. */
  readonly why: number | undefined;
  /** Only errors and failed expectations are shown. */
  readonly quiet: boolean;
  readonly unitTest: UnitTriple | undefined;
  /** Shown in the banner. */
  readonly version: string;
  /** What becomes of events. */
  readonly write: (text: string) => void;
  readonly style: TextStyle;
  /** Everything else: banner, warnings, errors. */
  readonly log: (text: string) => void;
  /** What to do when nobody answers, for the first time it happens. */
  readonly connectionHint: string;
  /** Whether a person types the events, who may end without one. */
  readonly typed: boolean;
};

/** As the reference words it (rules-and-alerts.md 9.8). */
export const CONNECTION_ERROR = '** Wazuh-logtest error when connecting with wazuh-analysisd';

/** Said when the input held no event: a script whose log was empty must not take it for a success. */
export const NOTHING_RAN = 'svc-logtest: nothing was run: there was no log line on the standard input\n';

/** The interactive tool between its lines and who answers them (rules-and-alerts.md 9.8): one session for all events. */
export class InteractiveLogtest {
  readonly #options: InteractiveOptions;
  #token: string | undefined;
  #last: UnitTriple | undefined;
  #disconnections = 0;
  #events = 0;
  #failed = false;

  constructor(options: InteractiveOptions) {
    this.#options = options;
  }

  /** Shows the banner. */
  start(): void {
    const { quiet, log, version } = this.#options;
    if (!quiet) log(`Starting svc-logtest ${version}\nType one log per line\n`);
  }

  /** Runs one event and shows what became of it; an empty one is nothing. @param log byte string */
  async event(log: string): Promise<void> {
    if (log === '') return;
    this.#events += 1;
    const { backend, location, debugRules, explain, why } = this.#options;
    this.#last = undefined;
    let reply: LogtestReply;
    try {
      reply = await backend.process({ log, location, token: this.#token, debugRules, explain, why });
    } catch (error) {
      if (!(error instanceof LogtestConnectionError)) throw error;
      this.#reportDisconnection(error);
      return;
    }
    const data = membersOf(reply.data) ?? new Map<string, unknown>();
    const token = data.get('token');
    if (typeof token === 'string') this.#useToken(token);
    const failure = errorText(reply, data);
    if (failure === undefined) {
      this.#show(data);
      return;
    }
    this.#failed = true;
    this.#options.log(`** Wazuh-logtest error ${failure}\n`);
  }

  /** Removes the session. @returns the exit status: not 0 when an event failed, or when there was none */
  async end(): Promise<number> {
    const token = this.#token;
    this.#token = undefined;
    if (token !== undefined) {
      // A session that cannot be removed ends by its time-out.
      await this.#options.backend.remove(token).catch((error: unknown) => {
        if (!(error instanceof LogtestConnectionError)) throw error;
      });
    }
    const { unitTest } = this.#options;
    if (unitTest !== undefined) return unitTestStatus(unitTest, this.#last);
    if (this.#events === 0 && !this.#options.typed) {
      this.#options.log(NOTHING_RAN);
      return 1;
    }
    return this.#failed || this.#disconnections > 0 ? 1 : 0;
  }

  #useToken(token: string): void {
    if (this.#token !== undefined && this.#token !== token && !this.#options.quiet) {
      this.#options.log(`New session was created with token "${token}"\n`);
    }
    this.#token = token;
  }

  #reportDisconnection(error: LogtestConnectionError): void {
    const { log, connectionHint } = this.#options;
    log(`${CONNECTION_ERROR}\n`);
    if (this.#disconnections++ === 0) log(`\t${error.message}\n\t${connectionHint}\n`);
  }

  #show(data: ReadonlyMap<string, unknown>): void {
    const { quiet, log, write, style, unitTest, debugRules } = this.#options;
    if (!quiet) {
      const warnings = messagesOf(data).filter((text) => text.startsWith('WARNING: '));
      if (warnings.length > 0) log(`${warnings.map((text) => `** Wazuh-Logtest: ${text}\n`).join('')}\n`);
      write(renderPhases(data, style));
      write(renderExplanation(data, style, debugRules));
      write(renderWhy(data, style));
    }
    if (unitTest === undefined) return;
    this.#last = resultTriple(data);
    const met = sameTriple(unitTest, this.#last);
    const text = verdict(unitTest, this.#last);
    if (!quiet || !met) write(`\n${(met ? style.good : style.bad)(style.foreign(text))}\n`);
  }
}

/** What follows `** Wazuh-logtest error `, or undefined for a good reply. */
function errorText(reply: LogtestReply, data: ReadonlyMap<string, unknown>): string | undefined {
  if (reply.error !== 0) return `${String(reply.error)}: ${reply.message ?? ''}`;
  if (data.get('codemsg') !== -1) return undefined;
  return ['-1: ', ...messagesOf(data)].join('\n\t');
}

function messagesOf(data: ReadonlyMap<string, unknown>): string[] {
  const messages = data.get('messages');
  return Array.isArray(messages) ? messages.map(String) : [];
}
