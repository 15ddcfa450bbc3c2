import { isAbsolute } from 'node:path';
import { loadHostConfig, type SharedState } from '../../lib/agents/load-host-config.js';
import type { ConfigWarning } from '../../lib/config/config-error.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import { parseScanDays, parseScanTime } from '../../lib/config/scan-times.js';
import {
  NO_ROOTCHECK,
  NO_SYSCHECK,
  type RootcheckConfig,
  type SyscheckConfig,
} from '../../lib/config/sections/syscheck.js';
import { PrefilterError } from '../../lib/fim/scan/prefilter.js';
import { type ScanSettings, scanSettings } from '../../lib/fim/scan/scan-settings.js';
import type { Home } from '../../lib/home/home.js';
import { type HomeRole, readHomeRecord } from '../../lib/home/home-record.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import { type RootcheckSettings, rootcheckSettings } from '../../lib/rootcheck/rootcheck-settings.js';
import type { ScanTimes } from './scan/scan-schedule.js';

/** With a time or a day of its own, a scan comes by the calendar: this many seconds are only the last resort. */
const WEEK = 604_800;

/** What svc-syscheckd goes by. */
export type SyscheckdSettings = {
  readonly role: HomeRole;
  readonly syscheck: SyscheckConfig;
  readonly rootcheck: RootcheckConfig;
  readonly options: InternalOptions<'syscheck' | 'rootcheck'>;
  /** Whether files are watched: there is a block, it is not disabled, and it names directories. */
  readonly watchesFiles: boolean;
  readonly scan: ScanSettings;
  readonly times: ScanTimes;
  /** Most files that are recorded; 0 is no limit. */
  readonly fileLimit: number;
  /** What a scan for rootkits goes by; undefined where there is none. */
  readonly rootcheckScan: RootcheckSettings | undefined;
  readonly warnings: readonly ConfigWarning[];
  /** What became of the agent.conf of the manager; nothing on a server. */
  readonly shared: SharedState;
};

/** An `<ignore>` or `<nodiff>` that is no pattern, or a `<prefilter_cmd>` that cannot be run. */
class SyscheckSettingsError extends Error {
  override readonly name = 'SyscheckSettingsError';
  readonly code = 'bad_settings';
}

/**
 * Reads what svc-syscheckd needs of the configuration (integrity-and-inventory.md 2, 9.1): on an agent, that of the
 * manager laid over that of the host.
 * @throws ConfigError with file and line, SyscheckSettingsError
 */
export function loadSyscheckdSettings(home: Home): SyscheckdSettings {
  const config = loadHostConfig(home, ['syscheck', 'rootcheck']);
  const options = loadInternalOptions(home, ['syscheck', 'rootcheck']);
  const syscheck = config.syscheck ?? NO_SYSCHECK;
  const { scan_time: time, scan_day: days, file_limit: limit } = syscheck;
  return {
    role: readHomeRecord(home).role,
    syscheck,
    rootcheck: config.rootcheck ?? NO_ROOTCHECK,
    options,
    watchesFiles: !syscheck.disabled && syscheck.directories.length > 0,
    scan: checked('syscheck', () =>
      scanSettings(
        syscheck.disabled ? { ...syscheck, directories: [] } : syscheck,
        {
          defaultMaxDepth: options.get('syscheck.default_max_depth'),
          fileMaxSize: options.get('syscheck.file_max_size'),
        },
        process.env,
      ),
    ),
    times: {
      frequency: time === undefined && days === undefined ? syscheck.frequency : WEEK,
      time: time === undefined ? undefined : parseScanTime(time),
      days: days === undefined ? undefined : parseScanDays(days),
    },
    fileLimit: limit.enabled ? limit.entries : 0,
    rootcheckScan: checked('rootcheck', () =>
      rootcheckSettings(
        config.rootcheck,
        (path) => (isAbsolute(path) ? path : home.path(path)),
        options.get('rootcheck.sleep'),
      ),
    ),
    warnings: [...config.warnings, ...options.warnings],
    shared: config.shared,
  };
}

/** @throws SyscheckSettingsError for a pattern that is none */
function checked<T>(section: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof PrefilterError) throw new SyscheckSettingsError(error.message, { cause: error });
    if (!(error instanceof PatternError)) throw error;
    throw new SyscheckSettingsError(`<${section}>: a pattern of <ignore> or <nodiff> is not right: ${error.message}`, {
      cause: error,
    });
  }
}
