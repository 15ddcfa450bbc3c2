import { byteString } from '../config/pattern-text.js';
import type { PathOrPattern, RootcheckConfig } from '../config/sections/syscheck.js';
import { RootcheckIgnore } from './rootcheck-ignore.js';

/** Checks of rootcheck in the order in which a scan makes them (integrity-and-inventory.md 9.2). */
export const ROOTCHECK_CHECKS = ['files', 'trojans', 'audit', 'dev', 'sys', 'pids', 'ports', 'if'] as const;
/** One of them. */
export type RootcheckCheck = (typeof ROOTCHECK_CHECKS)[number];

/** What a scan goes by: plain data, which a thread can be given. */
export type RootcheckSettings = {
  /** Those that are on, in the order of `ROOTCHECK_CHECKS`. */
  readonly checks: readonly RootcheckCheck[];
  /** Directory that stands for `/`: a byte string without `/` at its end, so that the real root is empty. */
  readonly base: string;
  /** Absolute paths of lists. */
  readonly rootkitFiles: string | undefined;
  readonly rootkitTrojans: string | undefined;
  readonly systemAudit: readonly string[];
  readonly ignore: readonly PathOrPattern[];
  readonly scanAll: boolean;
  readonly readAll: boolean;
  readonly skipNfs: boolean;
  /** Pause between two groups of pids or ports, milliseconds (`rootcheck.sleep`). */
  readonly sleepMs: number;
};

/**
 * What `<rootcheck>` asks for (integrity-and-inventory.md 9.1).
 * @param config undefined without a block
 * @param resolve makes the path of a list absolute: those of the configuration are relative to the home
 * @returns undefined where rootcheck is off
 * @throws PatternError for an `<ignore>` that is no pattern
 */
export function rootcheckSettings(
  config: RootcheckConfig | undefined,
  resolve: (path: string) => string,
  sleepMs: number,
): RootcheckSettings | undefined {
  if (config === undefined || config.disabled) return undefined;
  const list = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(path));
  const systemAudit = config.system_audit.map(resolve);
  const on: Record<RootcheckCheck, boolean> = {
    files: config.check_files,
    trojans: config.check_trojans,
    audit: config.check_unixaudit || systemAudit.length > 0,
    dev: config.check_dev,
    sys: config.check_sys,
    pids: config.check_pids,
    ports: config.check_ports,
    if: config.check_if,
  };
  // Whoever changes the configuration hears of a wrong pattern, not the scan.
  new RootcheckIgnore(config.ignore);
  return {
    checks: ROOTCHECK_CHECKS.filter((check) => on[check]),
    base: byteString(config.base_directory).replace(/\/+$/, ''),
    rootkitFiles: list(config.rootkit_files),
    rootkitTrojans: list(config.rootkit_trojans),
    systemAudit,
    ignore: config.ignore,
    scanAll: config.scanall,
    readAll: config.readall,
    skipNfs: config.skip_nfs,
    sleepMs,
  };
}
