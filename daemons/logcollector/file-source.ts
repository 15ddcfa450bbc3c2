import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { hasWildcard } from '../../lib/files/name-pattern.js';
import type { Logger } from '../../lib/log/logger.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import { auditLines } from './formats/audit.js';
import { ossecAlert, snortFull } from './formats/block-logs.js';
import { datedLines, mysqlLine } from './formats/database-logs.js';
import { djbMultilog } from './formats/djb-multilog.js';
import { jsonLine } from './formats/json-line.js';
import { fixedLines, regexLines } from './formats/multi-line.js';
import { nmapLine } from './formats/nmap.js';
import { SingleLine } from './formats/single-line.js';
import { LineFilter } from './line-filter.js';
import type { RecordAssembler } from './log-record.js';
import { pathMatcher } from './path-pattern.js';
import { strftime } from './strftime.js';

/** Of a line that is no event, so much is shown. */
const MAX_SHOWN_BYTES = 256;

/** What sources need to know of the host they run on. */
export type HostFacts = {
  readonly hostname: string;
  /** As of now. */
  readonly address: () => string;
  readonly now: () => Date;
};

/** Where a `<localfile>` block stands, for messages about it. */
export function describeBlock({ file, line }: LocalfileConfig): string {
  return `localfile in ${file}, line ${String(line)}`;
}

/** The same text for blocks that mean the same, wherever they stand. */
export function meaningOf(config: LocalfileConfig): string {
  return JSON.stringify({ ...config, file: '', line: 0 });
}

/** A `<localfile>` block that cannot be used: names file and line. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  constructor(config: LocalfileConfig, text: string) {
    super(`${describeBlock(config)}: ${text}`);
  }
}

/** A `<localfile>` block that names files, made ready. */
export type FileSource = {
  /** The same for blocks that mean the same; what is open under it goes on over a reload. */
  readonly key: string;
  readonly config: LocalfileConfig;
  /** Absolute path or pattern as of now: dates in it are put in. */
  readonly pattern: (now: Date) => string;
  /** The location of events of a file; relative ones stay as they are written. */
  readonly locationOf: (path: string) => string;
  /** Whether `<exclude>` takes a path out, as of a time: it may have dates, too. */
  readonly excludes: (path: string, now: Date) => boolean;
  readonly filter: LineFilter;
  /** Queue id of the events. */
  readonly queue: string;
  readonly makeAssembler: (path: string) => RecordAssembler;
};

/**
 * Makes a block ready.
 *
 * @param resolve makes a path absolute: relative ones are below the home
 * @throws SourceError when a pattern of the block does not compile
 */
export function makeFileSource(
  config: LocalfileConfig,
  resolve: (path: string) => string,
  host: HostFacts,
  logger: Logger,
): FileSource {
  const { location, exclude } = config;
  // Dates and wildcards in one name work too: the dates are put in first.
  const dated = location.includes('%');
  const absolute = resolve(location);
  const relative = absolute !== location && !hasWildcard(location) && !dated;
  try {
    return {
      key: meaningOf(config),
      config,
      pattern: dated ? (now) => strftime(absolute, now) : () => absolute,
      locationOf: relative ? () => location : (path) => path,
      excludes: exclude === undefined ? () => false : excluder(resolve(exclude)),
      filter: new LineFilter(config.ignore, config.restrict),
      queue: config.log_format.name === 'nmapg' ? QUEUE_IDS.hostInformation : QUEUE_IDS.log,
      makeAssembler: assemblerMaker(config, host, logger),
    };
  } catch (error) {
    if (error instanceof PatternError) {
      throw new SourceError(config, error.message);
    }
    throw error;
  }
}

function excluder(exclude: string): (path: string, now: Date) => boolean {
  if (!exclude.includes('%')) {
    return pathMatcher(exclude);
  }
  let dated = '';
  let matches: (path: string) => boolean = () => false;
  return (path, now) => {
    const name = strftime(exclude, now);
    if (name !== dated) {
      dated = name;
      matches = pathMatcher(name);
    }
    return matches(path);
  };
}

function assemblerMaker(config: LocalfileConfig, host: HostFacts, logger: Logger): (path: string) => RecordAssembler {
  const format = config.log_format;
  const refused = (path: string, what: string) => (bytes: Buffer) => {
    logger.debug(`Line of '${path}' is not ${what}: '${bytes.subarray(0, MAX_SHOWN_BYTES).toString('utf8')}'`);
  };
  switch (format.name) {
    case 'json':
      return (path) => new SingleLine(jsonLine(config.label, refused(path, 'a JSON object')));
    case 'multi-line':
      return () => fixedLines(format.lines);
    case 'multi-line-regex': {
      const options = config.multiline_regex;
      if (options === undefined) {
        throw new SourceError(config, 'multiline_regex is missing');
      }
      const matcher = compilePattern('pcre2', Buffer.from(options.pattern, 'utf8').toString('latin1'));
      return () => regexLines(options, matcher);
    }
    case 'audit':
      return (path) => auditLines(refused(path, 'an event of audit'));
    case 'djb-multilog':
      return (path) => new SingleLine(djbMultilog(path, host.hostname, host.now));
    case 'mysql_log':
      return () => new SingleLine(mysqlLine(host.now));
    case 'postgresql_log':
    case 'mssql_log':
      return () => datedLines();
    case 'snort-full':
      return (path) => snortFull(refused(path, 'part of an alert of snort'));
    case 'ossecalert':
      return (path) => ossecAlert(refused(path, 'an alert'));
    case 'nmapg':
      return () => new SingleLine(nmapLine);
    default:
      return () => new SingleLine();
  }
}
