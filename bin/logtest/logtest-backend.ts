import type { LogtestReply } from '../../lib/logtest/logtest-request.js';

/** One event for logtest. */
export type LogtestEvent = {
  /** Byte string. */
  readonly log: string;
  readonly location: string;
  /** Session to go on with. */
  readonly token: string | undefined;
  readonly debugRules: boolean;
  readonly explain: boolean;
  readonly why: number | undefined;
};

/** Who answers the events of the interactive tool: svc-analysisd, or an engine in the same process. */
export interface LogtestBackend {
  /** @throws LogtestConnectionError when there is no answer */
  process(event: LogtestEvent): Promise<LogtestReply>;
  /** Ends a session. @throws LogtestConnectionError */
  remove(token: string): Promise<LogtestReply>;
}

/** There is no answer from the service; the message says where it was looked for, and why. */
export class LogtestConnectionError extends Error {
  override readonly name = 'LogtestConnectionError';
}
