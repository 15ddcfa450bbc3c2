import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { attributed, blocks, list, scalar, type Values } from '../field.js';
import { parseDigits, parseSize, splitList } from '../units.js';
import {
  duration,
  freeText,
  oneOf,
  optionalText,
  readPattern,
  readYesNo,
  requireText,
  yesNo,
} from '../value-fields.js';

/** Log formats without an argument (daemons-and-config.md 6.1). */
const LOG_FORMATS = [
  'syslog',
  'generic',
  'apache',
  'squid',
  'iis',
  'snort-fast',
  'json',
  'snort-full',
  'nmapg',
  'mysql_log',
  'postgresql_log',
  'mssql_log',
  'ossecalert',
  'djb-multilog',
  'syslog-pipe',
  'multi-line-regex',
  'audit',
  'command',
  'full_command',
  'journald',
  'macos',
  'eventlog',
  'eventchannel',
] as const;

/** A log format; `multi-line` joins a fixed number of lines. */
export type LogFormat =
  | { readonly name: (typeof LOG_FORMATS)[number] }
  | { readonly name: 'multi-line'; readonly lines: number };

/** A pattern of `<ignore>` or `<restrict>`. */
export type LinePattern = { readonly type: 'pcre2' | 'osregex' | 'osmatch'; readonly pattern: string };

/** A condition of `<filter>` on one journald field. */
export type JournaldFilter = { readonly field: string; readonly ignoreIfMissing: boolean; readonly pattern: string };

/** How lines are joined by `multi-line-regex`; the timeout is in seconds. */
export type MultilineRegex = {
  readonly pattern: string;
  readonly match: 'start' | 'all' | 'end';
  readonly replace: 'no-replace' | 'none' | 'wspace' | 'tab';
  readonly timeout: number;
};

/** Inner XML or text of `<query>`, for channels of other systems. */
export type LogQuery = { readonly type: string | undefined; readonly level: string | undefined; readonly text: string };

const DEFAULT_MAX_SIZE = 10 * 1024 ** 2;
const MOST_MAX_SIZE = 2 * 1024 ** 3;
const MULTILINE_TIMEOUT = { least: 1, initial: 5, most: 120 };

const LOCALFILE_FIELDS = {
  log_format: scalar<LogFormat | undefined>(undefined, readLogFormat),
  location: optionalText(),
  command: optionalText(),
  /** Seconds between two runs of a command. */
  frequency: scalar(360, (element, report) => {
    const value = requireText(element, report);
    const seconds = value === 'hourly' ? 3600 : value === 'daily' ? 86_400 : parseDigits(value);
    if (seconds === undefined || seconds < 1) {
      throw report.invalidValue(element);
    }
    return seconds;
  }),
  alias: optionalText(),
  /** `maxSize` in bytes: with more unread, reading goes on at the end. */
  'only-future-events': attributed({ enabled: true, maxSize: DEFAULT_MAX_SIZE }, ['max-size'], (element, report) => ({
    enabled: readYesNo(element, report),
    maxSize: readMaxSize(element, report),
  })),
  /** `agent` (the event stream) and names of `<socket>` blocks. */
  target: scalar<readonly string[]>(['agent'], (element, report) => splitList(requireText(element, report))),
  out_format: list(
    (element, report) => ({ target: attribute(element, 'target'), format: requireText(element, report) }),
    ['target'],
  ),
  label: list(
    (element, report) => {
      const key = attribute(element, 'key');
      if (key === undefined || key === '') {
        throw report.missingValue(element, 'key');
      }
      return { key, value: requireText(element, report) };
    },
    ['key'],
  ),
  ignore: list(readLinePattern, ['type']),
  restrict: list(readLinePattern, ['type']),
  exclude: optionalText(),
  /** Seconds; files not written for longer are left out. */
  age: duration(0),
  ignore_binaries: yesNo(false),
  /** Seconds. */
  reconnect_time: duration(5),
  multiline_regex: attributed<MultilineRegex | undefined>(undefined, ['match', 'replace', 'timeout'], readMultiline),
  filter: list<JournaldFilter>(
    (element, report) => {
      const field = attribute(element, 'field');
      if (field === undefined || field === '') {
        throw report.missingValue(element, 'field');
      }
      const ignoreIfMissing = oneOfAttribute(element, 'ignore_if_missing', ['no', 'yes'], report) === 'yes';
      return { field, ignoreIfMissing, pattern: readPattern('pcre2', element, report) };
    },
    ['field', 'ignore_if_missing'],
  ),
  query: attributed<LogQuery | undefined>(undefined, ['type', 'level'], (element) => ({
    type: attribute(element, 'type'),
    level: attribute(element, 'level'),
    text: element.content,
  })),
};

type RawLocalfile = Values<typeof LOCALFILE_FIELDS>;

/** One `<localfile>` block. `location` is '' for a command, `command` is '' for everything else. */
export type LocalfileConfig = Omit<RawLocalfile, 'log_format' | 'location' | 'command'> & {
  readonly log_format: LogFormat;
  readonly location: string;
  readonly command: string;
  /** For messages about this block. */
  readonly file: string;
  readonly line: number;
};

/** `<localfile>` blocks (daemons-and-config.md 6.1). */
export const LOCALFILE = blocks(LOCALFILE_FIELDS, finishLocalfile);

function finishLocalfile(raw: RawLocalfile, block: XmlElement, report: ConfigReport): LocalfileConfig {
  const { log_format } = raw;
  if (log_format === undefined) {
    throw report.error(block, 1901, "A 'localfile' has no 'log_format'.");
  }
  const isCommand = log_format.name === 'command' || log_format.name === 'full_command';
  if (isCommand && raw.command === undefined) {
    throw report.missingValue(block, 'command');
  }
  if (!isCommand && raw.location === undefined) {
    throw report.error(block, 1902, "A 'localfile' has no 'location'.");
  }
  if (log_format.name === 'multi-line-regex' && raw.multiline_regex === undefined) {
    throw report.missingValue(block, 'multiline_regex');
  }
  const place = { file: report.file, line: block.line };
  return { ...raw, log_format, location: raw.location ?? '', command: raw.command ?? '', ...place };
}

function readLogFormat(element: XmlElement, report: ConfigReport): LogFormat {
  const value = requireText(element, report);
  const lines = /^multi-line: ?(\d{1,4})$/.exec(value);
  if (lines !== null && Number(lines[1]) > 0) {
    return { name: 'multi-line', lines: Number(lines[1]) };
  }
  const name = LOG_FORMATS.find((format) => format === value);
  if (name === undefined) {
    throw report.invalidValue(element);
  }
  return { name };
}

function readMaxSize(element: XmlElement, report: ConfigReport): number {
  const value = attribute(element, 'max-size');
  if (value === undefined) {
    return DEFAULT_MAX_SIZE;
  }
  const bytes = parseSize(value);
  if (bytes === undefined || bytes < 1 || bytes > MOST_MAX_SIZE) {
    throw report.invalidAttribute(element, value);
  }
  return bytes;
}

function readLinePattern(element: XmlElement, report: ConfigReport): LinePattern {
  const type = attribute(element, 'type')?.toLowerCase() ?? 'pcre2';
  if (type !== 'pcre2' && type !== 'osregex' && type !== 'osmatch') {
    throw report.invalidAttribute(element, type);
  }
  return { type, pattern: readPattern(type, element, report) };
}

function readMultiline(element: XmlElement, report: ConfigReport): MultilineRegex {
  const timeoutText = attribute(element, 'timeout');
  const timeout = timeoutText === undefined ? MULTILINE_TIMEOUT.initial : parseDigits(timeoutText);
  if (timeout === undefined || timeout < MULTILINE_TIMEOUT.least || timeout > MULTILINE_TIMEOUT.most) {
    throw report.invalidAttribute(element, timeoutText ?? '');
  }
  return {
    pattern: readPattern('pcre2', element, report),
    match: oneOfAttribute(element, 'match', ['start', 'all', 'end'], report),
    replace: oneOfAttribute(element, 'replace', ['no-replace', 'none', 'wspace', 'tab'], report),
    timeout,
  };
}

/** The first word is the default. */
function oneOfAttribute<W extends string>(
  element: XmlElement,
  name: string,
  words: readonly [W, ...W[]],
  report: ConfigReport,
): W {
  const value = attribute(element, name);
  if (value === undefined) {
    return words[0];
  }
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) {
    throw report.invalidAttribute(element, value);
  }
  return word;
}

function attribute(element: XmlElement, name: string): string | undefined {
  return element.attributes.find((candidate) => candidate.name === name)?.value;
}

/** `<socket>` blocks: unix sockets that get log lines. */
export const SOCKET = blocks(
  {
    name: optionalText(),
    location: optionalText(),
    mode: oneOf('udp', ['udp', 'tcp']),
    prefix: freeText(),
  },
  (raw, block, report) => {
    const { name, location } = raw;
    if (name === undefined) {
      throw report.missingValue(block, 'name');
    }
    if (name === 'agent') {
      // The word stands for the event stream in `target`.
      throw report.error(block, 1235, `Invalid value for element 'name': ${name}.`);
    }
    if (location === undefined) {
      throw report.missingValue(block, 'location');
    }
    return { ...raw, name, location, file: report.file, line: block.line };
  },
);
