import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CollectorStats } from '../../../daemons/logcollector/collector-stats.js';
import { FileFollower } from '../../../daemons/logcollector/file-follower.js';
import { type FileSource, makeFileSource } from '../../../daemons/logcollector/file-source.js';
import { openLog } from '../../../daemons/logcollector/open-log.js';
import { Outlet } from '../../../daemons/logcollector/outlet.js';
import { PositionStore } from '../../../daemons/logcollector/position-store.js';
import { parseManagerConfig } from '../../../lib/config/load-manager-config.js';
import { eventually } from '../eventually.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';
import { LogSink } from './log-sink.js';

/** A file follower on a temporary directory, with a sink and saved positions that outlive it. */
export class FollowerHarness {
  readonly directory = mkdtempSync(join(tmpdir(), 'svc-follow-'));
  readonly sink = new LogSink();
  readonly logger = new RecordingLogger();
  readonly statePath: string;
  follower: FileFollower | undefined;
  /** Told of each file that is being opened. */
  opening: (name: string) => void = () => {};
  /** Milliseconds added to the monotonic clock. */
  later = 0;
  /** Whether positions can be written. */
  writable = true;
  /** The run of the host. */
  boot = 'first';
  limits = { maxFiles: 1000, maxLines: 10_000, sampleBytes: 64 };
  #saving: Promise<boolean> = Promise.resolve(true);

  constructor() {
    mkdirSync(join(this.directory, 'logs'));
    this.statePath = join(this.directory, 'state', 'file_status.json');
  }

  path(name: string): string {
    return join(this.directory, 'logs', name);
  }

  append(name: string, text: string): void {
    appendFileSync(this.path(name), text);
  }

  /** Makes a file whose time of birth, which has the ticks of the kernel, is behind that of another. */
  appendAfter(other: string, name: string, text: string): void {
    const born = (each: string): bigint => statSync(this.path(each), { bigint: true }).birthtimeNs;
    do {
      rmSync(this.path(name), { force: true });
      this.append(name, text);
    } while (born(name) <= born(other));
  }

  /** Sources of `<localfile>` blocks; `%DIR%` stands for the directory of the logs. */
  sources(...blocks: string[]): FileSource[] {
    const text = `<manager_config>${blocks.map((block) => `<localfile>${block}</localfile>`).join('')}</manager_config>`;
    const { localfile } = parseManagerConfig(
      text.replaceAll('%DIR%', join(this.directory, 'logs')),
      'etc/manager.conf',
      ['localfile'],
    );
    const host = { hostname: 'web', address: () => '192.0.2.1', now: () => new Date() };
    return localfile.map((config) => makeFileSource(config, (path) => path, host, this.logger));
  }

  /** Starts as a daemon does, with what the last one saved. */
  async start(...blocks: string[]): Promise<FileFollower> {
    const store = new PositionStore(this.statePath, this.logger);
    const stats = new CollectorStats(() => new Date());
    const follower = new FileFollower({
      openFile: (path) => openLog(join(this.directory, 'home'), path),
      events: this.sink.connect(),
      makeOutlet: (source, path, stream) => {
        const location = path.slice(join(this.directory, 'logs').length + 1);
        this.opening(location);
        return new Outlet({
          location,
          queue: source.queue,
          send: stream === undefined ? undefined : (event, sequence) => stream.trySend(event, sequence),
          format: (message) => message,
          sockets: [],
          stats,
          now: Date.now,
        });
      },
      logger: this.logger,
      limits: this.limits,
      now: Date.now,
      monotonic: () => performance.now() + this.later,
      boot: this.boot,
      savePositions: () => this.save(),
    });
    this.follower = follower;
    const state = store.load();
    this.#saving = Promise.resolve(true);
    await follower.start(this.sources(...blocks), state.files, state.locations ?? []);
    return follower;
  }

  async save(): Promise<boolean> {
    const follower = this.follower;
    this.#saving = this.#saving.then(async () => {
      if (follower === undefined) return true;
      if (!this.writable) return false;
      return new PositionStore(this.statePath, this.logger).save(await follower.positions());
    });
    return this.#saving;
  }

  /** Stops in an orderly way. */
  async stop(): Promise<void> {
    await this.follower?.stop(async () => {
      await this.save();
    });
    this.follower = undefined;
  }

  /** As `kill -9`: what was not saved or acknowledged is lost. */
  async kill(): Promise<void> {
    await this.follower?.stop(() => Promise.resolve());
    this.follower = undefined;
    this.sink.forgetPending();
  }

  /** Polls until the sink has exactly these messages. */
  async expectTexts(texts: readonly string[]): Promise<void> {
    await eventually(
      `${JSON.stringify(texts).slice(0, 300)}`,
      async () => {
        await this.follower?.poll();
        return this.sink.texts.length >= texts.length;
      },
      5000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; got ${JSON.stringify(this.sink.texts).slice(0, 500)}`);
    });
    // A little longer, so that something too much is seen.
    await this.settle();
    if (JSON.stringify(this.sink.texts) !== JSON.stringify(texts)) {
      throw new Error(
        `expected ${JSON.stringify(texts).slice(0, 1000)}, got ${JSON.stringify(this.sink.texts).slice(0, 1000)}`,
      );
    }
  }

  /** Lets everything that is under way come to an end. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await this.follower?.poll();
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  remove(): void {
    removeTree(this.directory);
  }
}
