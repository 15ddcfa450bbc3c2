import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../support/api/api-client.js';
import type { Ledger } from './ledger.js';
import { eventText } from './numbered-events.js';
import type { Random } from './random.js';

const MAX_BATCH = 5;
const WORKERS = 2;

/**
 * Clients that post numbered events. A request without an answer is not sent again, since nobody can know whether its
 * events were taken; one with an Idempotency-Key is, until it is answered.
 */
export class ApiSender {
  /** Answers by status; 0 stands for none. */
  readonly statuses = new Map<number, number>();
  readonly #client: ApiClient;
  readonly #ledger: Ledger;
  readonly #random: Random;
  #workers: Promise<void>[] = [];
  #stopping = false;
  #givenUp = false;
  #inFlight = 0;

  constructor(client: ApiClient, ledger: Ledger, random: Random) {
    this.#client = client;
    this.#ledger = ledger;
    this.#random = random;
  }

  /** Requests that wait for an answer. */
  get inFlight(): number {
    return this.#inFlight;
  }

  start(): void {
    this.#workers = Array.from({ length: WORKERS }, () => this.#work());
  }

  /** Makes no new events; resolves when those that may be sent again are answered. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers);
  }

  /** Ends `stop` as soon as the requests on their way are over. */
  giveUp(): void {
    this.#stopping = true;
    this.#givenUp = true;
  }

  async #work(): Promise<void> {
    while (!this.#stopping) {
      await this.#sendOne();
      await delay(this.#random.integer(5, 120));
    }
  }

  async #sendOne(): Promise<void> {
    const numbers = Array.from({ length: this.#random.integer(1, MAX_BATCH) }, () => this.#ledger.take('api'));
    const body = JSON.stringify({ events: numbers.map((number) => eventText(number, 'api')) });
    const key = this.#random.chance(0.5) ? randomBytes(12).toString('hex') : undefined;
    do {
      if (await this.#post(body, key, numbers.length)) {
        for (const number of numbers) this.#ledger.acknowledge(number);
        return;
      }
      await delay(this.#random.integer(50, 400));
    } while (key !== undefined && !this.#givenUp);
  }

  async #post(body: string, key: string | undefined, count: number): Promise<boolean> {
    const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) };
    this.#inFlight += 1;
    const answer = await this.#client.call('POST', '/events', headers, body);
    this.#inFlight -= 1;
    const status = answer?.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (answer === undefined || status !== 200) return false;
    const { data } = answer.json() as { data: { total_affected_items: number; total_failed_items: number } };
    return data.total_affected_items === count && data.total_failed_items === 0;
  }
}
