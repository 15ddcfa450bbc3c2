import * as z from 'zod';
import { BusError } from '../../lib/bus/bus-error.js';
import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { execdContract } from '../../lib/bus/contracts/execd.js';
import type { monitordContract } from '../../lib/bus/contracts/monitord.js';
import type { remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { ApiSettings } from '../api-settings.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, type FailedItem, type ListMessages, listResult } from '../http/envelope.js';
import { shownDaemon } from '../manager/daemon-names.js';
import { isoTime } from '../manager/iso-time.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import {
  readHourlyAverages,
  readHourStatistics,
  readStateFile,
  readWeeklyAverages,
  StatisticsFileError,
} from '../manager/statistics-reader.js';

/** Daemons whose statistics are shown when none are named: clients of 4.x know these. */
const USUAL_DAEMONS = ['svc-analysisd', 'svc-remoted', 'svc-db'] as const;
/** Daemons whose statistics can be asked for, in the order shown. */
const REPORTING_DAEMONS = [...USUAL_DAEMONS, 'svc-monitord', 'svc-execd'] as const;
type ReportingDaemon = (typeof REPORTING_DAEMONS)[number];

const ANALYSISD_STATE = 'var/run/wazuh-analysisd.state';
const REMOTED_STATE = 'var/run/svc-remoted.state';

/** What a daemon answers; times are epoch seconds. */
const report = z.object({
  timestamp: z.number(),
  uptime: z.number(),
  metrics: z.record(z.string(), z.unknown()),
});

export type StatisticsRouteParts = {
  readonly home: Home;
  readonly configuration: ManagerConfiguration;
  readonly analysisd: RequestClient<typeof analysisdContract>;
  readonly remoted: RequestClient<typeof remotedContract>;
  readonly db: RequestClient<typeof dbContract>;
  readonly monitord: RequestClient<typeof monitordContract>;
  readonly execd: RequestClient<typeof execdContract>;
  readonly logger: Logger;
  readonly settings: () => Pick<ApiSettings, 'daemonNames'>;
  readonly now: () => Date;
};

/** Statistics of the manager and of its daemons (rest-api.md 6.4; daemons-and-config.md 11). */
export function statisticsRoutes(parts: StatisticsRouteParts): OperationHandlers {
  const { home } = parts;
  const answer = (per: string, read: () => readonly unknown[]): ApiResult => {
    const items = fromFile(read);
    return listResult({ items, total: items.length, messages: statisticsMessages(per) });
  };
  return {
    getManagerStats: (request) =>
      answer('', () => readHourStatistics(home, request.parameters.date ?? localDate(parts.now()))),
    getManagerStatsHourly: () => answer(' per hour', () => [readHourlyAverages(home)]),
    getManagerStatsWeekly: () => answer(' per week', () => readWeeklyAverages(home)),
    getManagerStatsAnalysisd: () => answer('', () => [readStateFile(home, ANALYSISD_STATE)]),
    getManagerStatsRemoted: () => answer('', () => [readStateFile(home, REMOTED_STATE)]),
    getManagerDaemonsStats: (request) => daemonStatistics(parts, request),
  };
}

function statisticsMessages(per: string): ListMessages {
  return {
    all: `Statistical information${per} for each node was successfully read`,
    some: `Could not read statistical information${per} for some nodes`,
    none: `Could not read statistical information${per} for any node`,
  };
}

/** @throws ApiError 1308 or 1309 */
function fromFile<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatisticsFileError) throw new ApiError(error.code, { extra: error.path });
    throw error;
  }
}

async function daemonStatistics(
  parts: StatisticsRouteParts,
  request: ApiRequest<'getManagerDaemonsStats'>,
): Promise<ApiResult> {
  const { daemonNames } = parts.settings();
  const wanted: readonly string[] = request.parameters.daemons_list ?? USUAL_DAEMONS;
  const failed: FailedItem[] = [];
  const chosen = REPORTING_DAEMONS.filter((one) => wanted.includes(one));
  // At once: several that do not answer take no longer than one.
  const reports = await Promise.all(
    chosen.map(async (daemon) => {
      const name = shownDaemon(daemon, daemonNames);
      try {
        const { timestamp, uptime, metrics } = report.parse(await ask(parts, daemon, request.signal));
        return [{ timestamp: isoTime(timestamp), uptime: isoTime(uptime), name, metrics }];
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        parts.logger.debug(`No statistics of ${daemon}: ${error.message}`);
        failed.push({ id: name, error: new ApiError(1121) });
        return [];
      }
    }),
  );
  const items = reports.flat();
  const messages = {
    all: 'Statistical information for each daemon was successfully read',
    some: 'Could not read statistical information for some daemons',
    none: 'Could not read statistical information for any daemon',
  };
  return listResult({ items, total: items.length, failed, messages });
}

/** @throws BusError when the daemon does not answer */
async function ask(parts: StatisticsRouteParts, daemon: ReportingDaemon, signal: AbortSignal) {
  const { analysisd, remoted, db, monitord, execd } = parts;
  switch (daemon) {
    case 'svc-analysisd':
      return analysisd.call('statistics.read', {}, { signal });
    case 'svc-remoted':
      return remoted.call('statistics.read', {}, { signal });
    case 'svc-db':
      return db.call('statistics.read', {}, { signal });
    case 'svc-monitord':
      return monitord.call('statistics.read', {}, { signal });
    case 'svc-execd':
      return execd.call('statistics.read', {}, { signal });
  }
}

/** The day in the manager's time zone, as the files of the statistics are named. */
function localDate(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}
