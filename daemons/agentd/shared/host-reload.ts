import { callSupervisor } from '../../../lib/control/control-client.js';
import type { ControlRequest, ProgressEvent, SupervisorReport } from '../../../lib/control/control-protocol.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

const OWN_NAME = 'svc-agentd';

/** Gives a command to the supervisor, as `callSupervisor` does for a home. */
export type Supervisor = (
  request: ControlRequest,
  progress?: (event: ProgressEvent) => void,
) => Promise<SupervisorReport | undefined>;

/** The supervisor of a home. */
export function supervisorOf(home: Home): Supervisor {
  return (request, progress) => callSupervisor(home, request, progress);
}

/**
 * Has the other daemons of the host take over a new configuration; one that cannot is restarted. svc-agentd itself is
 * never asked: it has done so already, and its connection stays (agents-and-groups.md 6.9).
 */
export class HostReload {
  readonly #supervisor: Supervisor;
  readonly #logger: Logger;
  #wanted = false;
  #working: Promise<void> | undefined;

  constructor(supervisor: Supervisor, logger: Logger) {
    this.#supervisor = supervisor;
    this.#logger = logger;
  }

  /** Asks for it; requests that come during one are one more. Resolves when that one is carried out, and never fails. */
  request(): Promise<void> {
    this.#wanted = true;
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
    return this.#working;
  }

  async #work(): Promise<void> {
    while (this.#wanted) {
      this.#wanted = false;
      try {
        await this.#reload();
      } catch (error) {
        this.#logger.error(
          `Could not auto-reload agent. Is Active Response enabled? Other daemons were not asked: ${describeError(error)}.`,
        );
      }
    }
  }

  async #reload(): Promise<void> {
    const report = await this.#supervisor({ command: 'ping' });
    const others = Object.keys(report?.daemons ?? {}).filter((name) => name !== OWN_NAME);
    if (others.length === 0) return;
    const restart: string[] = [];
    await this.#supervisor({ command: 'reload', daemons: others }, ({ daemon, event, reason, restartNeeded }) => {
      if (event === 'reloaded' && (restartNeeded?.length ?? 0) > 0) restart.push(daemon);
      if (event === 'reload-refused') this.#logger.error(`${daemon} refused to reload: ${reason ?? ''}`);
    });
    if (restart.length === 0) return;
    this.#logger.info(`Restarting ${restart.join(', ')}: the new configuration takes effect only so.`);
    await this.#supervisor({ command: 'restart', daemons: restart }, ({ daemon, event, reason }) => {
      if (event === 'start-failed') this.#logger.error(`${daemon} does not start again: ${reason ?? ''}`);
    });
  }
}
