import type { SyscheckConfig } from '../../config/sections/syscheck.js';
import type { ReadLimits } from './entry-reader.js';
import type { Variables } from './expand-variable.js';
import { FileSystems } from './file-systems.js';
import { IgnoreList, NodiffList } from './path-list.js';
import { readPrefilter } from './prefilter.js';
import { type WatchedDirectories, watchedDirectories } from './watched-directories.js';

const MEGABYTE = 1024 * 1024;

/** Internal options a scan goes by. */
export type ScanOptions = {
  /** `syscheck.default_max_depth`. */
  readonly defaultMaxDepth: number;
  /** `syscheck.file_max_size`, megabytes. */
  readonly fileMaxSize: number;
};

/** What a scan needs to know of `<syscheck>`. */
export type ScanSettings = {
  readonly limits: ReadLimits;
  readonly ignore: IgnoreList;
  readonly nodiff: NodiffList;
  readonly fileSystems: FileSystems;
  readonly maxFilesPerSecond: number;
  /** As the file system is now; to be asked again before every scan. */
  directories(): Promise<WatchedDirectories>;
};

/** Parts of `<syscheck>` that say what a scan sees. */
export type ScanConfig = Pick<
  SyscheckConfig,
  | 'directories'
  | 'ignore'
  | 'nodiff'
  | 'diff'
  | 'skip_nfs'
  | 'skip_dev'
  | 'skip_sys'
  | 'skip_proc'
  | 'max_files_per_second'
  | 'prefilter_cmd'
>;

/** @throws PatternError for an `<ignore>` or `<nodiff>` that is no pattern, PrefilterError */
export function scanSettings(config: ScanConfig, options: ScanOptions, variables: Variables): ScanSettings {
  const defaults = { recursionLevel: options.defaultMaxDepth, diffSizeLimit: config.diff.file_size.limit };
  const { prefilter_cmd: command } = config;
  const prefilter = command === undefined || config.directories.length === 0 ? undefined : readPrefilter(command);
  return {
    limits: { maxFileBytes: options.fileMaxSize * MEGABYTE, prefilter },
    ignore: new IgnoreList(config.ignore, variables),
    nodiff: new NodiffList([...config.nodiff, ...config.diff.nodiff], variables),
    fileSystems: new FileSystems({
      nfs: config.skip_nfs,
      dev: config.skip_dev,
      sys: config.skip_sys,
      proc: config.skip_proc,
    }),
    maxFilesPerSecond: config.max_files_per_second,
    directories: () => watchedDirectories(config.directories, defaults, variables),
  };
}
