import type { DirectoryOption, DirectorySwitch } from '../../config/sections/syscheck.js';
import { ALL_CHECKS, ALL_HASHES, checkNames, CHECKS } from '../checks.js';
import { PathPattern } from './path-list.js';

/** How changes in a directory are noticed. */
export type WatchMode = 'scheduled' | 'realtime' | 'whodata';

/** A configured path with what its attributes come to (integrity-and-inventory.md 2.2). */
export type WatchedDirectory = {
  /** Absolute byte string without a `/` at the end: what is walked and reported. */
  readonly path: string;
  /** As configured, where `path` is what a followed link points to. */
  readonly link?: string | undefined;
  /** The wildcard it comes from. */
  readonly wildcard?: string | undefined;
  /** Bits of `CHECKS`. */
  readonly checks: number;
  readonly mode: WatchMode;
  readonly reportChanges: boolean;
  readonly followLink: boolean;
  /** Files whose path does not match are left out. */
  readonly restrict?: PathPattern | undefined;
  /** Byte string, joined by commas; empty: none. */
  readonly tags: string;
  /** 0: the files directly inside alone. */
  readonly recursionLevel: number;
  /** Kilobytes. */
  readonly diffSizeLimit: number;
};

/** What the attributes of `<directories>` say. */
export type DirectoryTraits = Omit<WatchedDirectory, 'path' | 'link' | 'wildcard'>;

/** What attributes that are not there stand for. */
export type TraitDefaults = {
  /** `syscheck.default_max_depth`. */
  readonly recursionLevel: number;
  /** Kilobytes: `<diff><file_size><limit>`. */
  readonly diffSizeLimit: number;
};

const SWITCHED_CHECKS: Readonly<Partial<Record<DirectorySwitch, number>>> = {
  check_all: ALL_CHECKS,
  check_sum: ALL_HASHES,
  check_md5sum: CHECKS.hash_md5,
  check_sha1sum: CHECKS.hash_sha1,
  check_sha256sum: CHECKS.hash_sha256,
  check_size: CHECKS.size,
  check_owner: CHECKS.owner,
  check_group: CHECKS.group,
  check_perm: CHECKS.permissions,
  check_mtime: CHECKS.mtime,
  check_inode: CHECKS.inode,
};

/**
 * Takes attributes from left to right: `check_all="no" check_md5sum="yes"` is md5 alone.
 * @throws PatternError when `restrict` is no pattern
 */
export function directoryTraits(options: readonly DirectoryOption[], defaults: TraitDefaults): DirectoryTraits {
  let checks = ALL_CHECKS;
  const switches = new Map<DirectorySwitch, boolean>();
  let restrict: PathPattern | undefined;
  let tags = '';
  let { recursionLevel, diffSizeLimit } = defaults;
  for (const option of options) {
    switch (option.name) {
      case 'restrict':
        restrict = new PathPattern(option.value);
        break;
      case 'tags':
        tags = Buffer.from(option.value.join(','), 'utf8').toString('latin1');
        break;
      case 'recursion_level':
        recursionLevel = option.value;
        break;
      case 'diff_size_limit':
        diffSizeLimit = option.value;
        break;
      default: {
        const bits = SWITCHED_CHECKS[option.name] ?? 0;
        checks = option.value ? checks | bits : checks & ~bits;
        switches.set(option.name, option.value);
      }
    }
  }
  const on = (name: DirectorySwitch): boolean => switches.get(name) === true;
  return {
    checks,
    mode: on('whodata') ? 'whodata' : on('realtime') ? 'realtime' : 'scheduled',
    reportChanges: on('report_changes'),
    followLink: on('follow_symbolic_link'),
    restrict,
    tags,
    recursionLevel,
    diffSizeLimit,
  };
}

/** Its options as the log of the start shows them: joined by ` | `, in this order (integrity-and-inventory.md 2.2). */
export function optionText({ checks, reportChanges, followLink, mode }: WatchedDirectory): string {
  const names: string[] = checkNames(checks);
  if (reportChanges) names.push('report_changes');
  if (followLink) names.push('follow_symbolic_link');
  return [...names, mode].join(' | ');
}
