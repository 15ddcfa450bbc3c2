import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Singleton } from '../../lib/cluster/singleton.js';
import type { AgentCrypto } from './agent-crypto.js';
import { GroupDownloads } from './downloads/group-downloads.js';
import { confCheck } from './merge/conf-check.js';
import { SharedFiles } from './merge/shared-files.js';
import { ConfigurationPush } from './push/configuration-push.js';
import type { RemotedBase } from './remoted-base.js';
import { downloadOptions } from './remoted-settings.js';

const SECOND_MS = 1000;

export type GroupFilesParts = {
  readonly base: RemotedBase;
  readonly crypto: AgentCrypto;
  readonly db: RequestClient<typeof dbContract>;
  /** Leave for what one node of a cluster does. */
  readonly singleton: Singleton;
  /** Whether merged files may be made at all: `-m` forbids it. */
  readonly merge: boolean;
  /** Waits; resolves early when the daemon stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** The files of groups on their way to agents: downloaded, merged, pushed (agents-and-groups.md 4.4, 6). */
export class GroupFiles {
  readonly downloads: GroupDownloads;
  readonly shared: SharedFiles;
  readonly pushes: ConfigurationPush;
  /** Whether the shared files have been looked at for the first time. */
  #sharing = false;

  constructor({ base, crypto, db, singleton, merge, sleep }: GroupFilesParts) {
    const { home, logger, log, settings, counters } = base;
    const { options, config } = settings.started;
    const inCluster = config.cluster !== undefined && !config.cluster.disabled;
    this.downloads = new GroupDownloads({
      home,
      logger,
      options: downloadOptions(settings.started),
      changed: async (group) => {
        // What is there before the shared files are looked at for the first time is seen then.
        if (this.#sharing) await this.shared.refresh(group);
      },
      mayAct: () => singleton.mayAct(),
    });
    this.shared = new SharedFiles({
      home,
      logger,
      db,
      reloadMs: options.get('remoted.shared_reload') * SECOND_MS,
      merge: options.get('remoted.merge_shared') === 1 && merge,
      mergedElsewhere: (group) => this.downloads.ownsMerged(group),
      check: confCheck(),
      keepTable: !inCluster,
    });
    this.pushes = new ConfigurationPush({
      files: this.shared,
      db,
      schedules: crypto.schedules,
      senderCounter: crypto.senderCounter,
      counters,
      atOnce: options.get('remoted.sender_pool'),
      logger,
      log,
      sleep,
    });
  }

  /** Groups are known when it resolves, and pushes have begun. */
  async start(): Promise<void> {
    await this.downloads.start();
    await this.shared.start();
    this.#sharing = true;
    this.pushes.start();
  }

  /** Ends downloads and merging: first what asks the shared files to look at groups, then those. Pushes end by themselves. */
  async stop(): Promise<void> {
    await this.downloads.stop();
    await this.shared.stop();
  }
}
