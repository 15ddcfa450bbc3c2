import { readable } from '../fim/byte-order.js';
import { describeError } from '../log/describe-error.js';
import { type Finding, invalid, type Outcome } from './finding.js';
import type { LookOrder } from './look.js';
import type { Condition, PolicyRule, RuleSet } from './policy.js';
import { readRule, splitRule } from './sca-rule.js';

/** Who looks at a host for a rule. */
export interface Looker {
  /** @throws the reason of the signal */
  look(order: LookOrder, signal: AbortSignal): Promise<Outcome>;
}

/** Who runs the command of a `c:` rule. */
export interface CommandRunner {
  /** @param line byte string @returns lines of its output, byte strings, or why there are none */
  run(line: string, signal: AbortSignal): Promise<readonly string[] | { readonly reason: string }>;
}

export type EvaluatorParts = {
  readonly looker: Looker;
  readonly commands: CommandRunner;
  readonly skipNfs: boolean;
  /** What paths are looked for below; '' is this host. */
  readonly base: string;
  readonly processes?: readonly string[];
};

/** What rules looked at, each once: members of messages. */
export type Looked = Readonly<Record<'file' | 'directory' | 'process' | 'command', readonly string[]>>;

/** `na`: not applicable. */
export type ScaResult = 'passed' | 'failed' | 'na';

/** A rule that was evaluated, for who looks closely. */
export type RuleTrace = { readonly rule: PolicyRule } & Outcome;

export type Evaluation = {
  readonly result: ScaResult;
  /** Of one that is not applicable. */
  readonly reason: string | undefined;
  readonly looked: Looked;
  /** Rules in their order, up to the one that decided. */
  readonly rules: readonly RuleTrace[];
};

const NO_REASON = 'Unknown reason';

/** Evaluates checks and requirements rule by rule, no further than it is needed (integrity-and-inventory.md 10.3). */
export class Evaluator {
  readonly #parts: EvaluatorParts;

  constructor(parts: EvaluatorParts) {
    this.#parts = parts;
  }

  /** @param refusal why commands of this policy do not run @throws the reason of the signal */
  async evaluate(set: RuleSet, refusal: CommandRefusal | undefined, signal: AbortSignal): Promise<Evaluation> {
    const traces: RuleTrace[] = [];
    const looked = {
      file: new Set<string>(),
      directory: new Set<string>(),
      process: new Set<string>(),
      command: new Set<string>(),
    };
    let finding: Finding = set.condition === 'all' ? 'found' : 'not-found';
    let reason: string | undefined;
    const decisive = set.condition === 'all' ? 'not-found' : 'found';
    for (const rule of set.rules) {
      signal.throwIfAborted();
      looked[rule.kind].add(lookedAt(rule));
      const outcome = await this.#rule(rule, set, refusal, signal);
      traces.push({ rule, ...outcome });
      if (outcome.finding === decisive) {
        finding = decisive;
        break;
      }
      if (outcome.finding === 'invalid') {
        finding = 'invalid';
        reason ??= outcome.reason ?? NO_REASON;
      }
    }
    return {
      result: resultOf(finding, set.condition),
      reason: finding === 'invalid' ? reason : undefined,
      looked: {
        ...{ file: [...looked.file], directory: [...looked.directory] },
        ...{ process: [...looked.process], command: [...looked.command] },
      },
      rules: traces,
    };
  }

  async #rule(
    { expanded: rule, kind }: PolicyRule,
    { language }: RuleSet,
    refusal: CommandRefusal | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { looker, commands, skipNfs, base, processes } = this.#parts;
    const order = { rule, language, skipNfs, base, ...(processes === undefined ? {} : { processes }) };
    try {
      if (kind !== 'command') return await looker.look(order, signal);
      const read = readRule(rule, language);
      if (read.kind !== 'command') return invalid(NO_REASON);
      if (refusal !== undefined) return invalid(refusal(readable(read.line)));
      if (read.pattern === undefined) return await looker.look(order, signal);
      const output = await commands.run(read.line, signal);
      return 'reason' in output ? invalid(output.reason) : await looker.look({ ...order, output }, signal);
    } catch (error) {
      signal.throwIfAborted();
      return invalid(describeError(error));
    }
  }
}

/** Words the reason for which a command is not run. @param line the command, as it is read */
export type CommandRefusal = (line: string) => string;

function resultOf(finding: Finding, condition: Condition): ScaResult {
  if (finding === 'invalid') return 'na';
  return (finding === 'found') === (condition !== 'none') ? 'passed' : 'failed';
}

/** As messages name it: the target, without white space around. */
function lookedAt({ expanded }: PolicyRule): string {
  return splitRule(expanded).target;
}
