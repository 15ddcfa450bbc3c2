import { readFileSync } from 'node:fs';
import type { Logger } from '../lib/log/logger.js';
import { certificateFacts, daysLeft, endInWords, WARNING_DAYS } from '../lib/tls/certificate-notice.js';

const DAY_MS = 86_400_000;

/** Calls again and again every `ms` milliseconds. @returns what ends it */
export type Repeat = (action: () => void, ms: number) => () => void;

const repeat: Repeat = (action, ms) => {
  const timer = setInterval(action, ms);
  timer.unref();
  return () => clearInterval(timer);
};

/** Says at the start, and each day from 30 days before, when the API's certificate ends: its clients refuse it from then on. */
export class CertificateWatch {
  readonly #path: string;
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #now: () => number;
  readonly #end: () => void;

  /** @param path certificate in PEM @param now milliseconds since 1970 */
  constructor(path: string, logger: Pick<Logger, 'info' | 'warn'>, now: () => number, again = repeat) {
    this.#path = path;
    this.#logger = logger;
    this.#now = now;
    this.#end = again(() => this.#look(false), DAY_MS);
  }

  /** Says when it ends, however far that is: at a start, and when it may be another one. */
  announce(): void {
    this.#look(true);
  }

  stop(): void {
    this.#end();
  }

  #look(always: boolean): void {
    try {
      const facts = certificateFacts(readFileSync(this.#path));
      const text = `The API's certificate ${endInWords(facts, this.#now())}`;
      if (daysLeft(facts, this.#now()) <= WARNING_DAYS) {
        this.#logger.warn(`${text}: clients refuse it from then on. ${advice(facts.selfSigned)}`);
      } else if (always) {
        this.#logger.info(`${text}.`);
      }
    } catch {
      // Whoever listens with it has said already what is wrong with it.
    }
  }
}

function advice(selfSigned: boolean): string {
  return selfSigned
    ? "'svc-control certificate --renew' makes a new one."
    : 'Put a new one of its authority in its place, and reload svc-apid.';
}
