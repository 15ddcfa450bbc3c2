import { createHash } from 'node:crypto';
import { pause } from '../../../../lib/async/pause.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { AlertView } from '../../../../lib/output/alert-view.js';
import type { Change } from '../../../../lib/store/commit-queue.js';
import type { OutputStore, StoredMail } from '../output-store.js';
import { mailBody, mailSubject, shortMessage } from './mail-text.js';
import { type Mail, MailRefusedError } from './mail-transport.js';

/** Some recipients and how they want their mails. */
export type MailRoute = {
  /** What waits for them is kept under it. */
  readonly key: string;
  readonly to: readonly string[];
  /** Short messages. */
  readonly sms: boolean;
  /** Without waiting for more alerts. */
  readonly immediate: boolean;
  /** One alert a mail. */
  readonly single: boolean;
};

export type MailQueueParts = {
  readonly store: OutputStore;
  readonly routes: readonly MailRoute[];
  readonly send: (mail: Mail, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  /** `<email_maxperhour>` */
  readonly mostPerHour: number;
  /** `maild.full_subject` */
  readonly fullSubject: boolean;
  /** How long the first alert of a mail waits for others, milliseconds (10 s). */
  readonly groupMs?: number;
  readonly now?: () => Date;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

type WaitingAlert = StoredMail & { readonly key: number };

/** Alerts that wait at most; more stay in the stream. */
export const MOST_WAITING = 10_000;
const GROUP_MS = 10_000;
/** Alerts in one mail, and characters of them. */
const MOST_IN_MAIL = 500;
const MOST_CHARACTERS = 1_000_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A mail that is refused for good is given up after so many tries. */
const TRIES = 8;
/** The longest a timer sleeps before it is looked again. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Alerts that wait for a mail, kept in `queue/outputs` until it is sent, and who sends them: those of some seconds in one
 * mail, so many mails an hour, again and again while the server is away (daemons-and-config.md 8.3).
 */
export class MailQueue {
  readonly #parts: MailQueueParts;
  readonly #waiting = new Map<string, WaitingAlert[]>();
  readonly #stopped = new AbortController();
  readonly #working: Promise<void>;
  #wake = new AbortController();
  #nextKey = 1;
  #count = 0;
  /** The hour that mails are counted of, and those of it, also before this process. */
  #hour: string;
  #inHour: number;
  #tries = 0;
  #failuresInRow = 0;
  #alerts = 0;
  #mails = 0;
  #failed = 0;
  #rejected = 0;

  constructor(parts: MailQueueParts) {
    this.#parts = parts;
    ({ hour: this.#hour, mails: this.#inHour } = parts.store.mailHour ?? { hour: '', mails: 0 });
    const gone: Change[] = [];
    for (const route of parts.routes) this.#waiting.set(route.key, []);
    for (const [key, stored] of parts.store.mails.entries()) {
      this.#nextKey = key + 1;
      if (this.#waiting.has(stored.route)) this.#remember({ ...stored, key });
      else gone.push(parts.store.mails.remove(key));
    }
    if (gone.length > 0) {
      parts.logger.warn(
        `${String(gone.length)} alerts waited for a mail to recipients that are not configured any more.`,
      );
    }
    this.#working = parts.store.commit(gone).then(() => this.#run());
    this.#working.catch((error: unknown) => {
      parts.logger.error(`Mails are not sent: ${describeError(error)}`);
    });
  }

  get isFull(): boolean {
    return this.#count >= MOST_WAITING;
  }

  /** Changes that keep an alert for some recipients, and what is to be called when they have happened. */
  take(
    alert: string,
    routes: readonly MailRoute[],
  ): { readonly changes: readonly Change[]; readonly taken: () => void } {
    const at = this.#now().getTime();
    const entries = routes.map(({ key: route }): WaitingAlert => {
      const key = this.#nextKey;
      this.#nextKey += 1;
      return { key, alert, at, route };
    });
    return {
      changes: entries.map(({ key, ...stored }) => this.#parts.store.mails.put(key, stored)),
      taken: () => {
        for (const entry of entries) this.#remember(entry);
        this.#wake.abort();
      },
    };
  }

  stats(): Readonly<Record<string, unknown>> {
    return {
      delivered: this.#alerts,
      mails: this.#mails,
      failed: this.#failed,
      rejected: this.#rejected,
      available: this.#failuresInRow === 0,
      waiting: this.#count,
    };
  }

  /** Ends what is being sent; it is sent again after the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#working.catch(() => {});
  }

  #remember(entry: WaitingAlert): void {
    this.#waiting.get(entry.route)?.push(entry);
    this.#count += 1;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const next = this.#next();
      if (typeof next === 'number') {
        await pause(Math.min(next, LONGEST_WAIT_MS), AbortSignal.any([signal, this.#wake.signal]));
      } else {
        await this.#sendOne(next.route, next.entries);
      }
    }
  }

  /** What is to be sent now, or in how many milliseconds to look again. */
  #next(): { readonly route: MailRoute; readonly entries: readonly WaitingAlert[] } | number {
    const now = this.#now();
    const hour = now.toDateString() + String(now.getHours());
    if (hour !== this.#hour) this.#inHour = 0;
    this.#hour = hour;
    if (this.#inHour >= this.#parts.mostPerHour) {
      const nextHour = new Date(now);
      nextHour.setHours(now.getHours() + 1, 0, 0, 0);
      return nextHour.getTime() - now.getTime();
    }
    const { groupMs = GROUP_MS } = this.#parts;
    let soonest = LONGEST_WAIT_MS;
    let found: MailRoute | undefined;
    for (const route of this.#parts.routes) {
      const first = this.#waiting.get(route.key)?.[0];
      if (first === undefined) continue;
      const ready = first.at + (route.immediate ? 0 : groupMs) - now.getTime();
      if (found !== undefined && ready >= soonest) continue;
      soonest = ready;
      found = route;
    }
    if (found === undefined || soonest > 0) return soonest;
    return { route: found, entries: this.#entriesOf(found) };
  }

  #entriesOf(route: MailRoute): readonly WaitingAlert[] {
    const all = this.#waiting.get(route.key) ?? [];
    if (route.single || route.sms) return all.slice(0, 1);
    let characters = 0;
    const end = all.slice(0, MOST_IN_MAIL).findIndex(({ alert }) => (characters += alert.length) > MOST_CHARACTERS);
    return all.slice(0, end < 0 ? MOST_IN_MAIL : Math.max(1, end));
  }

  async #sendOne(route: MailRoute, entries: readonly WaitingAlert[]): Promise<void> {
    const { signal } = this.#stopped;
    try {
      await this.#parts.send(this.#mail(route, entries), signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#tries += 1;
      if (error instanceof MailRefusedError && this.#tries >= TRIES) await this.#giveUp(route, entries, error);
      else await this.#failedWith(error);
      return;
    }
    if (this.#failuresInRow > 0) this.#parts.logger.info('Mail is sent again.');
    this.#failuresInRow = 0;
    this.#mails += 1;
    this.#inHour += 1;
    this.#alerts += entries.length;
    await this.#forget(route, entries);
  }

  #mail({ key, to, sms }: MailRoute, entries: readonly WaitingAlert[]): Mail {
    const alerts = entries.flatMap(({ alert }) => AlertView.parse(alert) ?? []);
    const sum = createHash('sha256').update(key);
    for (const { alert } of entries) sum.update(alert);
    const id = sum.digest('hex').slice(0, 32);
    const [first] = alerts;
    if (sms && first !== undefined) return { to, id, ...shortMessage(first) };
    return { to, id, subject: mailSubject(alerts, this.#parts.fullSubject), text: mailBody(alerts) };
  }

  async #giveUp(route: MailRoute, entries: readonly WaitingAlert[], error: unknown): Promise<void> {
    this.#rejected += entries.length;
    this.#parts.logger.error(
      `A mail about ${String(entries.length)} alerts to ${route.to.join(', ')} is given up: ${describeError(error)}`,
    );
    await this.#forget(route, entries);
  }

  async #failedWith(error: unknown): Promise<void> {
    this.#failed += 1;
    this.#failuresInRow += 1;
    if (this.#failuresInRow === 1) {
      this.#parts.logger.warn(`Mail is not sent for now: ${describeError(error)}. Alerts wait, and it is tried again.`);
    }
    const wait = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failuresInRow - 1), LONGEST_PAUSE_MS);
    await (this.#parts.sleep ?? pause)(wait, this.#stopped.signal);
  }

  /** A disk that takes nothing does not have a mail sent twice as long as this process lives. */
  async #forget(route: MailRoute, entries: readonly WaitingAlert[]): Promise<void> {
    const { store, logger } = this.#parts;
    this.#tries = 0;
    this.#waiting.get(route.key)?.splice(0, entries.length);
    this.#count -= entries.length;
    try {
      const counted = store.countMails({ hour: this.#hour, mails: this.#inHour });
      await store.commit([...entries.map(({ key }) => store.mails.remove(key)), counted]);
    } catch (error) {
      logger.error(`That a mail was sent cannot be kept: ${describeError(error)}`);
    }
  }

  #now(): Date {
    return (this.#parts.now ?? (() => new Date()))();
  }
}
