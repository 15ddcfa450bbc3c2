import type { ScanStatus } from '../../lib/bus/contracts/syscheckd.js';
import type { Logger } from '../../lib/log/logger.js';
import type { Rootcheck } from './rootcheck/rootcheck.js';
import { HOST_CLOCK, ScanLoop } from './scan/scan-loop.js';
import type { SyscheckdSettings } from './settings.js';

export type RootkitMonitorParts = {
  readonly settings: () => SyscheckdSettings;
  readonly rootcheck: Rootcheck;
  readonly logger: Logger;
  readonly setProblem: (problem: string | undefined) => void;
};

/** Looks for rootkits at its times (integrity-and-inventory.md 9.1), whether or not files are watched. */
export class RootkitMonitor {
  readonly #settings: () => SyscheckdSettings;
  readonly #loop: ScanLoop;

  constructor({ settings, rootcheck, logger, setProblem }: RootkitMonitorParts) {
    this.#settings = settings;
    this.#loop = new ScanLoop({
      what: 'Rootcheck',
      enabled: () => settings().rootcheckScan !== undefined,
      scan: async (signal) => {
        await rootcheck.run(settings().rootcheckScan, signal);
        return true;
      },
      times: { frequency: settings().rootcheck.frequency },
      clock: HOST_CLOCK,
      logger,
      setProblem,
    });
  }

  get status(): ScanStatus['rootcheck'] {
    return { enabled: this.#settings().rootcheckScan !== undefined, ...this.#loop.status };
  }

  start(): void {
    this.#loop.start();
  }

  /** @param changed whether `<rootcheck>` differs */
  reload(changed: boolean): void {
    if (!changed) return;
    this.#loop.reschedule({ frequency: this.#settings().rootcheck.frequency });
    this.requestScan();
  }

  requestScan(): void {
    this.#loop.request();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}
