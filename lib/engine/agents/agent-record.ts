import { BoundedTexts } from './bounded-texts.js';
import { type CheckColumns, CheckTable, type StoredCheck } from './check-table.js';
import type { SharedValues } from './shared-values.js';

/*
 * Bounds on what is remembered of one agent, so that one that makes things up cannot fill the manager's memory. Those in
 * bytes are of texts, a message of which may have 64 KiB; several times what hosts have.
 */
const MAX_ROOTCHECK_TEXTS = 10_000;
const MAX_ROOTCHECK_BYTES = 4 * 1024 * 1024;
const MAX_CHECKS = 20_000;
const MAX_POLICIES = 1_000;
/** Files of an agent before 3.11: the reference's default directories have about half as many. */
const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Of one file: its path and its sum are in one message. */
const LARGEST_FILE = 64 * 1024;

/** What a record takes beside its texts and checks, and what a check takes, in bytes of the log. */
const RECORD_BYTES = 200;
const CHECK_BYTES = 5;

/** The last scan of a policy. */
export type StoredScan = {
  readonly hash: string;
  readonly scanId: number;
  /** Dumps since then that ended without the results it summed up; absent: none. */
  readonly repeated?: number;
};

/** All of a record as plain data; what is absent is empty. */
export type AgentData = {
  readonly seenAt: number;
  readonly rootcheck?: readonly string[];
  readonly checks?: CheckColumns;
  readonly scans?: readonly (readonly [string, StoredScan])[];
  readonly policies?: readonly (readonly [string, string])[];
  readonly files?: readonly (readonly [string, string])[];
  readonly hasScanned?: boolean;
};

/** What one agent reported before, as far as it decides about later events. Most agents have little of all that. */
export class AgentRecord {
  readonly id: string;
  /** Number of the change that was the last one of this agent. */
  seenAt = 0;
  /** Neighbours in the order of `seenAt`. */
  older: AgentRecord | undefined = undefined;
  newer: AgentRecord | undefined = undefined;
  /** The rewriting that has noted all of it. */
  rewriting = 0;
  /** Whether all files of an agent before 3.11 were told once: a further one is new then. */
  hasScanned = false;
  readonly #shared: SharedValues;
  #rootcheck: BoundedTexts | undefined = undefined;
  #checks: CheckTable | undefined = undefined;
  #scans: Map<string, StoredScan> | undefined = undefined;
  #policies: Map<string, string> | undefined = undefined;
  #files: BoundedTexts | undefined = undefined;

  constructor(id: string, shared: SharedValues) {
    this.id = id;
    this.#shared = shared;
  }

  /** Texts of rootcheck, the longest unseen first. */
  get rootcheck(): BoundedTexts | undefined {
    return this.#rootcheck;
  }

  get checks(): CheckTable | undefined {
    return this.#checks;
  }

  get scans(): Map<string, StoredScan> | undefined {
    return this.#scans;
  }

  /** Hash of the file of each known policy. */
  get policies(): Map<string, string> | undefined {
    return this.#policies;
  }

  /** Sums of files by their paths, of agents before 3.11, whose messages do not tell what was before. */
  get files(): BoundedTexts | undefined {
    return this.#files;
  }

  /** Whether so many files are remembered that others may have been forgotten. */
  get isFullOfFiles(): boolean {
    const files = this.#files;
    return files !== undefined && (files.size >= MAX_FILES || files.bytes > MAX_FILE_BYTES - LARGEST_FILE);
  }

  addRootcheck(text: string): void {
    this.#rootcheck ??= new BoundedTexts(MAX_ROOTCHECK_TEXTS, MAX_ROOTCHECK_BYTES);
    this.#rootcheck.set(this.#shared.text(text), '');
  }

  setCheck(id: number, { policyId, result, scanId }: StoredCheck): void {
    const checks = (this.#checks ??= new CheckTable());
    checks.set(id, { policyId: this.#shared.text(policyId), result: this.#shared.text(result), scanId });
    if (checks.size > MAX_CHECKS) checks.deleteOldest();
  }

  /** A summary is what a scan ends with, and the end of a dump: no more checks come for long. */
  setScan(policyId: string, scan: StoredScan): void {
    const stored = { ...scan, hash: this.#shared.text(scan.hash) };
    setBounded((this.#scans ??= new Map()), this.#shared.text(policyId), stored);
    this.#checks?.compact(this.#shared);
  }

  setPolicy(policyId: string, hashFile: string): void {
    setBounded((this.#policies ??= new Map()), this.#shared.text(policyId), this.#shared.text(hashFile));
  }

  setFile(path: string, sum: string): void {
    this.#files ??= new BoundedTexts(MAX_FILES, MAX_FILE_BYTES);
    this.#files.set(this.#shared.text(path), this.#shared.text(sum));
  }

  /** Estimated bytes of `data` in the log. */
  get bytes(): number {
    const texts = (this.#rootcheck?.bytes ?? 0) + (this.#files?.bytes ?? 0);
    return RECORD_BYTES + texts + CHECK_BYTES * (this.#checks?.size ?? 0);
  }

  /** All of it; the copy does not change any more. */
  data(): AgentData {
    const rootcheck = this.#rootcheck;
    const checks = this.#checks;
    const files = this.#files;
    return {
      seenAt: this.seenAt,
      ...(rootcheck === undefined || rootcheck.size === 0 ? {} : { rootcheck: [...rootcheck.keys()] }),
      ...(checks === undefined || checks.size === 0 ? {} : { checks: checks.columns() }),
      ...(this.#scans === undefined ? {} : { scans: [...this.#scans] }),
      ...(this.#policies === undefined ? {} : { policies: [...this.#policies] }),
      ...(files === undefined || files.size === 0 ? {} : { files: files.entries() }),
      ...(this.hasScanned ? { hasScanned: true } : {}),
    };
  }

  /** Takes the place of all there is. */
  restore({
    seenAt,
    rootcheck = [],
    checks,
    scans = [],
    policies = [],
    files = [],
    hasScanned = false,
  }: AgentData): void {
    this.seenAt = seenAt;
    this.hasScanned = hasScanned;
    this.#rootcheck = this.#files = this.#scans = this.#policies = undefined;
    for (const text of rootcheck) this.addRootcheck(text);
    this.#checks = checks && CheckTable.of(checks, this.#shared);
    for (const [policyId, scan] of scans) this.setScan(policyId, scan);
    for (const [policyId, hashFile] of policies) this.setPolicy(policyId, hashFile);
    for (const [path, sum] of files) this.setFile(path, sum);
  }
}

function setBounded<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_POLICIES) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
