import { createHash } from 'node:crypto';
import { FramedSocket } from '../../lib/bus/framed-socket.js';
import type { DaemonContext } from '../../lib/daemon/daemon-spec.js';
import { fromByteString } from '../../lib/engine/byte-string.js';
import type { DiffStore } from '../../lib/engine/correlate/diff-store.js';
import type { Diagnostics, SourcePlace } from '../../lib/engine/event.js';
import type { LoadMessage } from '../../lib/engine/explain/explain-why.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { Logtest } from '../../lib/logtest/logtest.js';
import {
  type LogtestReply,
  LogtestRequestError,
  membersOf,
  parseLogtestRequest,
  type ProcessRequest,
  readProcessRequest,
  readRemoveRequest,
  type RemoveRequest,
} from '../../lib/logtest/logtest-request.js';
import { loadingOf } from '../../lib/ruleset/loading-settings.js';
import { compileRuleset } from '../../lib/ruleset/read-ruleset.js';
import { placed } from './engine-diagnostics.js';
import { type LoadedRuleset, readHomeRuleset } from './ruleset-loader.js';
import { loadSettings, logWarnings, type Settings } from './settings.js';

const OVERSIZE = JSON.stringify({
  message: '(7315): Failure to receive message: size is bigger than expected',
  error: 5,
});

type LogtestContext = Pick<DaemonContext, 'home' | 'logger'>;
type Report = {
  readonly severity: 'warn' | 'error';
  readonly message: string;
  readonly place?: SourcePlace | undefined;
};
type Compiled = { readonly hash: string; readonly ruleset: EngineRuleset; readonly reports: readonly Report[] };

/**
 * The logtest service: sessions on the ruleset as it is on disk, over the bus and the local socket. A compiled ruleset
 * is shared by all sessions made from the same files, the running engine's included.
 */
export class LogtestService {
  readonly #context: LogtestContext;
  readonly #enabled: boolean;
  readonly #logtest: Logtest;
  readonly #socket: FramedSocket;
  readonly #timeoutMs: number;
  #compiled: Compiled | undefined;
  #sweep: NodeJS.Timeout | undefined;

  constructor(context: LogtestContext, settings: Settings, diffs: DiffStore) {
    const { rule_test: test } = settings.config;
    this.#context = context;
    this.#enabled = test.enabled;
    this.#timeoutMs = test.session_timeout * 1000;
    this.#logtest = new Logtest({
      maxSessions: test.max_sessions,
      sessionTimeoutSeconds: test.session_timeout,
      origin: settings.origin,
      now: () => Date.now(),
      diffs,
      ruleset: (diagnostics) => this.#ruleset(diagnostics),
    });
    this.#socket = new FramedSocket({
      path: context.home.path('queue', 'sockets', 'logtest'),
      oversizeAnswer: OVERSIZE,
      logger: context.logger,
      handler: (request) =>
        Promise.resolve(JSON.stringify(this.#answer(() => parseLogtestRequest(request.toString('utf8'))))),
    });
  }

  /** @throws Error when the local socket cannot be bound */
  async start(): Promise<void> {
    const { logger } = this.#context;
    if (!this.#enabled) {
      logger.info('(7201): Logtest disabled');
      return;
    }
    await this.#socket.start();
    this.#sweep = setInterval(
      () => {
        this.#logtest.sweep();
      },
      Math.min(this.#timeoutMs, MAX_TIMER_MS),
    );
    logger.info('(7200): Logtest started');
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    await this.#socket.stop();
  }

  /** `log_processing` over the bus. */
  run(parameters: Record<string, unknown>): LogtestReply {
    return this.#answer(() => readProcessRequest(membersOf(parameters) ?? new Map()));
  }

  /** `remove_session` over the bus. */
  close(parameters: Record<string, unknown>): LogtestReply {
    return this.#answer(() => readRemoveRequest(membersOf(parameters) ?? new Map()));
  }

  /**
   * Loads the files on disk as a new session would, without making one.
   * @param clusterRuleset id of a ruleset of the cluster that is looked at in place of the user's files in etc
   * @returns what is wrong with them, with file, line and rule; nothing when a session could be made
   */
  check(clusterRuleset?: string): readonly string[] {
    const errors: string[] = [];
    const diagnostics: Diagnostics = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (message, place) => {
        if (errors.length < MAX_CHECK_ERRORS) errors.push(fromByteString(placed(message, place)));
      },
    };
    try {
      if (clusterRuleset === undefined) this.#ruleset(diagnostics);
      else this.#try(clusterRuleset, diagnostics);
    } catch (error) {
      if (errors.length === 0) errors.push(error instanceof Error ? error.message : String(error));
    }
    return errors;
  }

  get sessions(): number {
    return this.#logtest.sessions;
  }

  /** Lets new sessions share a ruleset that was loaded elsewhere. */
  share(loaded: LoadedRuleset, warnings: readonly LoadMessage[]): void {
    this.#compiled = {
      hash: hashOf(loaded),
      ruleset: loaded.ruleset,
      reports: warnings.map(({ text, place }) => ({ severity: 'warn', message: text, place })),
    };
  }

  #answer(parse: () => ProcessRequest | RemoveRequest): LogtestReply {
    try {
      if (!this.#enabled) throw new LogtestRequestError(3, '(7201): Logtest disabled');
      return this.#logtest.answer(parse());
    } catch (error) {
      if (error instanceof LogtestRequestError) return error.reply();
      throw error;
    }
  }

  #try(clusterRuleset: string, diagnostics: Diagnostics): void {
    const { home } = this.#context;
    const settings = loadSettings(home);
    const sources = readHomeRuleset(home, settings, diagnostics, { clusterRuleset });
    compileRuleset(sources, loadingOf(settings), diagnostics);
  }

  /** Reads the files anew; compiles only what is not compiled yet. */
  #ruleset(diagnostics: Diagnostics): EngineRuleset {
    const { home, logger } = this.#context;
    const settings = loadSettings(home);
    logWarnings(settings, logger);
    const sources = readHomeRuleset(home, settings, diagnostics);
    const hash = hashOf({ sources, settings });
    if (this.#compiled?.hash === hash) {
      for (const { severity, message, place } of this.#compiled.reports) diagnostics[severity](message, place);
      return this.#compiled.ruleset;
    }
    const reports: Report[] = [];
    const recording: Diagnostics = {
      debug: () => {},
      info: () => {},
      warn: (message, place) => {
        reports.push({ severity: 'warn', message, place });
        diagnostics.warn(message, place);
      },
      error: (message, place) => {
        reports.push({ severity: 'error', message, place });
        diagnostics.error(message, place);
      },
    };
    const ruleset = compileRuleset(sources, loadingOf(settings), recording);
    this.#compiled = { hash, ruleset, reports };
    return ruleset;
  }
}

/** As many messages as a reload answers at most (rules-and-alerts.md 11.4). */
const MAX_CHECK_ERRORS = 50;

/** Longest delay a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a compiled ruleset depends on: the texts and the settings that `compileRuleset` goes by. */
function hashOf({ sources, settings }: Pick<LoadedRuleset, 'sources'> & { readonly settings: Settings }): string {
  const hash = createHash('sha256').update(JSON.stringify([loadingOf(settings), sources.mitre]));
  for (const part of [sources.decoders, sources.rules, sources.lists]) {
    for (const { path, content } of part) {
      hash.update(`\0${path}\0${String(content.length)}\0`).update(content, 'latin1');
    }
  }
  return hash.digest('hex');
}
