import { MAX_REPORT_BYTES, MAX_REPORTS_PER_CALL, type modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { Agent } from './agent-link.js';
import { MAX_UPGRADE_REPORTS } from './remoted-limits.js';

export type UpgradeReportsParts = {
  readonly modulesd: Pick<RequestClient<typeof modulesdContract>, 'call'>;
  readonly logger: Logger;
};

/**
 * Takes what agents tell of their upgrades (queue `u`) to svc-modulesd. What finds no room or is not taken is dropped and
 * counted: an agent tells it again until it hears that it has come (agents-and-groups.md 4.5).
 */
export class UpgradeReports {
  readonly counters = { received: 0, dropped: 0 };
  readonly #parts: UpgradeReportsParts;
  /** The last report of each agent. */
  readonly #waiting = new Map<string, Buffer>();
  readonly #droppedLog: LimitedLogger;
  #calling = false;
  #closed = false;

  constructor(parts: UpgradeReportsParts) {
    this.#parts = parts;
    this.#droppedLog = parts.logger.limited();
  }

  /** Reports that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  take({ id }: Agent, message: Buffer): void {
    if (this.#closed) return;
    this.counters.received += 1;
    const isFull = this.#waiting.size >= MAX_UPGRADE_REPORTS && !this.#waiting.has(id);
    if (isFull || message.length > MAX_REPORT_BYTES) {
      this.#dropped(1, `What agent '${id}' tells of its upgrade ${isFull ? 'finds no room' : 'is too long'}.`);
      return;
    }
    // A copy: the message is a part of a larger buffer that would be kept with it.
    this.#waiting.set(id, Buffer.from(message));
    if (!this.#calling) void this.#carry();
  }

  /** Nothing more is taken or told. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
  }

  async #carry(): Promise<void> {
    this.#calling = true;
    while (this.#waiting.size > 0) {
      const reports = [...this.#waiting].slice(0, MAX_REPORTS_PER_CALL).map(([agent, message]) => ({ agent, message }));
      for (const { agent } of reports) this.#waiting.delete(agent);
      try {
        await this.#parts.modulesd.call('upgrades.report', { reports });
      } catch (error) {
        this.#dropped(reports.length, `What agents tell of their upgrades is not taken: ${describeError(error)}`);
      }
    }
    this.#calling = false;
  }

  #dropped(count: number, text: string): void {
    this.counters.dropped += count;
    if (!this.#closed) this.#droppedLog.warn(text);
  }
}
