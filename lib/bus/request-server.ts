import type { Logger } from '../daemon/logger.js';
import type { Contract, Handlers } from './contract.js';

export type RequestServerOptions<C extends Contract> = {
  readonly contract: C;
  readonly handlers: Handlers<C>;
  /** Socket path, `home.socket(daemon)`. */
  readonly path: string;
  readonly logger: Logger;
  /** Group id the socket gets; without it the group stays that of the process. */
  readonly group?: number;
};

export type RequestServerCounters = {
  /** Frames received. */
  received: number;
  /** Calls answered with a result. */
  answered: number;
  /** Calls answered with an error. */
  failed: number;
  /** Frames that are no request and have no id to answer to. */
  malformed: number;
  /** Calls refused because too many were running and waiting. */
  refused: number;
  /** Answers given up because the peer went away or does not read. */
  undelivered: number;
};

/** Answers the requests to a daemon (design.md 4 "Requests"). */
export class RequestServer<C extends Contract> {
  readonly counters: RequestServerCounters = {
    received: 0,
    answered: 0,
    failed: 0,
    malformed: 0,
    refused: 0,
    undelivered: 0,
  };

  constructor(private readonly options: RequestServerOptions<C>) {}

  /** Binds the socket. @throws BusError `in_use` or `bad_path` */
  start(): Promise<void> {
    return Promise.reject(new Error('not built yet: ' + this.options.path));
  }

  /** Takes no more calls, lets running ones answer for at most `drainMs` and removes the socket. */
  stop(_drainMs?: number): Promise<void> {
    return Promise.resolve();
  }
}
