import type { CandidateRecord, FilesFacts } from '../../../lib/cluster/record-kinds.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { FileSet, LocalChange, SetInForce } from './file-set.js';
import { type Manifest, manifestOf } from './manifest.js';
import { RulesetBallot, type RulesetBallotParts, type RulesetRecords, type Verdict } from './ruleset-ballot.js';
import type { RulesetEngine } from './ruleset-engine.js';
import type { RulesetStore } from './ruleset-store.js';
import type { SetContents } from './set-contents.js';
import { RULESET, type SetPlace } from './set-place.js';

/** When others decide first, or svc-analysisd does not run, milliseconds. */
const WAIT_MS = 1000;
/** The first ruleset of a cluster is that of the node with the lease: others look again after so long. */
const NOT_MINE_MS = 5000;
/** A ruleset in force that does not load here is tried again so often, milliseconds. */
const RELOAD_MS = 30_000;

export type RulesetSetParts = Pick<RulesetBallotParts, 'self' | 'change' | 'present' | 'leaseHeld'> & {
  readonly place: SetPlace;
  readonly logger: Logger;
  readonly records: () => RulesetRecords;
  readonly contents: SetContents;
  readonly store: RulesetStore;
  readonly engine: RulesetEngine;
};

type Refused = { readonly id: string; readonly basis: number; readonly problems: readonly string[] };

/**
 * The ruleset of the cluster on this node. What is changed in etc is proposed to all nodes once it loads here, and comes into
 * force with them or not at all; svc-analysisd works by the set in force, whatever etc holds meanwhile.
 */
export class RulesetSet {
  readonly #parts: RulesetSetParts;
  readonly #ballot: RulesetBallot;
  #set: FileSet | undefined;
  #refused: Refused | undefined;
  #notLoaded: { readonly problems: readonly string[]; readonly at: number } | undefined;
  #loaded: string | undefined;
  #revision = 0;
  #isForced = false;
  /** Looks that came to their end. */
  #looks = 0;

  constructor(parts: RulesetSetParts) {
    this.#parts = parts;
    this.#ballot = new RulesetBallot({ ...parts, check: (candidate) => this.#check(candidate) });
  }

  /** @param set the files in etc, made with `publish` of this object */
  follow(set: FileSet): void {
    this.#set = set;
  }

  get looks(): number {
    return this.#looks;
  }

  /** Proposes again what was refused: what stood in the way elsewhere may be mended. */
  force(): void {
    this.#isForced = true;
  }

  /** As `FileSet.look`. */
  async look(): Promise<number | undefined> {
    const set = this.#set;
    if (set === undefined) return undefined;
    await this.#keepInForce();
    const voted = await this.#ballot.look();
    const again = await set.look();
    if (set.synced) {
      this.#refused = undefined;
      await this.#ballot.withdrawOwn();
    }
    this.#isForced = false;
    this.#looks += 1;
    const reload = this.#notLoaded === undefined ? undefined : RELOAD_MS;
    return earliest(voted, again, reload);
  }

  /** How it stands with the ruleset here. */
  facts(): FilesFacts['ruleset'] {
    const { inForce, candidate } = this.#parts.records();
    const set = this.#set;
    const isOwn = candidate?.value.node === this.#parts.self && candidate.value.id === set?.localId;
    const refusal = isOwn ? this.#ballot.refusal : undefined;
    const refused = refusal ?? (this.#refused?.id === set?.localId ? this.#refused?.problems : undefined);
    const of = { revision: this.#revision, id: this.#loaded ?? '' };
    const isHere = inForce !== undefined && set?.synced === true;
    if (isHere && this.#notLoaded !== undefined) {
      return { ...of, synced: false, state: 'not_loaded', problems: [...this.#notLoaded.problems] };
    }
    if (isHere) return { ...of, synced: true, state: 'in_force', problems: [] };
    if (refused !== undefined) return { ...of, synced: false, state: 'refused', problems: [...refused] };
    return { ...of, synced: false, state: isOwn ? 'proposed' : 'waiting', problems: [] };
  }

  /** svc-analysisd takes over what is in force; etc follows. */
  async #accept({ record, revision }: SetInForce, files: Manifest): Promise<void> {
    const { store, logger } = this.#parts;
    await store.have(record.id, files);
    const before = store.inForce;
    store.enforce(record.id);
    await this.#load(record.id, revision);
    this.#revision = revision;
    if (before !== record.id) {
      logger.info(`The ruleset of node '${record.node}' is in force (revision ${String(revision)}).`);
    }
    const { candidate } = this.#parts.records();
    const kept = [record.id, before, candidate?.value.id].filter((id) => id !== undefined);
    store.retain(new Set(kept));
  }

  /** `FileSetParts.publish`. */
  async publish(change: LocalChange): Promise<number | undefined> {
    const { records, leaseHeld, self, contents, place } = this.#parts;
    const { inForce, candidate } = records();
    const basis = inForce?.revision ?? 0;
    const isOwn = candidate?.value.node === self;
    if (this.#ballot.isPending) {
      if (isOwn && candidate.value.id !== change.id) await this.#ballot.withdrawOwn();
      return WAIT_MS;
    }
    if (inForce === undefined && !(await leaseHeld())) return NOT_MINE_MS;
    const isRefused =
      (isOwn && candidate.value.id === change.id && candidate.value.basis === basis) ||
      (this.#refused?.id === change.id && this.#refused.basis === basis);
    if (isRefused && !this.#isForced) return undefined;
    this.#refused = undefined;
    const record = await contents.bring(place, change.files, change.base?.files);
    if (record === undefined) return 0;
    const { verdict, problems } = await this.#checkHere(change);
    if (verdict === 'absent') return WAIT_MS;
    // Somebody may only have tried it: the API takes back what does not load.
    if (verdict === 'refused' && !(await change.isStill())) return 0;
    if (verdict === 'refused') return this.#refuse({ id: change.id, basis, problems });
    const value: CandidateRecord = { ...record, basis };
    await this.#parts.change(() => {
      const now = records();
      const isFree = now.candidate === undefined || !this.#ballot.isPending;
      return isFree && (now.inForce?.revision ?? 0) === basis ? [{ kind: 'candidate', key: RULESET, value }] : [];
    });
    return 0;
  }

  /** A ruleset that does not load here is no proposal. */
  async #refuse(refused: Refused): Promise<number | undefined> {
    const { logger } = this.#parts;
    await this.#ballot.withdrawOwn();
    this.#refused = refused;
    logger.error(
      `The ruleset as it was changed here does not load and is proposed to no node, the one in force stays: ` +
        `${refused.problems.join('; ')}`,
    );
    return undefined;
  }

  async #checkHere({ place, files, id }: LocalChange): Promise<Verdict> {
    const { store, engine } = this.#parts;
    await store.have(id, manifestOf(place, [...files.values()]));
    return engine.check(id);
  }

  async #check(candidate: CandidateRecord): Promise<Verdict> {
    const { contents, place, store, engine } = this.#parts;
    await store.have(candidate.id, await contents.manifest(place, candidate));
    return engine.check(candidate.id);
  }

  /** Also when the folder that svc-analysisd reads is gone, or it has not come to load what is in it. */
  async #keepInForce(): Promise<void> {
    const { records, store, contents, place } = this.#parts;
    const { inForce } = records();
    if (inForce === undefined) return;
    const { revision, record } = inForce;
    const isDue = this.#notLoaded !== undefined && performance.now() - this.#notLoaded.at >= RELOAD_MS;
    if (store.inForce === record.id && this.#loaded === record.id && !isDue) {
      this.#revision = revision;
      return;
    }
    await this.#accept(inForce, await contents.manifest(place, record));
  }

  async #load(id: string, revision: number): Promise<void> {
    const { engine, logger } = this.#parts;
    let problems: readonly string[];
    try {
      problems = await engine.load(id);
    } catch (error) {
      problems = [describeError(error)];
    }
    this.#loaded = id;
    if (problems.length === 0) {
      if (this.#notLoaded !== undefined) logger.info('svc-analysisd has loaded the ruleset of the cluster now.');
      this.#notLoaded = undefined;
      return;
    }
    if (this.#notLoaded === undefined) {
      logger.error(
        `svc-analysisd of this node cannot load the ruleset of the cluster (revision ${String(revision)}) and works by ` +
          `the one before: ${problems.join('; ')}`,
      );
    }
    this.#notLoaded = { problems, at: performance.now() };
  }
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
