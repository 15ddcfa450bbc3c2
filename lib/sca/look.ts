import { runningExecutables } from '../rootcheck/running-executables.js';
import { FOUND, invalid, negate, type Outcome, some } from './finding.js';
import type { LinePattern, ScaLanguage } from './line-pattern.js';
import { directoryExists, directoryHas } from './look-at-directory.js';
import { fileExists, fileMatches, type LookBudget, newLookBudget, someLine } from './look-at-file.js';
import { readRule, type ScaRule } from './sca-rule.js';
import { StepBudget } from './step-budget.js';

/** One rule to look at, as it crosses to the thread that looks. */
export type LookOrder = {
  /** Variables replaced. */
  readonly rule: string;
  readonly language: ScaLanguage;
  readonly skipNfs: boolean;
  /** What paths are looked for below; '' is this host. */
  readonly base: string;
  /** Output of the command of a `c:` rule, lines as byte strings: commands are run elsewhere. */
  readonly output?: readonly string[];
  /** Paths of programs that run, byte strings, where they are not those of this host. */
  readonly processes?: readonly string[];
};

/** Evaluates one rule: `not`, lists and patterns included. It blocks, and ends in bounded time where the file system answers. */
export function look(order: LookOrder): Outcome {
  const rule = readRule(order.rule, order.language);
  const outcome = lookFor(rule, order, newLookBudget(new StepBudget()));
  return rule.negated ? negate(outcome) : outcome;
}

function lookFor(rule: ScaRule, { skipNfs, base, output, processes }: LookOrder, budget: LookBudget): Outcome {
  switch (rule.kind) {
    case 'file': {
      const { paths, pattern } = rule;
      return some(paths, (path) => {
        const full = `${base}${path}`;
        return pattern === undefined ? fileExists(full) : fileMatches(full, pattern, budget);
      });
    }
    case 'directory': {
      const { paths, names, pattern } = rule;
      if (typeof names === 'string') return invalid(names);
      return some(paths, (path) => {
        const full = `${base}${path}`;
        return names === undefined ? directoryExists(full) : directoryHas(full, { names, pattern, skipNfs }, budget);
      });
    }
    case 'process':
      return someProcess(processes ?? runningExecutables(), rule.pattern, budget);
    case 'command':
      // A command without a pattern is not run.
      return rule.pattern === undefined ? FOUND : someLine(output ?? [], rule.pattern, budget.steps);
  }
}

function someProcess(paths: readonly string[], pattern: LinePattern, { steps }: LookBudget): Outcome {
  if (paths.length === 0) return invalid('No process can be seen');
  return someLine(paths, pattern, steps);
}
