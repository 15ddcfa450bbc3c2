import type { Logger } from '../../lib/log/logger.js';

/** Things remembered; beyond it everything is forgotten, and may be said a second time. */
const MAX_REMEMBERED = 100_000;

/** Says each thing once: a condition that is looked at again and again must not fill the log. */
export class OnceLog {
  readonly #logger: Logger;
  readonly #said = new Map<string, string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Logs a text about something, unless it was the last that was logged about it. */
  say(about: string, level: 'debug' | 'info' | 'warn' | 'error', text: string): void {
    if (this.#said.get(about) === text) {
      return;
    }
    if (this.#said.size >= MAX_REMEMBERED) {
      this.#said.clear();
    }
    this.#said.set(about, text);
    this.#logger[level](text);
  }

  /** The condition is over: it is said again when it comes back. */
  forget(about: string): void {
    this.#said.delete(about);
  }
}

/** Why a file could not be used, in the form of the reference's messages where the system says why. */
export function fileErrorText(error: unknown): string {
  if (error instanceof Error && 'errno' in error && 'code' in error) {
    return `[(${String(Math.abs(Number(error.errno)))})-(${String(error.code)})]`;
  }
  return error instanceof Error ? error.message : String(error);
}
