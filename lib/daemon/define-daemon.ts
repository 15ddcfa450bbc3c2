import type { Contract, Handlers } from '../bus/contract.js';
import { commonHandlers, type commonMethods } from '../bus/contracts/common.js';
import { RequestServer, type RequestServerCounters } from '../bus/request-server.js';
import type { OwnFlag } from './daemon-flags.js';
import { DaemonParts, within } from './daemon-parts.js';
import { checkSettings, type DaemonSettings, type SettingsInForce, type ShownSection } from './daemon-settings.js';
import type { BoundAddress, DaemonContext, DaemonSpec, RunningDaemon } from './daemon-spec.js';
import { Problems } from './problems.js';

/** How long parts that a failed start has begun may take to stop, milliseconds. */
const GIVE_UP_MS = 2000;

type DaemonContract = Contract<typeof commonMethods>;

/** What a daemon answers on its request socket. */
export type DaemonAnswers<C extends DaemonContract> = {
  /** Counters in groups of its own. @param requests those of the request socket */
  readonly stats: (requests: RequestServerCounters) => Record<string, unknown>;
  /** Sections in force; those of its settings by default. */
  readonly sections?: ReadonlyMap<string, ShownSection>;
  /** Methods beside the common ones. */
  readonly handlers: Omit<Handlers<C>, keyof typeof commonMethods>;
  /** Sees all handlers before they are used, to count calls, say. */
  readonly around?: (handlers: Handlers<C>) => Handlers<C>;
};

/** What the parts of a daemon are made of. */
export type BuildContext<C extends DaemonContract, S, P> = Omit<DaemonContext, 'setProblem'> & {
  readonly settings: SettingsInForce<S>;
  /** What `prepare` gave. */
  readonly prepared: P;
  /** Conditions the operator must mend, by part. */
  readonly problems: Problems;
  /** Makes the request server; it is started, and stopped, as any other part. */
  readonly requests: (answers: DaemonAnswers<C>) => RequestServer<C>;
};

/** What a build leaves to the skeleton. */
export type BuiltDaemon<S> = {
  /** Bound listeners; by default the request socket alone. */
  readonly addresses?: Readonly<Record<string, BoundAddress>>;
  /** Has the parts follow settings that were reloaded. @throws Error: what was in force stays */
  readonly apply?: (now: S, before: S) => void | Promise<void>;
};

export type DaemonDefinition<C extends DaemonContract, S, P> = {
  /** What it answers; its name is in it. */
  readonly contract: C;
  readonly settings: DaemonSettings<S>;
  /** Flags that no other daemon has. */
  readonly ownFlags?: readonly OwnFlag[];
  /** As in `DaemonSpec`. */
  readonly task?: NonNullable<DaemonSpec['task']>;
  /** What is to be in order before the settings are read at the start. */
  prepare?(context: DaemonContext): Promise<P>;
  /**
   * Looks at settings that were loaded before anything is said of them.
   * @param current undefined at the start
   * @throws Error: at the start the daemon fails, at a reload what was in force stays
   */
  accept?(next: S, current: S | undefined, context: DaemonContext): void | Promise<void>;
  /** At a reload, warnings are said once the parts follow, and not at all when they refuse; without it, before. */
  readonly warnAfterApply?: true;
  /**
   * Makes and starts the parts, in an order that reads top-down; they stop in reverse order by themselves.
   * @throws an Error with one clear message; what was begun is stopped, the process exits 1
   */
  build(context: BuildContext<C, S, P>, parts: DaemonParts): Promise<BuiltDaemon<S>>;
};

/**
 * A daemon from its contract, its settings and its parts. The skeleton owns the rest: `-t`, warnings, the request server
 * with the common methods, the settings in force and their replacement by a reload, and the stop.
 */
export function defineDaemon<C extends DaemonContract, S, P = void>(definition: DaemonDefinition<C, S, P>): DaemonSpec {
  const { contract, settings, ownFlags, task } = definition;
  return {
    name: contract.daemon,
    ...(ownFlags === undefined ? {} : { ownFlags }),
    ...(task === undefined ? {} : { task }),
    check(context) {
      checkSettings(settings, context);
    },
    async build(context) {
      // Without `prepare` nothing is prepared: P is void.
      const prepared = (await definition.prepare?.(context)) as P;
      const started = settings.load(context);
      await definition.accept?.(started, undefined, context);
      settings.logWarnings(started, context.logger);
      return new Skeleton(definition, context, prepared, started).build();
    },
  };
}

/** A daemon that runs, or is about to. */
class Skeleton<C extends DaemonContract, S, P> {
  readonly #definition: DaemonDefinition<C, S, P>;
  readonly #context: DaemonContext;
  readonly #prepared: P;
  readonly #parts = new DaemonParts();
  readonly #settings: { current: S; readonly started: S };

  constructor(definition: DaemonDefinition<C, S, P>, context: DaemonContext, prepared: P, started: S) {
    this.#definition = definition;
    this.#context = context;
    this.#prepared = prepared;
    this.#settings = { current: started, started };
  }

  async build(): Promise<RunningDaemon> {
    const { setProblem, ...context } = this.#context;
    try {
      const built = await this.#definition.build(
        {
          ...context,
          settings: this.#settings,
          prepared: this.#prepared,
          problems: new Problems(setProblem),
          requests: (answers) => this.#requestServer(answers),
        },
        this.#parts,
      );
      return {
        addresses: built.addresses ?? { requests: this.#requestAddress() },
        reload: () => this.#reload(built),
        stop: () => this.#stop(),
      };
    } catch (error) {
      await within(GIVE_UP_MS, this.#parts.stop());
      throw error;
    }
  }

  async #stop(): Promise<void> {
    const failures = await this.#parts.stop();
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  }

  async #reload({ apply }: BuiltDaemon<S>): Promise<readonly string[]> {
    const { settings, accept, warnAfterApply = false } = this.#definition;
    const { current: before, started } = this.#settings;
    const next = settings.load(this.#context, before);
    await accept?.(next, before, this.#context);
    if (!warnAfterApply) settings.logWarnings(next, this.#context.logger);
    const now = settings.takeOver?.(next, before) ?? next;
    this.#settings.current = now;
    try {
      await apply?.(now, before);
    } catch (error) {
      this.#settings.current = before;
      throw error;
    }
    if (warnAfterApply) settings.logWarnings(next, this.#context.logger);
    return settings.restartNeeded?.(next, { started, before }) ?? [];
  }

  #requestServer({ stats, sections, handlers, around = (all) => all }: DaemonAnswers<C>): RequestServer<C> {
    const { contract, settings } = this.#definition;
    const { home, logger, reload } = this.#context;
    const common = commonHandlers(contract.daemon, {
      stats: () => stats(server.counters),
      sections: sections ?? settings.sections?.(() => this.#settings.current) ?? new Map(),
      reload,
    });
    const server = new RequestServer<C>({
      contract,
      path: home.socket(contract.daemon),
      logger,
      // A contract has the common methods and those whose handlers were given.
      handlers: around({ ...common, ...handlers } as unknown as Handlers<C>),
    });
    return server;
  }

  #requestAddress(): BoundAddress {
    return { protocol: 'ipc', address: this.#context.home.socket(this.#definition.contract.daemon) };
  }
}
