import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import type { CollectorSettings } from './collector-settings.js';

const INTERNAL = [
  'vcheck_files',
  'loop_timeout',
  'open_attempts',
  'remote_commands',
  'remote_sockets',
  'max_lines',
  'max_files',
  'sock_fail_time',
  'input_threads',
  'queue_size',
  'sample_log_length',
  'rlimit_nofile',
  'force_reload',
  'reload_interval',
  'reload_delay',
  'exclude_files_interval',
  'state_interval',
] as const;

/** The sections in force that svc-logcollector shows (daemons-and-config.md 1.3 "logcollector"). */
export function activeSections(settings: () => CollectorSettings): ReadonlyMap<string, () => Record<string, unknown>> {
  return new Map<string, () => Record<string, unknown>>([
    ['localfile', () => ({ localfile: settings().blocks.map(activeLocalfile) })],
    [
      'socket',
      () => ({
        target: settings().sockets.map(({ name, location, mode, prefix }) => ({ name, location, mode, prefix })),
      }),
    ],
    [
      'internal',
      () => {
        const { options } = settings();
        return {
          logcollector: Object.fromEntries(INTERNAL.map((name) => [name, options.get(`logcollector.${name}`)])),
        };
      },
    ],
  ]);
}

function activeLocalfile(config: LocalfileConfig): Record<string, unknown> {
  const { log_format: format, multiline_regex: multiline, query } = config;
  const future = config['only-future-events'];
  const isCommand = format.name === 'command' || format.name === 'full_command';
  return {
    ...(isCommand
      ? { command: config.command, alias: config.alias ?? config.command, frequency: config.frequency }
      : { file: config.location }),
    logformat: format.name === 'multi-line' ? `multi-line: ${String(format.lines)}` : format.name,
    ignore_binaries: yesNo(config.ignore_binaries),
    ...(config.age > 0 ? { age: config.age } : {}),
    ...(config.exclude === undefined ? {} : { exclude: config.exclude }),
    'only-future-events': yesNo(future.enabled),
    'max-size': future.maxSize,
    target: config.target,
    ...list('out_format', config.out_format),
    ...(config.label.length > 0
      ? { labels: Object.fromEntries(config.label.map(({ key, value }) => [key, value])) }
      : {}),
    ...(query === undefined ? {} : { query }),
    ...(multiline === undefined
      ? {}
      : {
          multiline_regex: {
            match: multiline.match,
            replace: multiline.replace,
            regex: multiline.pattern,
            timeout: multiline.timeout,
          },
        }),
    ...list('filters', config.filter),
    ...list('ignore', config.ignore),
    ...list('restrict', config.restrict),
  };
}

function list(name: string, values: readonly unknown[]): Record<string, unknown> {
  return values.length > 0 ? { [name]: values } : {};
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
