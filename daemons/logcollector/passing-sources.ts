import { unlessAborted } from '../../lib/async/unless-aborted.js';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { EventProducer } from '../../lib/bus/event-producer.js';
import type { LocalfileConfig } from '../../lib/config/sections/localfile.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { CollectorSettings, CommandSettings, PipeSettings } from './collector-settings.js';
import { CommandRunner } from './command-runner.js';
import { openPipe } from './open-log.js';
import type { Outlet, OutletParts } from './outlet.js';
import { PipeReader } from './pipe-reader.js';
import { AGENT_TARGET } from './usable-targets.js';

export type PassingSourcesParts = {
  readonly home: Home;
  readonly producer: Pick<EventProducer, 'trySend' | 'ready'>;
  readonly makeOutlet: (config: LocalfileConfig, location: string, send: OutletParts['send']) => Outlet;
  readonly logger: Logger;
  /** `logcollector.sample_log_length` */
  readonly sampleBytes: number;
};

type RunningCommand = { readonly runner: CommandRunner; readonly outlet: Outlet };

/** Sources that cannot be read a second time: commands and named pipes. They have no positions. */
export class PassingSources {
  readonly #parts: PassingSourcesParts;
  /** Both by what their blocks mean. */
  #commands = new Map<string, RunningCommand>();
  #pipes = new Map<string, PipeReader>();

  constructor(parts: PassingSourcesParts) {
    this.#parts = parts;
  }

  get counters(): Record<string, number> {
    return { commands: this.#commands.size, pipes: this.#pipes.size };
  }

  /** Goes over to the sources of the settings; those whose block did not change go on. */
  async exchange({ commands, pipes }: CollectorSettings): Promise<void> {
    const chosen = this.#withoutDuplicates(pipes);
    await Promise.all([this.#stopCommands(keysOf(commands)), this.#stopPipes(keysOf(chosen))]);
    this.#commands = new Map(commands.map((each) => [each.key, this.#commands.get(each.key) ?? this.#command(each)]));
    this.#pipes = new Map(chosen.map((each) => [each.key, this.#pipes.get(each.key) ?? this.#pipe(each)]));
    this.look();
  }

  /** Opens pipes that are new. To be called every loop_timeout. */
  look(): void {
    this.#pipes.forEach((pipe) => {
      pipe.check();
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#stopCommands(new Set()), this.#stopPipes(new Set())]);
  }

  #withoutDuplicates(pipes: readonly PipeSettings[]): PipeSettings[] {
    const paths = new Set<string>();
    return pipes.filter(({ path }) => {
      if (paths.has(path)) {
        this.#parts.logger.warn(`(1958): Log file '${path}' is duplicated.`);
        return false;
      }
      paths.add(path);
      return true;
    });
  }

  #command({ config, filter }: CommandSettings): RunningCommand {
    const { home, makeOutlet, logger } = this.#parts;
    const outlet = makeOutlet(config, config.alias ?? config.command, this.#sendOf(config));
    const runner = new CommandRunner({
      config,
      filter,
      send: (message, signal) => this.#send(outlet, message, signal),
      logger,
      directory: home.root,
    });
    runner.start();
    return { runner, outlet };
  }

  #pipe({ config, filter, path }: PipeSettings): PipeReader {
    const { home, makeOutlet, producer, logger, sampleBytes } = this.#parts;
    return new PipeReader({
      path,
      openPipe: (name) => openPipe(home.root, name),
      filter,
      outlet: makeOutlet(config, config.location, this.#sendOf(config)),
      ready: () => producer.ready(),
      logger,
      sampleBytes,
    });
  }

  async #stopCommands(kept: ReadonlySet<string>): Promise<void> {
    const ended = [...this.#commands].filter(([key]) => !kept.has(key));
    await Promise.all(
      ended.map(async ([key, { runner, outlet }]) => {
        await runner.stop();
        outlet.close();
        this.#commands.delete(key);
      }),
    );
  }

  async #stopPipes(kept: ReadonlySet<string>): Promise<void> {
    const ended = [...this.#pipes].filter(([key]) => !kept.has(key));
    await Promise.all(
      ended.map(async ([key, pipe]) => {
        await pipe.stop();
        this.#pipes.delete(key);
      }),
    );
  }

  #sendOf({ target }: LocalfileConfig): OutletParts['send'] {
    return target.includes(AGENT_TARGET) ? (event: BusEvent) => this.#parts.producer.trySend(event) : undefined;
  }

  /** Waits for room, as long as it takes or until the signal is aborted. */
  async #send(outlet: Outlet, message: Buffer, signal: AbortSignal): Promise<void> {
    while (!outlet.trySend({ message, end: 0 })) {
      await unlessAborted(signal, this.#parts.producer.ready());
      if (signal.aborted) {
        return;
      }
    }
  }
}

function keysOf(settings: readonly { readonly key: string }[]): ReadonlySet<string> {
  return new Set(settings.map(({ key }) => key));
}
