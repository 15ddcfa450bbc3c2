import type { Home } from '../../lib/home/home.js';
import { type ManagerLogEntry, readManagerLog, summariseLog } from '../../lib/manager/manager-log.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { nodeMessages, requireManager } from '../manager/node-scope.js';

const LOG_FIELDS = ['timestamp', 'tag', 'level', 'description'];

/** The log of the manager (rest-api.md 6.4). */
export function managerLogsRoutes(home: Home, configuration: ManagerConfiguration): OperationHandlers {
  return {
    getManagerLogs: async ({ caller, parameters }) => {
      requireManager(caller, configuration, 'read');
      const { tag, level } = parameters;
      const entries = (await logEntries(home)).filter(
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

    getManagerLogsSummary: async ({ caller }) => {
      requireManager(caller, configuration, 'read');
      const items = [...summariseLog(await logEntries(home))].map(([tag, counts]) => ({ [tag]: counts }));
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

async function logEntries(home: Home): Promise<ManagerLogEntry[]> {
  const entries = await readManagerLog(home);
  if (entries === undefined) throw new ApiError(1020);
  return entries;
}
