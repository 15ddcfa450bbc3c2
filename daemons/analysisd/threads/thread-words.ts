import type { MessagePort } from 'node:worker_threads';
import type { AgentKnowledge } from '../../../lib/engine/agents/agent-knowledge.js';
import type { CorrelationLayout, CorrelationSnapshot } from '../../../lib/engine/correlate/correlation-snapshot.js';
import type { JoinedMembers } from '../../../lib/engine/decode/accumulator.js';
import type { LoadingSettings } from '../../../lib/ruleset/loading-settings.js';
import type { StoredRuleset } from '../../../lib/ruleset/read-ruleset.js';
import type { CountersDelta } from '../counters.js';
import type { InForce } from '../in-force.js';
import type { OwnResults } from './result-memory.js';

/** A call of what is known of agents' modules: its name and what it is called with. */
export type AgentCall = {
  [K in keyof AgentKnowledge]: readonly [K, ...Parameters<AgentKnowledge[K]>];
}[keyof AgentKnowledge];

/** What a thread asks the one place that knows it, in the order of events (rules-and-alerts.md 12); it waits for the answer. */
export type Question =
  | { readonly kind: 'first-sight'; readonly key: string; readonly isIds: boolean }
  | { readonly kind: 'ignored-since'; readonly rule: number }
  | { readonly kind: 'last-log'; readonly host: string; readonly rule: number }
  | { readonly kind: 'join'; readonly key: string; readonly members: JoinedMembers; readonly now: number }
  | { readonly kind: 'agents'; readonly call: AgentCall }
  | { readonly kind: 'piece'; readonly shard: number };

/** The answer to a question of each kind. */
export type Answers = {
  /** The key as it was stored, if it was new, and whether the event's own key is known from now on. */
  readonly 'first-sight': { readonly stored: string | undefined; readonly isKnown: boolean };
  readonly 'ignored-since': number | undefined;
  readonly 'last-log': string | undefined;
  readonly join: JoinedMembers;
  readonly agents: unknown;
  readonly piece: boolean;
};

/** What a thread tells on the way of an event; it takes effect with the event. Rules go by their place in the ruleset. */
export type Notice =
  | { readonly kind: 'set-ignored'; readonly rule: number; readonly second: number | undefined }
  | { readonly kind: 'store-log'; readonly host: string; readonly rule: number; readonly log: string }
  | { readonly kind: 'agents'; readonly call: AgentCall }
  | { readonly kind: 'give-back'; readonly shard: number }
  | { readonly kind: 'exhausted'; readonly owner: string }
  | { readonly kind: 'cut-search' }
  | { readonly kind: 'ignored-key'; readonly key: string }
  | { readonly kind: 'sca-dump'; readonly agentId: string; readonly policyId: string; readonly first: boolean };

/** Results of some events of a thread, in their order (`results.ts`). */
export type ResultChunk = {
  /** Events. */
  readonly events: number;
  /** The slot that they lie in, which is to be freed, and how far it is filled. */
  readonly slot: number | undefined;
  readonly filled: { readonly count: number; readonly bytes: number };
  /** Results that do not lie in the slot. */
  readonly own: OwnResults | undefined;
  /** What was counted since the chunk before. */
  readonly counted: CountersDelta;
};

/** What a thread remembers of its agents. */
export type CapturedPart = {
  readonly layout: CorrelationLayout;
  /** `EventColumns`, as V8 serializes them, and how many events they have in all. */
  readonly events: readonly Uint8Array[];
  readonly count: number;
};

/** Under which configuration events are analysed, with the texts of its ruleset. */
export type ThreadConfiguration = {
  readonly inForce: InForce;
  readonly sources: StoredRuleset;
  readonly loading: LoadingSettings;
  /** Bounds of what is remembered; those of all threads together. */
  readonly maxRememberedBytes: number;
  readonly shards: number;
};

/** To a thread. */
export type ThreadOrder =
  | ({ readonly kind: 'configure' } & ThreadConfiguration)
  | {
      readonly kind: 'restore';
      readonly correlation: CorrelationSnapshot;
    }
  | { readonly kind: 'forget-agent'; readonly id: string }
  | { readonly kind: 'unit'; readonly unit: SharedArrayBuffer }
  | { readonly kind: 'capture' };

/** From a thread. Those with `inTurn` belong between the events. */
export type ThreadWord =
  | { readonly kind: 'results'; readonly chunk: ResultChunk }
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'configured' }
  | { readonly kind: 'forgotten' }
  | { readonly kind: 'captured'; readonly part: CapturedPart }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly text: string };

/** What a thread is begun with. */
export type ThreadStart = {
  /** Its number, from 0. */
  readonly number: number;
  /** By which it waits for answers, see `ANSWERED`. */
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly answers: MessagePort;
  /** Memory that all threads share, and where the slots of this one begin in it. */
  readonly memory: SharedArrayBuffer;
  readonly slotsAt: number;
};

/** Place in `control`: how many questions were answered; the thread sleeps on it. */
export const ANSWERED = 0;
/** Place in `control`: not 0 when keys that were known may be forgotten, so that threads ask for each. */
export const KEYS_FULL = 1;
/** Place in `control` of the first slot: not 0 when results lie in it. Those of the others follow. */
export const FIRST_SLOT = 2;
/** Slots that each thread has. */
export const SLOTS = 6;
/** Size of `control`. */
export const CONTROL_WORDS = FIRST_SLOT + SLOTS;
