import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadHostConfig } from '../../lib/agents/load-host-config.js';
import { ConfigError } from '../../lib/config/config-error.js';
import { loadInternalOption } from '../../lib/config/internal-options.js';
import type { Home } from '../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { type CommandRefusal, type CommandRunner, Evaluator } from '../../lib/sca/evaluate.js';
import { type LoadedPolicies, loadPolicies, type PolicyPlace, policyPlaces } from '../../lib/sca/load-policies.js';
import { look } from '../../lib/sca/look.js';
import { type LoadedPolicy, refusalReason } from '../../lib/sca/policy-file.js';
import { ScaCommands } from '../../lib/sca/run-sca-command.js';
import type { TextStyle } from '../terminal/text-style.js';
import type { ToolStreams } from '../terminal/tool-arguments.js';
import { checkJson, renderCheck, renderPolicy, renderSummary, type ShownCheck } from './render-checks.js';
import { parseScaOptions, SCA_EXIT, type ScaOptions } from './sca-options.js';

const SECOND_MS = 1000;
/** Between SIGTERM and SIGKILL, milliseconds. */
const KILL_MS = 2000;

export type ScaStreams = ToolStreams & { readonly style: TextStyle; readonly signal: AbortSignal };

type ScaWork = LoadedPolicies & { readonly skipNfs: boolean; readonly commands: CommandRunner };

/**
 * `svc-sca`: evaluates policies by hand, for who writes them.
 * @param args without node and script
 * @returns the exit code, see {@link SCA_EXIT}
 */
export async function scaCommand(args: readonly string[], streams: ScaStreams): Promise<number> {
  const parsed = parseScaOptions(args, streams);
  if (typeof parsed === 'number') return parsed;
  const say = (text: string): void => {
    streams.writeError(`svc-sca: ${streams.style.foreign(text)}\n`);
  };
  let work: ScaWork;
  try {
    work = prepare(parsed.paths, parsed.options);
  } catch (error) {
    if (!(error instanceof HomeError || error instanceof ConfigError)) throw error;
    say(error.message);
    return SCA_EXIT.broken;
  }
  for (const warning of work.warnings) say(warning);
  if (work.policies.length === 0) {
    if (work.warnings.length === 0) say('there are no policies');
    return SCA_EXIT.broken;
  }
  const broken = work.warnings.length > 0;
  if (parsed.options.validate === true) {
    for (const { path, policy } of work.policies) {
      streams.write(`${streams.style.foreign(path)}: ${String(policy.checks.length)} checks\n`);
    }
    return broken ? SCA_EXIT.broken : SCA_EXIT.passed;
  }
  try {
    const { shown, failed } = await new ScaReport(work, parsed.options, streams).run();
    if (shown === 0 && parsed.options.check !== undefined) say('no such check');
    if (broken || shown === 0) return SCA_EXIT.broken;
    return failed > 0 ? SCA_EXIT.failed : SCA_EXIT.passed;
  } catch (error) {
    if (!streams.signal.aborted) throw error;
    return SCA_EXIT.interrupted;
  }
}

/** @throws HomeError, ConfigError */
function prepare(paths: readonly string[], options: ScaOptions): ScaWork {
  const home = resolveHome(options.home);
  const needsHome = paths.length === 0 || options.home !== undefined;
  const configured = needsHome ? configuration(home) : undefined;
  const file = { home, remoteCommands: configured?.remoteCommands ?? false };
  const { places, warnings } = paths.length === 0 ? policyPlaces(file, configured?.named ?? []) : typedPlaces(paths);
  const loaded = loadPolicies(places, file);
  return {
    policies: loaded.policies,
    warnings: [...warnings, ...loaded.warnings],
    skipNfs: configured?.skipNfs ?? true,
    commands: new ScaCommands({
      directory: needsHome ? home.root : process.cwd(),
      maxMs: () => (configured?.timeout ?? DEFAULT_TIMEOUT) * SECOND_MS,
      killMs: () => KILL_MS,
    }),
  };
}

/** Seconds, where no home says otherwise. */
const DEFAULT_TIMEOUT = 30;

/** What a home says of its policies. @throws HomeError, ConfigError */
function configuration(home: Home) {
  const { role } = readHomeRecord(home);
  const { sca } = loadHostConfig(home, ['sca']);
  return {
    named: sca?.policies.policy ?? [],
    skipNfs: sca?.skip_nfs ?? true,
    remoteCommands: role === 'agent' && loadInternalOption(home, 'sca.remote_commands') === 1,
    timeout: loadInternalOption(home, 'sca.commands_timeout'),
  };
}

function typedPlaces(paths: readonly string[]): {
  readonly places: readonly PolicyPlace[];
  readonly warnings: readonly string[];
} {
  const warnings: string[] = [];
  const places = paths.flatMap((path) => {
    try {
      return [{ path, real: realpathSync(resolve(path)) }];
    } catch {
      warnings.push(`File '${path}' not found.`);
      return [];
    }
  });
  return { places, warnings };
}

/** Evaluates and prints. */
class ScaReport {
  readonly #work: ScaWork;
  readonly #options: ScaOptions;
  readonly #streams: ScaStreams;
  readonly #evaluator: Evaluator;

  constructor(work: ScaWork, options: ScaOptions, streams: ScaStreams) {
    this.#work = work;
    this.#options = options;
    this.#streams = streams;
    this.#evaluator = new Evaluator({
      looker: { look: (order) => Promise.resolve(look(order)) },
      commands: work.commands,
      skipNfs: work.skipNfs,
      base: options.base === '' ? '' : resolve(options.base),
    });
  }

  /** @returns checks that were evaluated, and those that failed. @throws the reason of the signal */
  async run(): Promise<{ readonly shown: number; readonly failed: number }> {
    let shown = 0;
    let failed = 0;
    for (const loaded of this.#work.policies) {
      for await (const check of this.#policy(loaded)) {
        shown += 1;
        if (check.evaluation.result === 'failed') failed += 1;
      }
    }
    return { shown, failed };
  }

  async *#policy(loaded: LoadedPolicy): AsyncGenerator<ShownCheck> {
    const { check: wanted, json, verbose = false } = this.#options;
    const { write, style, signal } = this.#streams;
    const { policy } = loaded;
    const refusal = this.#refusal(loaded);
    const checks = policy.checks.filter(({ id }) => wanted?.includes(String(id)) ?? true);
    if (checks.length === 0) return;
    if (json !== true) write(renderPolicy(loaded, style));
    if (policy.requirements !== undefined) {
      const evaluation = await this.#evaluator.evaluate(policy.requirements, refusal, signal);
      const required = {
        title: `Required: ${policy.requirements.title}`,
        id: undefined,
        policy: policy.id,
        evaluation,
      };
      if (json !== true) write(renderCheck(required, verbose, style));
      // Who asks for checks by their ids sees them all the same.
      if (evaluation.result !== 'passed' && wanted === undefined) {
        if (json !== true) write(`Skipping policy '${style.foreign(policy.id)}': its requirements are not met\n`);
        return;
      }
    }
    const done: ShownCheck[] = [];
    for (const check of checks) {
      const evaluation = await this.#evaluator.evaluate(check, refusal, signal);
      const shown = { title: check.title, id: check.id, policy: policy.id, evaluation };
      write(json === true ? checkJson(shown) : renderCheck(shown, verbose, style));
      done.push(shown);
      yield shown;
    }
    if (json !== true) write(renderSummary(done, style));
  }

  #refusal({ refusal }: LoadedPolicy): CommandRefusal | undefined {
    if (!this.#options.commands) return (line) => `Command '${line}' is not run: --no-commands`;
    if (this.#options.base !== '') return (line) => `Command '${line}' is not run: it would look at this host`;
    if (refusal === undefined || this.#options.trust === true) return undefined;
    return (line) => refusalReason(refusal, line);
  }
}
