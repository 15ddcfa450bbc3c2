import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { loadHostConfig, type SharedState } from '../../lib/agents/load-host-config.js';
import { type ConfigWarning, logConfigWarnings } from '../../lib/config/config-error.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import {
  describeBlock,
  type FileSource,
  type HostFacts,
  makeFileSource,
  meaningOf,
  SourceError,
} from './file-source.js';
import { JournalFilter } from './journal-entry.js';
import { LineFilter } from './line-filter.js';
import { type SocketConfig, usableSockets, withUsableTargets } from './usable-targets.js';

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

/** A command, made ready. */
export type CommandSettings = {
  readonly config: LocalfileConfig;
  readonly filter: LineFilter;
  /** The same for blocks that mean the same; of several such blocks of one configuration, each has another. */
  readonly key: string;
};

/** A named pipe, made ready. */
export type PipeSettings = CommandSettings & {
  /** Absolute. */
  readonly path: string;
};

export type CollectorSettings = {
  readonly host: HostFacts;
  /** All `<localfile>` blocks as configured. */
  readonly blocks: readonly LocalfileConfig[];
  readonly options: InternalOptions<'logcollector'>;
  readonly files: readonly FileSource[];
  readonly pipes: readonly PipeSettings[];
  readonly commands: readonly CommandSettings[];
  readonly journal: JournalSettings | undefined;
  readonly sockets: readonly SocketConfig[];
  readonly warnings: readonly ConfigWarning[];
  /** What became of the agent.conf of the manager; nothing on a server. */
  readonly shared: SharedState;
  /** What the configuration asks for and is not there, one text each. */
  readonly missing: readonly string[];
};

/** Formats of other systems. */
const UNAVAILABLE = new Set(['macos', 'eventlog', 'eventchannel']);
const PIPE = 'syslog-pipe';

/**
 * Reads what svc-logcollector needs of the configuration: on an agent, that of the manager laid over that of the host.
 *
 * @throws ConfigError, SourceError with file or line
 */
export function loadCollectorSettings(home: Home, host: HostFacts, logger: Logger): CollectorSettings {
  const config = loadHostConfig(home, ['localfile', 'socket']);
  const options = loadInternalOptions(home, ['logcollector']);
  const resolve = (path: string): string => (isAbsolute(path) ? path : home.path(path));
  const missing: string[] = [];
  const tell = (text: string): void => {
    missing.push(text);
  };
  const available = config.localfile.filter((block) => {
    const { name } = block.log_format;
    if (UNAVAILABLE.has(name)) {
      tell(`${describeBlock(block)}: log_format '${name}' is not available here`);
    }
    return !UNAVAILABLE.has(name);
  });
  const sockets = usableSockets(config.socket, tell);
  const blocks = withUsableTargets(available, config.socket, sockets, tell);
  const isFile = ({ log_format: { name } }: LocalfileConfig): boolean =>
    !['command', 'full_command', 'journald', PIPE].includes(name);
  return {
    host,
    blocks: config.localfile,
    options,
    files: blocks.filter(isFile).map((block) => makeFileSource(block, resolve, host, logger)),
    pipes: filtered(blocks.filter(({ log_format: { name } }) => name === PIPE)).map((pipe) => ({
      ...pipe,
      path: resolve(pipe.config.location),
    })),
    commands: filtered(blocks.filter(({ log_format: { name } }) => name === 'command' || name === 'full_command')),
    journal: journalSettings(blocks.filter(({ log_format: { name } }) => name === 'journald')),
    sockets,
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

function filtered(blocks: readonly LocalfileConfig[]): CommandSettings[] {
  const counts = new Map<string, number>();
  return blocks.map((config) => {
    const meaning = meaningOf(config);
    const count = counts.get(meaning) ?? 0;
    counts.set(meaning, count + 1);
    const filter = withPlace(config, () => new LineFilter(config.ignore, config.restrict));
    return { config, filter, key: `${String(count)} ${meaning}` };
  });
}

/** @throws SourceError for a pattern that does not compile */
function withPlace<T>(config: LocalfileConfig, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof PatternError) {
      throw new SourceError(config, error.message);
    }
    throw error;
  }
}

/** All journald blocks are one: what the first says beside its filters counts. */
function journalSettings(blocks: readonly LocalfileConfig[]): JournalSettings | undefined {
  const [config] = blocks;
  if (config === undefined) {
    return undefined;
  }
  return withPlace(config, () => {
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
  });
}
