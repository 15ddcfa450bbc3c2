import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { SyslogFormat, SyslogProtocol } from '../../../../lib/config/sections/outputs.js';
import type { Logger } from '../../../../lib/log/logger.js';
import type { StreamedAlert } from '../../../../lib/output/alert-feed.js';
import { AlertFilter, type AlertFilterSettings } from '../alert-filter.js';
import type { AlertReceiver, Delivery } from '../alert-receiver.js';
import { selectAlerts, type SelectedAlert } from '../select-alerts.js';
import { syslogMessage } from './syslog-format.js';
import { TcpFlight } from './tcp-syslog.js';
import { MAX_DATAGRAM_BYTES, sendDatagrams } from './udp-syslog.js';

export type SyslogSettings = {
  readonly server: string;
  readonly port: number;
  readonly protocol: SyslogProtocol;
  /** File of the authorities that TLS trusts instead of the public ones; its whole path. */
  readonly ca?: string | undefined;
  readonly format: SyslogFormat;
  readonly useFqdn: boolean;
  readonly filter: AlertFilterSettings;
};

export type SyslogLimits = {
  /** Most time without progress, milliseconds. */
  readonly deadlineMs: number;
  /** After so long a receiver that has everything and does not close is believed, milliseconds. */
  readonly believeMs: number;
};

const LIMITS: SyslogLimits = { deadlineMs: 30_000, believeMs: 600_000 };

/** Alerts to a syslog receiver (daemons-and-config.md 8.1). */
export class SyslogReceiver implements AlertReceiver {
  readonly deadlineMs: number;
  readonly #settings: SyslogSettings;
  readonly #limits: SyslogLimits;
  readonly #filter: AlertFilter;
  readonly #host: string;
  readonly #logger: Pick<Logger, 'warn'>;
  /** Over TCP: what is on its way still after a try that failed for time. It is waited for, and not sent once more. */
  #flight: TcpFlight | undefined;

  constructor(
    settings: SyslogSettings,
    logger: Pick<Logger, 'warn'>,
    limits: SyslogLimits = LIMITS,
    host = hostname(),
  ) {
    this.#settings = settings;
    this.#limits = limits;
    this.deadlineMs = limits.deadlineMs;
    this.#filter = new AlertFilter(settings.filter);
    this.#host = settings.useFqdn ? host : (host.split('.')[0] ?? host);
    this.#logger = logger;
  }

  async deliver(batch: readonly StreamedAlert[], delivery: Delivery): Promise<void> {
    const { protocol, server, port } = this.#settings;
    if (protocol === 'udp') {
      const messages = this.#messages(selectAlerts(batch, this.#filter, delivery), delivery);
      if (messages.length > 0) await sendDatagrams(server, port, messages, delivery.signal);
      delivery.sent(messages.length);
      return;
    }
    const flight = (this.#flight ??= this.#takeOff(batch, delivery));
    if (flight === undefined) return;
    await this.#landed(flight, delivery.signal);
    delivery.sent(flight.messages);
    await delivery.settle(flight.count);
  }

  close(): void {
    this.#flight?.close();
  }

  #takeOff(batch: readonly StreamedAlert[], delivery: Delivery): TcpFlight | undefined {
    const { server: host, port, protocol, ca } = this.#settings;
    const messages = this.#messages(selectAlerts(batch, this.#filter, delivery), delivery);
    if (messages.length === 0) return undefined;
    const trusted = ca === undefined ? {} : { ca: readFileSync(ca) };
    return new TcpFlight({ host, port, ...(protocol === 'tls' ? { tls: trusted } : {}) }, messages, batch.length);
  }

  /** Waits for a flight; one that fails is over, one that takes too long goes on. */
  async #landed(flight: TcpFlight, signal: AbortSignal): Promise<void> {
    const { server, port } = this.#settings;
    if ((flight.handedFor ?? 0) > this.#limits.believeMs) {
      this.#logger.warn(
        `The syslog receiver '${server}:${String(port)}' took alerts and never closed the connection: they count as delivered.`,
      );
      flight.close();
      this.#flight = undefined;
      return;
    }
    let over = false;
    const late = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([
      flight.taken.finally(() => {
        over = true;
      }),
      late,
    ]).finally(() => {
      if (over) this.#flight = undefined;
    });
    signal.throwIfAborted();
  }

  #messages(selected: readonly SelectedAlert[], delivery: Delivery): string[] {
    const { format, protocol } = this.#settings;
    return selected.flatMap(({ alert, text }) => {
      const message = syslogMessage(format, alert, text, this.#host);
      if (protocol === 'udp' && Buffer.byteLength(message) > MAX_DATAGRAM_BYTES) {
        delivery.rejected(`it has ${String(Buffer.byteLength(message))} bytes, which no datagram holds`);
        return [];
      }
      return [message];
    });
  }
}
