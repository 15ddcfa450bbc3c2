import type { EngineHooks } from '../../../lib/engine/engine.js';
import type { EngineState } from '../../../lib/engine/engine-state.js';
import type { CompiledRule } from '../../../lib/engine/rules/ruleset.js';
import type { AgentCall, Notice, Question } from './thread-words.js';

/** Where what all agents share lies. */
export interface SharedPlace {
  readonly state: EngineState;
  readonly hooks: EngineHooks;
}

/** The answer to a question of the event whose turn it is. */
export function answerTo(question: Question, { state, hooks }: SharedPlace): unknown {
  switch (question.kind) {
    case 'first-sight': {
      const { firstTimeSeen } = state;
      const stored = firstTimeSeen.take(question.key, question.isIds);
      if (stored !== undefined) hooks.firstTimeSeen?.(stored);
      return { stored, isKnown: firstTimeSeen.has(question.key) };
    }
    case 'ignored-since':
      return state.ignoredSince(ruleAt(state, question.rule));
    case 'last-log':
      return state.diffs.last(question.host, question.rule);
    case 'join': {
      const members = { ...question.members };
      state.accumulator.join(question.key, members, question.now);
      return members;
    }
    case 'agents':
      return callOf(state, question.call);
    case 'piece':
      return state.correlation.pieces?.take(question.shard) ?? false;
  }
}

/** Does what the event whose turn it is brings about. */
export function heed(notice: Notice, { state, hooks }: SharedPlace): void {
  switch (notice.kind) {
    case 'set-ignored':
      state.setIgnoredSince(ruleAt(state, notice.rule), notice.second);
      return;
    case 'store-log':
      state.diffs.store(notice.host, notice.rule, notice.log);
      return;
    case 'agents':
      callOf(state, notice.call);
      return;
    case 'give-back':
      state.correlation.pieces?.giveBack(notice.shard);
      return;
    case 'exhausted':
      state.countExhausted(notice.owner);
      return;
    case 'cut-search':
      state.countCutSearch();
      return;
    case 'ignored-key':
      hooks.ignored?.(notice.key);
      return;
    case 'sca-dump':
      hooks.requestScaDump?.(notice.agentId, notice.policyId, notice.first);
  }
}

function callOf({ agents }: EngineState, [name, ...about]: AgentCall): unknown {
  return (agents[name] as (...about: unknown[]) => unknown).call(agents, ...about);
}

function ruleAt(state: EngineState, ordinal: number): CompiledRule {
  const rule = state.ruleset.rules[ordinal];
  if (rule === undefined) throw new RangeError(`There is no rule ${String(ordinal)}: a thread has another ruleset.`);
  return rule;
}
