import { BusError } from '../../lib/bus/bus-error.js';
import { execdContract } from '../../lib/bus/contracts/execd.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { ownDirectory } from '../../lib/home/own-directory.js';
import { SETTINGS } from './execd-settings.js';

/** svc-execd: carries out active responses on this host (daemons-and-config.md 5). It alone opens `queue/execd`. */
export const EXECD = defineDaemon({
  contract: execdContract,
  settings: SETTINGS,
  async build({ home, requests }, parts) {
    ownDirectory(home, 'queue', 'execd');
    await parts.start(
      requests({
        stats: (counters) => ({ requests: { ...counters } }),
        handlers: {
          'responses.run': () => {
            throw new BusError('disabled', '(1350): Active response disabled.');
          },
        },
      }),
    );
    return {};
  },
});
