import type { Limiter } from '../../../lib/async/limiter.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { Evaluator } from '../../../lib/sca/evaluate.js';
import {
  type LoadedPolicies,
  type NamedPolicy,
  PolicyCollection,
  policyPlaces,
} from '../../../lib/sca/load-policies.js';
import { type LoadedPolicy, type PolicyFileOptions, refusalReason } from '../../../lib/sca/policy-file.js';
import type { PolicyOrder } from './look-threads.js';
import { checkMessage, policiesMessage, type PolicyScan, type ScaMessage, summaryMessage } from './sca-messages.js';
import type { ScaResults, StoredCheck } from './sca-results.js';
import type { ScaSender } from './sca-sender.js';

export type ScaScanParts = {
  readonly evaluator: Evaluator;
  /** Reads a policy; a text says what is wrong with it. */
  readonly load: (order: PolicyOrder, signal: AbortSignal) => Promise<LoadedPolicy | string>;
  readonly results: ScaResults;
  readonly sender: ScaSender;
  /** One sends messages of a policy at a time: a scan, or the answer to a request. */
  readonly turns: Limiter;
  readonly logger: Logger;
  /** A scan id, 1 to 2147483647. */
  readonly scanId: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** What a scan goes by. */
export type ScaScanOrder = { readonly file: PolicyFileOptions; readonly named: readonly NamedPolicy[] };

/** Counters of all scans. `cut`: messages that were too long. */
export type ScaCounts = { scans: number; skipped: number; refused: number; changed: number; cut: number };

/** Between the checks of a policy and its summary. */
const BEFORE_SUMMARY_MS = 3000;
const SECOND_MS = 1000;

/** Scans this host by its policies, and tells what came out (integrity-and-inventory.md 10.4). */
export class ScaScans {
  readonly counts: ScaCounts = { scans: 0, skipped: 0, refused: 0, changed: 0, cut: 0 };
  readonly #parts: ScaScanParts;
  readonly #cutLog: LimitedLogger;
  /** Ids of policies by their files, as they were read last. */
  readonly #ids = new Map<string, string>();

  constructor(parts: ScaScanParts) {
    this.#parts = parts;
    this.#cutLog = parts.logger.limited();
  }

  /** One scan. @throws the reason of the signal */
  async run(order: ScaScanOrder, signal: AbortSignal): Promise<void> {
    const { logger, results, sender, now } = this.#parts;
    const begun = now();
    this.counts.scans += 1;
    logger.info('Starting Security Configuration Assessment scan.');
    const { policies, warnings, listed } = await this.#load(order, signal);
    for (const warning of warnings) logger.warn(warning);
    for (const policy of policies) await this.#policy(policy, signal);
    results.keepOnly(new Set(listed));
    await sender.send(policiesMessage(listed), signal);
    const seconds = Math.round((now() - begun) / SECOND_MS);
    logger.info(`Security Configuration Assessment scan finished. Duration: ${String(seconds)} seconds.`);
  }

  /** `listed`: ids of all, those included whose file was right before and is not now: nobody is to forget their results. */
  async #load(
    { file, named }: ScaScanOrder,
    signal: AbortSignal,
  ): Promise<LoadedPolicies & { readonly listed: readonly string[] }> {
    const { places, warnings } = policyPlaces(file, named);
    const loaded = new PolicyCollection();
    for (const place of places) {
      const order = { ...place, home: file.home.root, remoteCommands: file.remoteCommands };
      loaded.take(place.path, await this.#parts.load(order, signal));
    }
    this.counts.refused += places.length - loaded.policies.length;
    const read = new Map(loaded.policies.map(({ path, policy }) => [path, policy.id]));
    const listed = new Set<string>();
    for (const { path } of places) {
      const id = read.get(path) ?? this.#ids.get(path);
      if (id !== undefined) listed.add(id);
    }
    for (const [path, id] of read) this.#ids.set(path, id);
    return { policies: loaded.policies, warnings: [...warnings, ...loaded.warnings], listed: [...listed] };
  }

  async #policy(loaded: LoadedPolicy, signal: AbortSignal): Promise<void> {
    const { evaluator, logger, scanId, now, turns } = this.#parts;
    const { policy, path, hash } = loaded;
    const refusal = loaded.refusal;
    const refuse = refusal === undefined ? undefined : (line: string): string => refusalReason(refusal, line);
    const { requirements } = policy;
    if (requirements !== undefined) {
      const { result } = await evaluator.evaluate(requirements, refuse, signal);
      if (result !== 'passed') {
        this.counts.skipped += 1;
        logger.info(`Skipping policy '${path}': '${requirements.title}'`);
        return;
      }
    }
    logger.info(`Starting evaluation of policy: '${path}'`);
    const id = scanId();
    const started = epochSeconds(now());
    const checks = new Map<number, StoredCheck>();
    for (const check of policy.checks) {
      const evaluation = await evaluator.evaluate(check, refuse, signal);
      if (evaluation.reason !== undefined) {
        logger.debug(`Check ${String(check.id)} of policy '${path}' is not applicable: ${evaluation.reason}`);
      }
      const message = this.#whole(checkMessage(policy, id, check, evaluation), `check ${String(check.id)}`, path);
      checks.set(check.id, { result: evaluation.result, message });
    }
    const scan: PolicyScan = {
      ...{ policy, fileHash: hash, scanId: id, started, ended: epochSeconds(now()) },
      results: [...checks.values()].map(({ result }) => result),
    };
    await turns.run(() => this.#tell(scan, checks, path, signal), { signal });
    logger.info(`Evaluation finished for policy '${path}'`);
  }

  /** The first scan of a policy tells the sum of its results alone, later ones what changed, too. */
  async #tell(
    scan: PolicyScan,
    checks: ReadonlyMap<number, StoredCheck>,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { results, sender, pause } = this.#parts;
    const before = results.get(scan.policy.id);
    results.set({ scan, checks });
    if (before !== undefined) {
      for (const [id, { result, message }] of checks) {
        if (before.checks.get(id)?.result === result) continue;
        this.counts.changed += 1;
        await sender.send(message, signal);
      }
    }
    await pause(BEFORE_SUMMARY_MS, signal);
    signal.throwIfAborted();
    const summary = summaryMessage(scan, before === undefined ? 'first_scan' : undefined);
    await sender.send(this.#whole(summary, 'the summary', path), signal);
  }

  #whole({ text, cut }: ScaMessage, what: string, path: string): string {
    if (cut) {
      this.counts.cut += 1;
      this.#cutLog.warn(`The message of ${what} of policy '${path}' is too long: it is sent without all of its texts.`);
    }
    return text;
  }
}

function epochSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / SECOND_MS);
}
