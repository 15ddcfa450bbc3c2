import { resolve } from 'node:path';
import { Command } from 'commander';
import { loadHostConfig } from '../../lib/agents/load-host-config.js';
import { ConfigError } from '../../lib/config/config-error.js';
import { loadInternalOption } from '../../lib/config/internal-options.js';
import { byteString } from '../../lib/config/pattern-text.js';
import type { FileAttributes } from '../../lib/events/fim/file-attributes.js';
import { bytesOf, readable } from '../../lib/fim/byte-order.js';
import { fileAttributes } from '../../lib/fim/entry-checksum.js';
import { AccountNames } from '../../lib/fim/scan/account-names.js';
import type { SkipReason } from '../../lib/fim/scan/entry-outcome.js';
import { EntryThreads } from '../../lib/fim/scan/entry-threads.js';
import { PrefilterError } from '../../lib/fim/scan/prefilter.js';
import { type ScanConfig, type ScanSettings, scanSettings } from '../../lib/fim/scan/scan-settings.js';
import { countTree, type ScannedEntry, scanTree } from '../../lib/fim/scan/scan-tree.js';
import { WatchedDirectories } from '../../lib/fim/scan/watched-directories.js';
import { directoryTraits } from '../../lib/fim/scan/watched-directory.js';
import { HomeError } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import { usageErrors } from '../../lib/product/usage-errors.js';
import { versionText } from '../../lib/product/version.js';
import { grouped, ProgressBar } from '../terminal/progress-bar.js';
import type { FimStreams } from './fim-streams.js';
import { addRootcheckCommand } from './rootcheck-command.js';

type FimScanOptions = { readonly home?: string; readonly json?: true; readonly config?: true; readonly quiet?: true };

const EXIT = { fine: 0, incomplete: 1, usage: 2, interrupted: 130 } as const;

/** What is seen without a configuration: everything, but for file systems that hold no files. */
const PLAIN: Omit<ScanConfig, 'directories'> = {
  ignore: [],
  nodiff: [],
  diff: {
    disk_quota: { enabled: true, limit: 1_048_576 },
    file_size: { enabled: true, limit: 51_200 },
    nodiff: [],
  },
  skip_nfs: true,
  skip_dev: true,
  skip_sys: true,
  skip_proc: true,
  max_files_per_second: 0,
  prefilter_cmd: undefined,
};
const PLAIN_OPTIONS = { defaultMaxDepth: 256, fileMaxSize: 1024 };

/**
 * `svc-fim scan PATH...` prints what a scan would record, a line a file; `svc-fim rootcheck` what a scan for rootkits
 * finds (rootcheck-command.ts).
 * @param args without node and script
 * @returns exit code of `scan`: 0 everything was seen, 1 something could not be read, 2 wrong arguments or configuration, 130
 *   called off
 */
export async function fimCommand(args: readonly string[], streams: FimStreams): Promise<number> {
  let exitCode: number = EXIT.usage;
  const program = new Command('svc-fim')
    .description('File integrity monitoring, without a daemon.')
    .version(versionText('svc-fim'), '-V, --version', 'show version and licence')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.write(text),
      writeErr: streams.writeError,
      ...usageErrors('svc-fim'),
    });
  program
    .command('scan')
    .description('print what a scan would record of files and directories')
    .argument('[path...]', 'files and directories')
    .option('--config', 'those that <syscheck> of the home names, with its options')
    .option('--json', 'one JSON object a file')
    .option('-q, --quiet', 'neither progress nor summary')
    .option('--home <dir>', 'home whose configuration is used')
    .action(async (paths: readonly string[], options: FimScanOptions) => {
      exitCode = await scan(paths, options, streams);
    });
  addRootcheckCommand(program, streams, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof Error && 'exitCode' in error) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    throw error;
  }
  return exitCode;
}

async function scan(paths: readonly string[], options: FimScanOptions, streams: FimStreams): Promise<number> {
  const say = (text: string): void => {
    streams.writeError(`svc-fim: ${text}\n`);
  };
  if (paths.length > 0 === (options.config === true)) {
    say(paths.length > 0 ? 'either paths or --config' : 'no path given (or --config)');
    return EXIT.usage;
  }
  let settings: ScanSettings;
  try {
    settings = options.config === true ? configured(options.home, say) : plain(paths);
  } catch (error) {
    const usage =
      error instanceof HomeError ||
      error instanceof ConfigError ||
      error instanceof PatternError ||
      error instanceof PrefilterError;
    if (!usage) throw error;
    say(error.message);
    return EXIT.usage;
  }
  try {
    return await new ScanReport(settings, options, streams, say).run();
  } catch (error) {
    if (!streams.signal.aborted) throw error;
    say('called off');
    return EXIT.interrupted;
  }
}

function plain(paths: readonly string[]): ScanSettings {
  const { defaultMaxDepth: recursionLevel } = PLAIN_OPTIONS;
  const traits = directoryTraits([], { recursionLevel, diffSizeLimit: PLAIN.diff.file_size.limit });
  // Wildcards and variables were the shell's business: what comes here is a name.
  const directories = new WatchedDirectories(paths.map((path) => ({ ...traits, path: byteString(resolve(path)) })));
  return {
    ...scanSettings({ ...PLAIN, directories: [] }, PLAIN_OPTIONS, {}),
    directories: () => Promise.resolve(directories),
  };
}

function configured(root: string | undefined, say: (text: string) => void): ScanSettings {
  const home = resolveHome(root);
  const config = loadHostConfig(home, ['syscheck']);
  if (config.shared.problem !== undefined) say(config.shared.problem);
  const { syscheck } = config;
  if (syscheck === undefined || syscheck.disabled) say('File integrity monitoring is off in this configuration.');
  return scanSettings(
    syscheck ?? { ...PLAIN, directories: [] },
    {
      defaultMaxDepth: loadInternalOption(home, 'syscheck.default_max_depth'),
      fileMaxSize: loadInternalOption(home, 'syscheck.file_max_size'),
    },
    process.env,
  );
}

class ScanReport {
  readonly #settings: ScanSettings;
  readonly #options: FimScanOptions;
  readonly #streams: FimStreams;
  readonly #say: (text: string) => void;
  readonly #skipped = new Map<SkipReason, number>();
  readonly #bar: ProgressBar | undefined;
  #files = 0;
  #bytes = 0;
  #incomplete = false;

  constructor(settings: ScanSettings, options: FimScanOptions, streams: FimStreams, say: (text: string) => void) {
    this.#settings = settings;
    this.#options = options;
    this.#streams = streams;
    this.#bar =
      streams.terminal !== undefined && options.quiet !== true ? new ProgressBar(streams.terminal) : undefined;
    this.#say = (text) => {
      this.#bar?.clear();
      say(text);
    };
  }

  async run(): Promise<number> {
    const { signal, write } = this.#streams;
    const { ignore, fileSystems, maxFilesPerSecond, limits } = this.#settings;
    const started = performance.now();
    const directories = await this.#settings.directories();
    for (const { text } of directories.problems) {
      this.#incomplete = true;
      this.#say(text);
    }
    const names = await AccountNames.load();
    const threads = new EntryThreads(limits);
    const walk = { directories, ignore, fileSystems, signal };
    let counting: Promise<void> | undefined;
    if (this.#bar !== undefined) counting = this.#count(countTree(walk), this.#bar);
    const roots = new Set([...directories].map(({ path }) => path));
    try {
      const found = scanTree({
        ...walk,
        threads,
        maxFilesPerSecond,
        onSkipped: (path, reason, code) => {
          this.#skip(path, reason, code, roots.has(path));
        },
      });
      for await (const entries of found) {
        let text = '';
        for (const entry of entries) text += this.#line(entry, names);
        this.#bar?.clear();
        await write(text);
        this.#bar?.show(this.#files, this.#bytes);
      }
      await counting;
    } finally {
      this.#bar?.clear();
      await threads.close();
    }
    if (this.#options.quiet !== true) this.#summary((performance.now() - started) / 1000);
    return this.#incomplete ? EXIT.incomplete : EXIT.fine;
  }

  /** What goes wrong with the counting, the scan itself says. */
  async #count(counting: Promise<number>, bar: ProgressBar): Promise<void> {
    try {
      bar.total = await counting;
    } catch {
      bar.total = undefined;
    }
  }

  #line(entry: ScannedEntry, names: AccountNames): string {
    const { path, directory, uid, gid, hashes = {}, size, unsettled } = entry;
    this.#files += 1;
    this.#bytes += size;
    if (unsettled) this.#say(`${shown(path)} was written to while it was read`);
    const userName = names.user(uid);
    const groupName = names.group(gid);
    const attributes = fileAttributes({ ...entry, userName, groupName, hashes }, directory.checks);
    return this.#options.json === true ? jsonLine(path, attributes, directory.tags) : textLine(path, attributes);
  }

  #skip(path: string, reason: SkipReason, code: string | undefined, root: boolean): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
    if (reason !== 'unreadable' && !root) return;
    if (reason === 'unreadable' || reason === 'vanished') this.#incomplete = true;
    const why = reason === 'vanished' ? 'does not exist' : reason.replace('_', ' ');
    this.#say(`${shown(path)}: ${why}${reason === 'unreadable' && code !== undefined ? ` (${code})` : ''}`);
  }

  #summary(seconds: number): void {
    const parts = [...this.#skipped].map(([reason, count]) => `${grouped(count)} ${reason.replace('_', ' ')}`);
    this.#say(
      `${grouped(this.#files)} files, ${grouped(this.#bytes)} bytes, in ${seconds.toFixed(1)} s${
        parts.length > 0 ? `; left out: ${parts.join(', ')}` : ''
      }`,
    );
  }
}

function jsonLine(path: string, attributes: FileAttributes, tags: string): string {
  const bytes = bytesOf(path);
  const text = readable(path);
  const exact = Buffer.from(text, 'utf8').equals(bytes);
  return `${JSON.stringify({
    path: text,
    // What is no UTF-8 cannot be told in JSON.
    ...(!exact && { path_hex: bytes.toString('hex') }),
    attributes: {
      type: 'file',
      ...attributes,
      ...(attributes.user_name !== undefined && { user_name: readable(attributes.user_name) }),
      ...(attributes.group_name !== undefined && { group_name: readable(attributes.group_name) }),
    },
    ...(tags !== '' && { tags: readable(tags) }),
  })}\n`;
}

function textLine(path: string, attributes: FileAttributes): string {
  const { perm = '-', uid = '-', gid = '-', user_name, group_name, size = '-', mtime } = attributes;
  const time = mtime === undefined ? '-' : timeText(mtime);
  const hash = attributes.hash_sha256 ?? attributes.hash_sha1 ?? attributes.hash_md5 ?? '-';
  return `${perm} ${shown(user_name ?? uid)}:${shown(group_name ?? gid)} ${size} ${time} ${hash} ${shown(path)}\n`;
}

/** Times beyond what a date holds stay numbers. */
function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000', '');
}

/** For people: a name cannot give orders to their terminal. */
function shown(byteString: string): string {
  return readable(byteString).replace(/[\u0000-\u001f\u007f-\u009f\\]/g, (char) =>
    char === '\\' ? '\\\\' : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
