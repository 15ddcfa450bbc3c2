import { setImmediate as setSoon } from 'node:timers';
import type { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { isControl } from '../../../lib/agentlink/control-text.js';
import { keepsPushOpen, parseManagerControl } from '../../../lib/agentlink/manager-control.js';
import type { SenderCounter } from '../../../lib/agentlink/sender-counter.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Agent } from '../agent-link.js';
import type { FloodGuard } from '../flood-guard.js';
import type { RemotedCounters } from '../remoted-counters.js';
import { ConfigurationCheck, type ConfigurationWatcher } from './configuration-check.js';
import { FilePusher } from './file-pusher.js';
import { Memberships } from './memberships.js';
import { type MergedFiles, PushContents } from './push-contents.js';
import { PushSealer } from './push-sealer.js';
import type { PushClock } from './push-session.js';
import { readMemberships } from './read-memberships.js';
import { type MergedSum, SumReporter } from './sum-reporter.js';

/** The merged files of all groups. */
export interface SharedMergedFiles extends MergedFiles {
  setLists(lists: readonly (readonly string[])[]): void;
  sums(): readonly MergedSum[];
  onSums(listener: () => void): void;
}

export type ConfigurationPushParts = {
  readonly files: SharedMergedFiles;
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly schedules: BlowfishCache;
  readonly senderCounter: SenderCounter;
  readonly counters: RemotedCounters;
  /** `remoted.sender_pool` */
  readonly atOnce: number;
  readonly logger: Logger;
  readonly log: FloodGuard;
  /** Waits; resolves early when the daemon stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

const CLOCK: PushClock = {
  now: () => performance.now(),
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
  soon(work) {
    setSoon(work);
  },
};

/** Keeps agents in step with the merged files of their groups (agents-and-groups.md 4.3, 4.4, 6.7). */
export class ConfigurationPush implements ConfigurationWatcher {
  readonly #memberships: Memberships;
  readonly #reporter: SumReporter;
  readonly #pusher: FilePusher;
  readonly #check: ConfigurationCheck;
  readonly #parts: ConfigurationPushParts;
  #running: Promise<unknown> = Promise.resolve();

  constructor(parts: ConfigurationPushParts) {
    const { files, db, logger, sleep } = parts;
    this.#parts = parts;
    this.#reporter = new SumReporter({
      sums: () => files.sums(),
      tell: (sums) => db.call('groups.sums', { sums: sums.map(({ groups, md5 }) => ({ groups: [...groups], md5 })) }),
      logger,
      sleep,
    });
    files.onSums(() => {
      this.#reporter.changed();
    });
    this.#memberships = new Memberships({
      read: (since) => readMemberships((params) => db.call('agents.memberships', params), since),
      onLists: (lists) => {
        files.setLists(lists);
      },
      onRestart: () => {
        this.#reporter.changed();
      },
      logger,
      sleep,
    });
    const contents = new PushContents(this.#memberships, files);
    this.#pusher = new FilePusher({
      sealer: new PushSealer(parts.schedules),
      counter: parts.senderCounter,
      counters: parts.counters,
      clock: CLOCK,
      contentFor: (agent) => contents.contentFor(agent),
      atOnce: parts.atOnce,
      log: parts.log,
    });
    this.#check = new ConfigurationCheck(contents, this.#pusher, CLOCK.now);
  }

  /** Begins to follow svc-db, and to tell it of merged files. */
  start(): void {
    this.#running = Promise.all([this.#memberships.run(), this.#reporter.run()]);
  }

  /** Ends all pushes. Resolves when nothing is asked of svc-db any more, if `sleep` is then interrupted. */
  async stop(): Promise<void> {
    this.#pusher.stop();
    this.#memberships.stop();
    this.#reporter.stop();
    await this.#running;
  }

  startup(agent: Agent): void {
    this.#check.startup(agent);
  }

  keepalive(agent: Agent): void {
    this.#check.keepalive(agent);
  }

  isWhole(agent: Agent, mergedSum: string | undefined): boolean {
    return this.#check.isWhole(agent, mergedSum);
  }

  /** The agent has no key any more. */
  removed(agent: Agent): void {
    this.#pusher.abandon(agent);
  }

  /**
   * Keeps a message that would close the file which is being pushed to an agent until that has ended.
   * @param send sends the message
   * @returns `now`: nothing is in its way, and it was not sent; `later`: it will be sent; `full`: too many wait
   */
  hold(agent: Agent, message: string, send: () => void): 'now' | 'later' | 'full' {
    if (!this.#pusher.isRunning(agent) || isHarmless(message)) return 'now';
    return this.#pusher.afterwards(agent, send) ? 'later' : 'full';
  }

  /** For `svc-control stats`. */
  stats(): Record<string, number> {
    const { queued, running, parked } = this.#pusher;
    return { ...this.#parts.counters.pushes, queued, running, parked };
  }
}

/** Whether an agent goes on with an open file after this message (4.4). */
function isHarmless(message: string): boolean {
  const payload = Buffer.from(message);
  return isControl(payload) && keepsPushOpen(parseManagerControl(payload));
}
