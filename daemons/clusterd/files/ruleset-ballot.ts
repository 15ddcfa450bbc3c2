import type { CandidateRecord, VerdictRecord } from '../../../lib/cluster/record-kinds.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { SetInForce } from './file-set.js';
import { RULESET } from './set-place.js';

/** A node that is there and has not said after so long is taken for one that refuses, milliseconds. */
const VERDICT_MS = 120_000;
/** While others are asked: presence and verdicts are looked at so often, milliseconds. */
const PENDING_MS = 500;
const MAX_PROBLEMS = 20;
const MAX_PROBLEM_CHARS = 1000;

/** What a node says of a ruleset. */
export type Verdict = Pick<VerdictRecord, 'verdict' | 'problems'>;

export type Candidate = { readonly revision: number; readonly value: CandidateRecord };

/** What the records say of rulesets. */
export type RulesetRecords = {
  readonly inForce: SetInForce | undefined;
  readonly candidate: Candidate | undefined;
  /** By node. */
  readonly verdicts: ReadonlyMap<string, VerdictRecord>;
};

export type RulesetBallotParts = {
  readonly self: string;
  readonly logger: Logger;
  readonly records: () => RulesetRecords;
  /** Makes changes of records decided on what the records say then. @throws BusError */
  readonly change: (decide: () => readonly RecordChange[]) => Promise<void>;
  /** Fetches the candidate and has svc-analysisd of this node look at it. @throws what fails before that */
  readonly check: (candidate: CandidateRecord) => Promise<Verdict>;
  /** Nodes that are heard, this one among them. @throws BusError */
  readonly present: () => Promise<readonly string[]>;
  readonly leaseHeld: () => Promise<boolean>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
};

/**
 * How a changed ruleset comes into force: it is a candidate first, every node that is heard says whether it loads there, and
 * only when all say so it is the set of the cluster. Everything is in the records, so that whoever dies in the middle, or
 * comes back from it, finds how far it is; the proposer decides, or the holder of the lease when the proposer is away.
 */
export class RulesetBallot {
  readonly #parts: RulesetBallotParts;
  readonly #now: () => number;
  #seen: { readonly candidate: number; readonly since: number } | undefined;
  #said: number | undefined;

  constructor(parts: RulesetBallotParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** What was refused of the candidate that stands, and by whom; undefined when nothing was. */
  get refusal(): readonly string[] | undefined {
    const { candidate, verdicts } = this.#parts.records();
    if (candidate === undefined) return undefined;
    const refused = [...verdicts].filter(
      ([, { candidate: of, verdict }]) => of === candidate.revision && verdict === 'refused',
    );
    if (refused.length === 0) return undefined;
    return refused.flatMap(([node, { problems }]) => problems.map((problem) => `node '${node}': ${problem}`));
  }

  /** Whether a candidate waits for nodes to say something. */
  get isPending(): boolean {
    return this.#parts.records().candidate !== undefined && this.refusal === undefined;
  }

  /**
   * Does what is this node's to do.
   * @returns milliseconds after which to look again; undefined when nothing waits
   * @throws BusError and others: to be tried again
   */
  async look(): Promise<number | undefined> {
    const { candidate, inForce, verdicts } = this.#parts.records();
    if (candidate === undefined) {
      this.#seen = undefined;
      return undefined;
    }
    const { revision, value } = candidate;
    if (value.basis !== (inForce?.revision ?? 0)) {
      await this.#withdraw(revision);
      return 0;
    }
    if (this.#seen?.candidate !== revision) this.#seen = { candidate: revision, since: this.#now() };
    if (this.refusal !== undefined) {
      this.#tellRefusal(candidate, this.refusal);
      return undefined;
    }
    if (verdicts.get(this.#parts.self)?.candidate !== revision) {
      await this.#say(this.#parts.self, revision, await this.#verdict(value));
      return 0;
    }
    if (await this.#decides(value)) await this.#decide(candidate, this.#seen.since);
    return PENDING_MS;
  }

  /** Takes the candidate of this node away: nothing is to be changed any more. */
  async withdrawOwn(): Promise<void> {
    const { candidate } = this.#parts.records();
    if (candidate?.value.node === this.#parts.self) await this.#withdraw(candidate.revision);
  }

  async #verdict(value: CandidateRecord): Promise<Verdict> {
    try {
      return await this.#parts.check(value);
    } catch (error) {
      return { verdict: 'refused', problems: [`it could not be looked at: ${describeError(error)}`] };
    }
  }

  async #say(node: string, candidate: number, { verdict, problems }: Verdict): Promise<void> {
    const value: VerdictRecord = {
      candidate,
      verdict,
      problems: problems.slice(0, MAX_PROBLEMS).map((text) => text.slice(0, MAX_PROBLEM_CHARS)),
    };
    await this.#parts.change(() => {
      const records = this.#parts.records();
      const stands = records.candidate?.revision === candidate && records.verdicts.get(node)?.candidate !== candidate;
      return stands ? [{ kind: 'verdict', key: node, value }] : [];
    });
  }

  async #decides({ node }: CandidateRecord): Promise<boolean> {
    if (node === this.#parts.self) return true;
    const present = await this.#parts.present();
    return !present.includes(node) && (await this.#parts.leaseHeld());
  }

  async #decide({ revision, value }: Candidate, since: number): Promise<void> {
    const present = await this.#parts.present();
    const { verdicts } = this.#parts.records();
    const silent = present.filter((node) => verdicts.get(node)?.candidate !== revision);
    if (silent.length > 0) {
      if (this.#now() - since < VERDICT_MS) return;
      for (const node of silent) {
        const problem = `it has not said within ${String(VERDICT_MS / 1000)} s whether the ruleset loads there`;
        await this.#say(node, revision, { verdict: 'refused', problems: [problem] });
      }
      return;
    }
    const { basis, ...record } = value;
    await this.#parts.change(() => {
      const records = this.#parts.records();
      const isSame = records.candidate?.revision === revision && (records.inForce?.revision ?? 0) === basis;
      if (!isSame || this.refusal !== undefined) return [];
      return [{ kind: 'files', key: RULESET, value: record }, ...this.#forgotten()];
    });
    const absent = present.filter((node) => verdicts.get(node)?.verdict === 'absent');
    if (absent.length > 0) {
      this.#parts.logger.warn(
        `The ruleset was put in force without nodes whose svc-analysisd does not run: ${absent.join(', ')}.`,
      );
    }
  }

  #withdraw(revision: number): Promise<void> {
    return this.#parts.change(() => (this.#parts.records().candidate?.revision === revision ? this.#forgotten() : []));
  }

  /** The candidate and all that was said of it are done with. */
  #forgotten(): RecordChange[] {
    const { verdicts } = this.#parts.records();
    return [
      { kind: 'candidate', key: RULESET, value: null },
      ...[...verdicts.keys()].map((node): RecordChange => ({ kind: 'verdict', key: node, value: null })),
    ];
  }

  #tellRefusal({ revision, value }: Candidate, problems: readonly string[]): void {
    if (this.#said === revision) return;
    this.#said = revision;
    const text = `is not put in force anywhere, the one in force stays: ${problems.join('; ')}`;
    const { logger, self } = this.#parts;
    if (value.node === self) logger.error(`The ruleset as it was changed here ${text}`);
    else logger.warn(`The ruleset of node '${value.node}' ${text}`);
  }
}
