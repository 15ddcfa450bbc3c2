import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { loadHostConfig, type SharedState } from '../../lib/agents/load-host-config.js';
import { type ConfigWarning, logConfigWarnings } from '../../lib/config/config-error.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import { describeBlock, type FileSource, type HostFacts, makeFileSource, SourceError } from './file-source.js';
import { JournalFilter } from './journal-entry.js';
import { LineFilter } from './line-filter.js';

/** A `<socket>` block. */
export type SocketConfig = {
  readonly name: string;
  readonly location: string;
  /** `udp` or `tcp`: datagrams or a stream. */
  readonly mode: string;
  readonly prefix: string;
};

/** The journal, as all journald blocks together want it. */
export type JournalSettings = {
  readonly blocks: readonly LocalfileConfig[];
  /** The first of them: what it says beside filters counts. */
  readonly config: LocalfileConfig;
  readonly filter: JournalFilter;
  readonly lines: LineFilter;
  readonly filterKey: string;
  readonly onlyFuture: boolean;
};

export type CollectorSettings = {
  readonly host: HostFacts;
  /** All `<localfile>` blocks as configured. */
  readonly blocks: readonly LocalfileConfig[];
  readonly options: InternalOptions<'logcollector'>;
  readonly files: readonly FileSource[];
  readonly commands: readonly LocalfileConfig[];
  readonly journal: JournalSettings | undefined;
  readonly sockets: readonly SocketConfig[];
  readonly warnings: readonly ConfigWarning[];
  /** What became of the agent.conf of the manager; nothing on a server. */
  readonly shared: SharedState;
  /** What the configuration asks for and is not there, one text each. */
  readonly missing: readonly string[];
};

/** Formats of other systems, and one that is not there yet. */
const UNAVAILABLE = new Set(['macos', 'eventlog', 'eventchannel', 'syslog-pipe']);

/**
 * Reads what svc-logcollector needs of the configuration: on an agent, that of the manager laid over that of the host.
 *
 * @throws ConfigError, SourceError with file or line
 */
export function loadCollectorSettings(home: Home, host: HostFacts, logger: Logger): CollectorSettings {
  const config = loadHostConfig(home, ['localfile', 'socket']);
  const options = loadInternalOptions(home, ['logcollector']);
  const resolve = (path: string): string => (isAbsolute(path) ? path : home.path(path));
  const blocks = config.localfile;
  const missing: string[] = [];
  for (const block of blocks) {
    const { name } = block.log_format;
    if (UNAVAILABLE.has(name)) {
      missing.push(`${describeBlock(block)}: log_format '${name}' is not available here`);
    }
  }
  for (const { name, mode } of config.socket) {
    if (mode === 'udp') {
      missing.push(`socket '${name}': mode 'udp' is not available, use 'tcp'`);
    }
  }
  const known = new Set(['agent', ...config.socket.map(({ name }) => name)]);
  for (const block of blocks) {
    for (const name of block.target.filter((each) => !known.has(each))) {
      missing.push(`${describeBlock(block)}: there is no socket '${name}'`);
    }
  }
  const isFile = ({ log_format: { name } }: LocalfileConfig): boolean =>
    !UNAVAILABLE.has(name) && !['command', 'full_command', 'journald'].includes(name);
  return {
    host,
    blocks,
    options,
    files: blocks.filter(isFile).map((block) => makeFileSource(block, resolve, host, logger)),
    commands: blocks.filter(({ log_format: { name } }) => name === 'command' || name === 'full_command'),
    journal: journalSettings(blocks.filter(({ log_format: { name } }) => name === 'journald')),
    sockets: config.socket.filter(({ mode }) => mode === 'tcp'),
    warnings: [...config.warnings, ...options.warnings],
    shared: config.shared,
    missing,
  };
}

/** Logs what of the configuration has no effect. */
export function logWarnings({ warnings, missing }: CollectorSettings, logger: Logger): void {
  logConfigWarnings(warnings, logger);
  for (const text of missing) {
    logger.warn(text);
  }
}

/** All journald blocks are one: what the first says beside its filters counts. */
function journalSettings(blocks: readonly LocalfileConfig[]): JournalSettings | undefined {
  const [config] = blocks;
  if (config === undefined) {
    return undefined;
  }
  try {
    const ignore = blocks.flatMap((block) => block.ignore);
    const restrict = blocks.flatMap((block) => block.restrict);
    const filters = blocks.map(({ filter }) => filter);
    return {
      blocks,
      config,
      filter: new JournalFilter(filters),
      lines: new LineFilter(ignore, restrict),
      filterKey: createHash('sha1')
        .update(JSON.stringify([filters, ignore, restrict]))
        .digest('hex')
        .slice(0, 12),
      onlyFuture: blocks.every((block) => block['only-future-events'].enabled),
    };
  } catch (error) {
    if (error instanceof PatternError) {
      throw new SourceError(config, error.message);
    }
    throw error;
  }
}
