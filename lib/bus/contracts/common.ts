import * as z from 'zod';
import type { DaemonName } from '../../product/daemon-names.js';
import { productVersion } from '../../product/version.js';
import { BusError } from '../bus-error.js';
import type { Contract, Handlers } from '../contract.js';

/** Methods every daemon answers: spread them into its contract, and {@link commonHandlers} into its handlers. */
export const commonMethods = {
  /** Is it alive: answered without touching any state. */
  ping: {
    params: z.object({}),
    result: z.object({ daemon: z.string(), pid: z.number().int(), version: z.string() }),
  },
  /** Counters of the daemon, in groups of its own. */
  stats: { params: z.object({}), result: z.record(z.string(), z.unknown()) },
  /** The configuration section in force, typed as daemons-and-config.md 2 shows it; error `unknown_section`. */
  config: { params: z.object({ section: z.string().min(1).max(64) }), result: z.record(z.string(), z.unknown()) },
  /**
   * Re-reads configuration in place; answers the sections that changed but need a restart. Error `bad_configuration`:
   * the message names file and line, and what was in force stays.
   */
  reload: { params: z.object({}), result: z.object({ restartNeeded: z.array(z.string()) }) },
};

type JsonObject = Record<string, unknown>;

/** What a daemon gives to answer the common methods. */
export type CommonSources = {
  readonly stats: () => JsonObject | Promise<JsonObject>;
  /** Sections it can show, each made when asked for. */
  readonly sections: ReadonlyMap<string, () => JsonObject | Promise<JsonObject>>;
  /** As `RunningDaemon.reload`. */
  readonly reload: () => Promise<readonly string[]>;
};

/** Handlers of the common methods of a daemon. */
export function commonHandlers(daemon: DaemonName, sources: CommonSources): Handlers<Contract<typeof commonMethods>> {
  const version = productVersion();
  return {
    ping: () => ({ daemon, pid: process.pid, version }),
    stats: () => sources.stats(),
    config: ({ section }) => {
      const read = sources.sections.get(section);
      if (read === undefined) {
        throw new BusError('unknown_section', `${daemon} has no configuration section '${section}'`);
      }
      return read();
    },
    reload: async () => {
      try {
        return { restartNeeded: [...(await sources.reload())] };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new BusError('bad_configuration', reason, { cause: error });
      }
    },
  };
}
