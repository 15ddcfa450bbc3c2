import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { monitordContract } from '../../lib/bus/contracts/monitord.js';
import { ConfigError } from '../../lib/config/config-error.js';
import { readConfigurationFile } from '../../lib/config/configuration-file.js';
import { ConfigurationViewError, renderConfiguration } from '../../lib/config/render-configuration.js';
import { renderRawConfiguration } from '../../lib/config/render-raw-configuration.js';
import { readDaemonStatus, shownState } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { managerInfo } from '../../lib/manager/manager-info.js';
import { type ManagerLogEntry, readManagerLog, summariseLog } from '../../lib/manager/manager-log.js';
import { MANAGER_DAEMONS } from '../../lib/product/daemon-names.js';

/** Codes of the bus for the codes of the API (the contract lists them). */
const VIEW_ERRORS = {
  1101: 'unreadable',
  1102: 'invalid_section',
  1103: 'invalid_field',
  1106: 'absent_section',
} as const;

type Contract = typeof monitordContract;
type OwnMethods = 'status' | 'info' | 'configuration' | 'raw_configuration' | 'logs' | 'logs_summary';

/**
 * Answers of svc-monitord beyond those every daemon gives. Everything is read when it is asked for: a caller sees the
 * files and processes as they are now.
 */
export function monitordHandlers(home: Home, logger: Logger, now: () => Date): Pick<Handlers<Contract>, OwnMethods> {
  return {
    status: async () => {
      const status = await readDaemonStatus(home);
      return Object.fromEntries(MANAGER_DAEMONS.map((name) => [name, shownState(status.get(name))]));
    },
    info: () => managerInfo(home, now()),
    configuration: ({ section, field, distinct, secrets }) =>
      view(() => {
        const { text, name } = readConfigurationFile(home);
        return renderConfiguration(text, name, { section, field, distinct, secrets }, (message) =>
          logger.warn(message),
        );
      }),
    raw_configuration: ({ secrets }) =>
      view(() => ({ text: renderRawConfiguration(readConfigurationFile(home).text, secrets) })),
    logs: async ({ level, tag }) => ({
      items: (await log(home)).filter(
        (entry) => (level === undefined || entry.level === level) && (tag === undefined || entry.tag === tag),
      ),
    }),
    logs_summary: async () => [...summariseLog(await log(home))].map(([tag, counts]) => ({ tag, counts })),
  };
}

/** Errors of the configuration become those of the contract. */
function view<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof ConfigurationViewError) {
      throw new BusError(VIEW_ERRORS[error.code], error.message, { cause: error });
    }
    if (error instanceof ConfigError) {
      const { message } = new ConfigurationViewError(1101, error.text);
      throw new BusError('unreadable', message, { cause: error });
    }
    throw error;
  }
}

/** Newest first. */
async function log(home: Home): Promise<ManagerLogEntry[]> {
  const entries = await readManagerLog(home);
  if (entries === undefined) {
    throw new BusError('no_log_file', 'Could not find any log file');
  }
  return entries;
}
