import type { Home } from '../../lib/home/home.js';
import { type ManagerLogEntry, readManagerLog, summariseLog } from '../../lib/manager/manager-log.js';
import type { ApiSettings } from '../api-settings.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';
import { shownDaemon } from '../manager/daemon-names.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { nodeMessages } from '../manager/node-scope.js';

const LOG_FIELDS = ['timestamp', 'tag', 'level', 'description'];

export type ManagerLogsParts = {
  readonly home: Home;
  readonly configuration: ManagerConfiguration;
  readonly settings: () => Pick<ApiSettings, 'daemonNames'>;
};

/** The log of the manager (rest-api.md 6.4). */
export function managerLogsRoutes(parts: ManagerLogsParts): OperationHandlers {
  const { configuration } = parts;
  return {
    getManagerLogs: async ({ parameters }) => {
      const { level } = parameters;
      const tag = parameters.tag === undefined ? undefined : shownDaemon(parameters.tag, parts.settings().daemonNames);
      const entries = (await logEntries(parts)).filter(
        (entry) =>
          (tag === undefined || entry.tag.toLowerCase() === tag) && (level === undefined || entry.level === level),
      );
      const page = pageOf(entries, parameters, {
        defaultSort: '-timestamp',
        sortFields: LOG_FIELDS,
        selectFields: LOG_FIELDS,
      });
      const messages = nodeMessages(
        configuration,
        'Logs were successfully read',
        'Could not read logs in some nodes',
        'Could not read logs',
      );
      return listResult({ ...page, messages });
    },

    getManagerLogsSummary: async () => {
      const items = [...summariseLog(await logEntries(parts))].map(([tag, counts]) => ({ [tag]: counts }));
      const messages = nodeMessages(
        configuration,
        'Log was successfully summarized',
        'Could not summarize the log in some nodes',
        'Could not summarize the log',
      );
      return listResult({ items, total: items.length, messages });
    },
  };
}

/** @throws ApiError 1020 */
async function logEntries({ home, settings }: ManagerLogsParts): Promise<readonly ManagerLogEntry[]> {
  const entries = await readManagerLog(home);
  if (entries === undefined) throw new ApiError(1020);
  const { daemonNames } = settings();
  return entries.map((entry) => ({ ...entry, tag: shownDaemon(entry.tag, daemonNames) }));
}
