import type { Diagnostics } from '../../lib/engine/event.js';
import type { LoadMessage } from '../../lib/engine/explain/explain-why.js';
import { describePlace } from '../../lib/engine/load/ruleset-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { MissingLists } from './missing-lists.js';

/** Messages kept of one load, as `reload-ruleset` answers at most that many (rules-and-alerts.md 11.4). */
const MAX_KEPT = 50;

/** Warnings kept with their places: they say why a rule is missing, whichever it is. */
const MAX_LOAD_WARNINGS = 5000;

/** Lines a minute that events may cause: nobody who sends them may fill the disk with our own log. */
const MAX_EVENT_LINES = 60;
const MINUTE_MS = 60_000;

/** Passes what the engine reports to the log, with file, line and rule, and keeps warnings and errors of a load. */
export class EngineDiagnostics implements Diagnostics {
  readonly #logger: Logger;
  readonly #loadWarnings: LoadMessage[] = [];
  readonly #errors: string[] = [];
  /** Lists that are missing are told in one line, when the load is over. */
  readonly lists = new MissingLists();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Texts without place, the first 50. */
  get warnings(): readonly string[] {
    return this.#loadWarnings.slice(0, MAX_KEPT).map(({ text }) => text);
  }

  /** Warnings with their places. */
  get loadWarnings(): readonly LoadMessage[] {
    return [...this.#loadWarnings];
  }

  /** Texts with their places, the first 50. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  debug(...[message, place]: Parameters<Diagnostics['debug']>): void {
    this.#logger.debug(placed(message, place));
  }

  info(...[message, place]: Parameters<Diagnostics['info']>): void {
    this.#logger.info(placed(message, place));
  }

  warn(...[message, place]: Parameters<Diagnostics['warn']>): void {
    if (this.#loadWarnings.length < MAX_LOAD_WARNINGS) this.#loadWarnings.push({ text: message, place });
    if (place?.list !== undefined && place.ruleId !== undefined) this.lists.ignored(place.list, place.ruleId);
    else this.#logger.warn(placed(message, place));
  }

  /** To be called when everything is loaded: before, nobody knows which rules there are. */
  tellMissingLists(): void {
    const summary = this.lists.summary();
    if (summary !== undefined) this.#logger.warn(summary);
  }

  error(...[message, place]: Parameters<Diagnostics['error']>): void {
    if (this.#errors.length < MAX_KEPT) this.#errors.push(placed(message, place));
    this.#logger.error(placed(message, place));
  }
}

/** Passes what the engine reports about events to the log: warnings and errors up to 60 a minute, the rest counted. */
export class EventDiagnostics implements Diagnostics {
  readonly #logger: Logger;
  readonly #now: () => number;
  #minuteStart = -Infinity;
  #lines = 0;
  #held = 0;

  /** @param now monotonic milliseconds */
  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  debug(...[message, place]: Parameters<Diagnostics['debug']>): void {
    this.#logger.debug(placed(message, place));
  }

  info(...[message, place]: Parameters<Diagnostics['info']>): void {
    if (this.#mayLog()) this.#logger.info(placed(message, place));
  }

  warn(...[message, place]: Parameters<Diagnostics['warn']>): void {
    if (this.#mayLog()) this.#logger.warn(placed(message, place));
  }

  error(...[message, place]: Parameters<Diagnostics['error']>): void {
    if (this.#mayLog()) this.#logger.error(placed(message, place));
  }

  /** Says how many lines were held back in the last minute; to be called when it may be over. */
  flush(): void {
    if (this.#now() - this.#minuteStart < MINUTE_MS) return;
    if (this.#held > 0) {
      this.#logger.warn(`${String(this.#held)} more messages about events were not logged within a minute.`);
    }
    this.#minuteStart = this.#now();
    this.#lines = 0;
    this.#held = 0;
  }

  #mayLog(): boolean {
    this.flush();
    this.#lines += 1;
    if (this.#lines <= MAX_EVENT_LINES) return true;
    this.#held += 1;
    return false;
  }
}

/** The text with file, line and rule, where they are known. */
export function placed(message: string, place: Parameters<Diagnostics['debug']>[1]): string {
  return place === undefined ? message : `${message} (${describePlace(place)})`;
}
