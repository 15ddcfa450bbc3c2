import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import {
  attributed,
  type Field,
  flatList,
  group,
  ignored,
  list,
  optionalGroup,
  scalar,
  type Values,
} from '../field.js';
import { parseScanDays, parseScanTime } from '../scan-times.js';
import { parseDigits, parseDuration, parseKilobytes, splitList } from '../units.js';
import { freeText, integer, oneOf, optionalText, type Range, readYesNo, requireText, yesNo } from '../value-fields.js';

/** One attribute of `<directories>`. Order counts: `check_all="no" check_md5sum="yes"` is md5 only. */
export type DirectoryOption =
  | { readonly name: DirectorySwitch; readonly value: boolean }
  | { readonly name: 'restrict'; readonly value: string }
  | { readonly name: 'tags'; readonly value: readonly string[] }
  | { readonly name: 'recursion_level'; readonly value: number }
  /** Kilobytes. */
  | { readonly name: 'diff_size_limit'; readonly value: number };

/** Yes/no attributes of `<directories>`. */
const DIRECTORY_SWITCHES = [
  'check_all',
  'check_sum',
  'check_md5sum',
  'check_sha1sum',
  'check_sha256sum',
  'check_size',
  'check_owner',
  'check_group',
  'check_perm',
  'check_mtime',
  'check_inode',
  'check_attrs',
  'realtime',
  'whodata',
  'report_changes',
  'follow_symbolic_link',
] as const;
/** One of them. */
export type DirectorySwitch = (typeof DIRECTORY_SWITCHES)[number];

/** One monitored path as written, with its attributes from left to right. */
export type SyscheckDirectory = { readonly path: string; readonly options: readonly DirectoryOption[] };

/** A path, or a pattern of the simple match language with `type="sregex"`. */
export type PathOrPattern = { readonly kind: 'path' | 'sregex'; readonly value: string };

/** Most paths of one `<directories>` element; the rest is dropped with a warning. */
const MOST_PATHS = 64;
const MOST_RECURSION = 320;
const PATH_LIST_ATTRIBUTES = ['type'];

/** A value that is not right keeps the default with a warning (integrity-and-inventory.md 2.1). */
function lenientInteger(
  initial: number,
  range: Range,
  parse: (text: string) => number | undefined = (text) => parseDigits(text),
): Field<number> {
  return {
    initial,
    attributes: [],
    fold(previous, element, report) {
      const value = parse(element.content);
      if (value === undefined || value < (range.min ?? 0) || value > (range.max ?? Number.MAX_SAFE_INTEGER)) {
        report.warn(element, `(1235): Invalid value for element '${element.name}': ${element.content}.`);
        return previous;
      }
      return value;
    },
  };
}

function lenientYesNo(initial: boolean): Field<boolean> {
  return {
    initial,
    attributes: [],
    fold(previous, element, report) {
      if (element.content !== 'yes' && element.content !== 'no') {
        report.warn(element, `(1235): Invalid value for element '${element.name}': ${element.content}.`);
        return previous;
      }
      return element.content === 'yes';
    },
  };
}

const fileLimit = (): Field<{ readonly enabled: boolean; readonly entries: number }> =>
  group({ enabled: yesNo(true), entries: integer(100_000) });

const SYSCHECK_FIELDS = {
  disabled: yesNo(false),
  directories: flatList(readDirectories, 'own'),
  /** Seconds. */
  frequency: integer(43_200, { min: 1 }),
  scan_time: scalar<string | undefined>(undefined, (element, report) => {
    if (parseScanTime(element.content) === undefined) throw report.invalidTime(element);
    return element.content;
  }),
  scan_day: scalar<string | undefined>(undefined, (element, report) => {
    if (parseScanDays(element.content) === undefined) throw report.invalidDay(element);
    return element.content;
  }),
  scan_on_start: yesNo(true),
  ignore: flatList(readPathOrPattern, PATH_LIST_ATTRIBUTES),
  nodiff: flatList(readPathOrPattern, PATH_LIST_ATTRIBUTES),
  skip_nfs: yesNo(true),
  skip_dev: yesNo(true),
  skip_sys: yesNo(true),
  skip_proc: yesNo(true),
  file_limit: fileLimit(),
  registry_limit: fileLimit(),
  database: scalar<'disk' | 'memory'>('disk', (element) => (element.content === 'memory' ? 'memory' : 'disk')),
  max_eps: lenientInteger(50, { max: 1_000_000 }),
  max_files_per_second: integer(0),
  process_priority: integer(10, { min: -20, max: 19 }),
  prefilter_cmd: optionalText(),
  allow_remote_prefilter_cmd: yesNo(false),
  synchronization: group(
    {
      enabled: lenientYesNo(true),
      interval: lenientInteger(300, { min: 1 }, parseDuration),
      max_interval: lenientInteger(3600, { min: 1 }, parseDuration),
      response_timeout: lenientInteger(30, {}, parseDuration),
      queue_size: lenientInteger(16_384, { min: 2, max: 1_000_000 }),
      thread_pool: lenientInteger(1, { min: 1 }),
      max_eps: lenientInteger(10, { max: 1_000_000 }),
      registry_enabled: lenientYesNo(true),
    },
    'warn',
  ),
  whodata: group(
    {
      provider: oneOf('audit', ['audit', 'ebpf']),
      restart_audit: yesNo(true),
      audit_key: scalar<readonly string[]>([], (element) => splitList(element.content)),
      startup_healthcheck: yesNo(true),
      queue_size: integer(16_384, { min: 10, max: 1_048_576 }),
    },
    'warn',
  ),
  diff: group(
    {
      disk_quota: group({ enabled: yesNo(true), limit: kilobytes(1_048_576) }, 'warn'),
      file_size: group({ enabled: yesNo(true), limit: kilobytes(51_200) }, 'warn'),
      nodiff: flatList(readPathOrPattern, PATH_LIST_ATTRIBUTES),
    },
    'warn',
  ),
  alert_new_files: yesNo(true),
  auto_ignore: attributed(
    { enabled: false, frequency: 10, timeframe: 3600 },
    ['frequency', 'timeframe'],
    (element, report) => ({
      enabled: readYesNo(element, report),
      frequency: integerAttribute(element, 'frequency', 10, { min: 1, max: 99 }, report),
      timeframe: integerAttribute(element, 'timeframe', 3600, { min: 0, max: 43_200 }, report),
    }),
  ),
  restart_audit: yesNo(true),
  remove_old_diff: ignored(),
  windows_registry: ignored(),
  registry_ignore: ignored(),
  registry_ignore_value: ignored(),
  registry_nodiff: ignored(),
  windows_audit_interval: ignored(),
};

/** `<syscheck>` as read. */
export type SyscheckConfig = Values<typeof SYSCHECK_FIELDS>;

/** `<syscheck>` (integrity-and-inventory.md 2). Undefined without a block: integrity monitoring is then off. */
export const SYSCHECK = optionalGroup(SYSCHECK_FIELDS, 'warn');

/** What holds without a block; integrity monitoring is off all the same. */
export const NO_SYSCHECK: SyscheckConfig = { ...group(SYSCHECK_FIELDS).initial, disabled: true };

const ROOTCHECK_FIELDS = {
  disabled: yesNo(false),
  /** Seconds. */
  frequency: integer(43_200, { min: 1 }),
  base_directory: freeText(),
  rootkit_files: optionalText(),
  rootkit_trojans: optionalText(),
  system_audit: list(requireText),
  windows_audit: list(requireText),
  windows_apps: list(requireText),
  windows_malware: list(requireText),
  scanall: yesNo(false),
  readall: yesNo(false),
  skip_nfs: yesNo(false),
  ignore: flatList(readPathOrPattern, PATH_LIST_ATTRIBUTES),
  check_dev: yesNo(true),
  check_if: yesNo(true),
  check_pids: yesNo(true),
  check_ports: yesNo(true),
  check_sys: yesNo(true),
  check_files: yesNo(false),
  check_trojans: yesNo(false),
  check_unixaudit: yesNo(false),
  check_winapps: yesNo(false),
  check_winaudit: yesNo(false),
  check_winmalware: yesNo(false),
};

/** `<rootcheck>` as read. */
export type RootcheckConfig = Values<typeof ROOTCHECK_FIELDS>;

/** `<rootcheck>` (integrity-and-inventory.md 9.1). Undefined without a block: off. */
export const ROOTCHECK = optionalGroup(ROOTCHECK_FIELDS);

/** What holds without a block; the checks for rootkits are off all the same. */
export const NO_ROOTCHECK: RootcheckConfig = { ...group(ROOTCHECK_FIELDS).initial, disabled: true };

function readDirectories(element: XmlElement, report: ConfigReport): SyscheckDirectory[] {
  const paths = splitList(element.content);
  if (paths.length > MOST_PATHS) {
    report.warn(
      element,
      `(6930): More than ${String(MOST_PATHS)} paths in one 'directories' element; the rest is not monitored.`,
    );
    paths.length = MOST_PATHS;
  }
  const options = readDirectoryOptions(element, report);
  return options === undefined ? [] : paths.map((path) => ({ path, options }));
}

/** Undefined when a bad yes/no attribute drops the whole element (integrity-and-inventory.md 2.2). */
function readDirectoryOptions(element: XmlElement, report: ConfigReport): DirectoryOption[] | undefined {
  const options: DirectoryOption[] = [];
  for (const { name, value } of element.attributes) {
    const attribute = DIRECTORY_SWITCHES.find((known) => known === name);
    if (attribute !== undefined) {
      if (value !== 'yes' && value !== 'no') {
        report.warn(
          element,
          `(6924): Invalid option '${value}' for attribute '${name}'. The paths '${element.content}' will not be monitored.`,
        );
        return undefined;
      }
      options.push({ name: attribute, value: value === 'yes' });
    } else if (name === 'restrict') {
      options.push({ name, value });
    } else if (name === 'tags') {
      options.push({ name, value: splitList(value.replace(/[ !:]/g, '')) });
    } else if (name === 'recursion_level') {
      const level = parseDigits(value);
      if (level === undefined) {
        throw report.invalidAttribute(element, value);
      }
      if (level > MOST_RECURSION) {
        report.warn(
          element,
          `Value ${value} of attribute 'recursion_level' is above ${String(MOST_RECURSION)}; the default is used.`,
        );
      } else {
        options.push({ name, value: level });
      }
    } else if (name === 'diff_size_limit') {
      const limit = parseKilobytes(value);
      if (limit === undefined) {
        throw report.invalidAttribute(element, value);
      }
      options.push({ name, value: limit });
    } else {
      report.warn(element, `(6701): Unknown attribute '${name}' for directory option.`);
    }
  }
  return options;
}

function readPathOrPattern(element: XmlElement, report: ConfigReport): PathOrPattern[] {
  const type = element.attributes.find(({ name }) => name === 'type')?.value;
  if (type !== undefined && type !== 'sregex') {
    throw report.invalidAttribute(element, type);
  }
  if (type === 'sregex') {
    return [{ kind: 'sregex', value: requireText(element, report) }];
  }
  return splitList(requireText(element, report)).map((value) => ({ kind: 'path', value }));
}

function kilobytes(initial: number): Field<number> {
  return scalar(initial, (element, report) => {
    const value = parseKilobytes(requireText(element, report));
    if (value === undefined) {
      throw report.invalidValue(element);
    }
    return value;
  });
}

function integerAttribute(
  element: XmlElement,
  name: string,
  initial: number,
  range: Required<Range>,
  report: ConfigReport,
): number {
  const text = element.attributes.find((attribute) => attribute.name === name)?.value;
  if (text === undefined) {
    return initial;
  }
  const value = parseDigits(text);
  if (value === undefined || value < range.min || value > range.max) {
    throw report.invalidAttribute(element, text);
  }
  return value;
}
