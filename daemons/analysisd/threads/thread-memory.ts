import type { AgentKnowledge } from '../../../lib/engine/agents/agent-knowledge.js';
import { CorrelationShards } from '../../../lib/engine/correlate/correlation-shards.js';
import type { DiffStore } from '../../../lib/engine/correlate/diff-store.js';
import { firstTimeSeenKey } from '../../../lib/engine/correlate/first-time-seen.js';
import { accumulationKey, joinedMembers } from '../../../lib/engine/decode/accumulator.js';
import type { EngineMemory } from '../../../lib/engine/engine-memory.js';
import type { EngineEvent } from '../../../lib/engine/event.js';
import type { EventCounting } from '../../../lib/engine/event-counting.js';
import type { CompiledRule, Ruleset } from '../../../lib/engine/rules/ruleset.js';
import type { AgentCall, Answers, Notice, Question, ThreadConfiguration } from './thread-words.js';

/** Keys of which a thread knows that they are no news; with more it begins anew, and asks for each once more. */
const MAX_KNOWN_KEYS = 100_000;

/** The thread's way to what all agents share. */
export interface Shared {
  /** Waits until all events before the one at hand are done, and asks then. */
  ask<K extends Question['kind']>(question: Extract<Question, { readonly kind: K }>): Answers[K];
  /** Tells what takes effect with the event at hand. */
  tell(notice: Notice): void;
  /** Whether a key that was known stays so. */
  readonly keepsKeys: boolean;
}

/**
 * What a thread remembers of its agents, and how it comes to the rest. What can only be so is answered here: a
 * key that was known is no news, and who lies in an `ignore` time that was seen lies in the one of now, as another begins
 * only behind it.
 */
export class ThreadMemory implements EngineMemory {
  readonly ruleset: Ruleset;
  readonly agents: AgentKnowledge;
  readonly correlation: CorrelationShards;
  readonly counting: EventCounting;
  readonly diffs: DiffStore;
  readonly statisticsLevel: number;
  readonly #shared: Shared;
  readonly #knownKeys = new Set<string>();
  readonly #ignoredSince = new Map<number, number>();

  constructor(ruleset: Ruleset, configuration: ThreadConfiguration, counting: EventCounting, shared: Shared) {
    const { inForce, maxRememberedBytes: maxBytes, shards } = configuration;
    this.ruleset = ruleset;
    this.counting = counting;
    this.statisticsLevel = inForce.state.statistics.level;
    this.#shared = shared;
    this.agents = remoteAgents(shared);
    const pieces = {
      take: (shard: number) => shared.ask({ kind: 'piece', shard }),
      giveBack: (shard: number) => {
        shared.tell({ kind: 'give-back', shard });
      },
    };
    this.correlation = new CorrelationShards(ruleset.lists, ruleset.correlationFields, { maxBytes, shards, pieces });
    this.diffs = {
      last: (host, rule) => shared.ask({ kind: 'last-log', host, rule }),
      store: (host, rule, log) => {
        shared.tell({ kind: 'store-log', host, rule, log });
      },
    };
  }

  firstSight(event: EngineEvent): string | undefined {
    const key = firstTimeSeenKey(event);
    if (key === undefined) return undefined;
    const known = this.#knownKeys;
    if (known.has(key) && this.#shared.keepsKeys) return undefined;
    const { stored, isKnown } = this.#shared.ask({ kind: 'first-sight', key, isIds: event.category === 'ids' });
    if (isKnown) {
      if (known.size >= MAX_KNOWN_KEYS) known.clear();
      known.add(key);
    }
    return stored;
  }

  accumulate(event: EngineEvent, now: number): void {
    const key = accumulationKey(event);
    if (key === undefined) return;
    Object.assign(event, this.#shared.ask({ kind: 'join', key, members: joinedMembers(event), now }));
  }

  ignoredSince(rule: CompiledRule, now: number): number | undefined {
    const known = this.#ignoredSince.get(rule.ordinal);
    if (known !== undefined && now - known < rule.rule.ignoreTime) return known;
    const since = this.#shared.ask({ kind: 'ignored-since', rule: rule.ordinal });
    if (since !== undefined) this.#ignoredSince.set(rule.ordinal, since);
    return since;
  }

  setIgnoredSince(rule: CompiledRule, second: number | undefined): void {
    if (second === undefined) this.#ignoredSince.delete(rule.ordinal);
    else this.#ignoredSince.set(rule.ordinal, second);
    this.#shared.tell({ kind: 'set-ignored', rule: rule.ordinal, second });
  }

  countExhausted(owner: string): void {
    this.#shared.tell({ kind: 'exhausted', owner });
  }

  countCutSearch(): void {
    this.#shared.tell({ kind: 'cut-search' });
  }
}

/** What is known of agents' modules: it is asked for, as what is said changes it. */
function remoteAgents(shared: Shared): AgentKnowledge {
  const ask = <T>(...call: AgentCall): T => shared.ask({ kind: 'agents', call }) as T;
  const tell = (...call: AgentCall): void => {
    shared.tell({ kind: 'agents', call });
  };
  return {
    addRootcheck: (...about) => ask('addRootcheck', ...about),
    clearRootcheck: (...about) => tell('clearRootcheck', ...about),
    check: (...about) => ask('check', ...about),
    setCheck: (...about) => tell('setCheck', ...about),
    deleteChecks: (...about) => tell('deleteChecks', ...about),
    scan: (...about) => ask('scan', ...about),
    setScan: (...about) => tell('setScan', ...about),
    policy: (...about) => ask('policy', ...about),
    setPolicy: (...about) => tell('setPolicy', ...about),
    deletePolicy: (...about) => tell('deletePolicy', ...about),
    policies: (...about) => ask('policies', ...about),
    resultsHash: (...about) => ask('resultsHash', ...about),
    file: (...about) => ask('file', ...about),
    setFile: (...about) => tell('setFile', ...about),
    deleteFile: (...about) => tell('deleteFile', ...about),
    isFullOfFiles: (...about) => ask('isFullOfFiles', ...about),
    hasScanned: (...about) => ask('hasScanned', ...about),
    setScanned: (...about) => tell('setScanned', ...about),
    host: (...about) => ask('host', ...about),
    setHost: (...about) => tell('setHost', ...about),
  };
}
