import { createHash } from 'node:crypto';
import { CheckTable, type StoredCheck } from './check-table.js';
import { SharedValues } from './shared-values.js';

/** Bounds on what is remembered, so that an agent that makes things up cannot fill the manager's memory. */
const MAX_ROOTCHECK_TEXTS = 10_000;
const MAX_CHECKS = 20_000;
const MAX_POLICIES = 1_000;
const MAX_HOSTS = 65_536;
/** Files of an agent before 3.11: the reference's default directories have about half as many. */
const MAX_FILES = 20_000;

/** The last scan of a policy. */
export type StoredScan = {
  readonly hash: string;
  readonly scanId: number;
  /** Dumps since then that ended without the results it summed up; absent: none. */
  readonly repeated?: number;
};

/** What one agent reported before, as far as it decides about later events. Most agents have little of all that. */
type AgentRecord = {
  /** Texts of rootcheck, the longest unseen first. */
  rootcheck?: Set<string>;
  checks?: CheckTable;
  scans?: Map<string, StoredScan>;
  /** Hash of the file of each known policy. */
  policies?: Map<string, string>;
  /** Sums of files by their paths, of agents before 3.11, whose messages do not tell what was before. */
  files?: Map<string, string>;
  /** Whether all those files were told once: a further one is new then. */
  hasScanned: boolean;
};

/** All of it as plain data, for checkpoints. */
export type AgentMemorySnapshot = {
  readonly hosts: readonly (readonly [string, string])[];
  readonly agents: readonly {
    readonly id: string;
    readonly rootcheck: readonly string[];
    readonly checks: readonly (readonly [number, StoredCheck])[];
    readonly scans: readonly (readonly [string, StoredScan])[];
    readonly policies: readonly (readonly [string, string])[];
    /** Absent where the agent is not that old. */
    readonly files?: readonly (readonly [string, string])[];
    readonly hasScanned?: boolean;
  }[];
};

/**
 * What rootcheck, policy scans and host information reported before (decoding.md 4.11). The reference asks the agent's
 * database; the engine keeps it itself, because alerts depend on it and a replay must decide the same again. What is shown
 * of agents is stored by svc-db.
 */
export class AgentMemory {
  readonly #agents = new Map<string, AgentRecord>();
  readonly #hosts = new Map<string, string>();
  readonly #shared = new SharedValues();

  /** Remembers a text of rootcheck; whether the agent had not sent it before. */
  addRootcheck(agentId: string, text: string): boolean {
    const rootcheck = (this.#agent(agentId).rootcheck ??= new Set());
    // Deleted and added again, it is the one seen last.
    const known = rootcheck.delete(text);
    rootcheck.add(this.#shared.text(text));
    dropOldest(rootcheck, MAX_ROOTCHECK_TEXTS);
    return !known;
  }

  /** Forgets the rootcheck texts of an agent, when its database was cleared. */
  clearRootcheck(agentId: string): void {
    this.#agents.get(agentId)?.rootcheck?.clear();
  }

  check(agentId: string, id: number): StoredCheck | undefined {
    return this.#agents.get(agentId)?.checks?.get(id);
  }

  setCheck(agentId: string, id: number, { policyId, result, scanId }: StoredCheck): void {
    const checks = (this.#agent(agentId).checks ??= new CheckTable());
    checks.set(id, { policyId: this.#shared.text(policyId), result: this.#shared.text(result), scanId });
    if (checks.size > MAX_CHECKS) checks.deleteOldest();
  }

  /** Removes the checks of a policy that are not of this scan; all of them without one. */
  deleteChecks(agentId: string, policyId: string, exceptScan?: number): void {
    this.#agents.get(agentId)?.checks?.deletePolicy(policyId, exceptScan);
  }

  scan(agentId: string, policyId: string): StoredScan | undefined {
    return this.#agents.get(agentId)?.scans?.get(policyId);
  }

  /** A summary is what a scan ends with, and the end of a dump: no more checks come for long. */
  setScan(agentId: string, policyId: string, scan: StoredScan): void {
    const agent = this.#agent(agentId);
    const stored = { ...scan, hash: this.#shared.text(scan.hash) };
    setBounded((agent.scans ??= new Map()), this.#shared.text(policyId), stored, MAX_POLICIES);
    agent.checks?.compact(this.#shared);
  }

  /** Hash of the policy's file, undefined for an unknown policy. */
  policy(agentId: string, policyId: string): string | undefined {
    return this.#agents.get(agentId)?.policies?.get(policyId);
  }

  setPolicy(agentId: string, policyId: string, hashFile: string): void {
    const policies = (this.#agent(agentId).policies ??= new Map());
    setBounded(policies, this.#shared.text(policyId), this.#shared.text(hashFile), MAX_POLICIES);
  }

  deletePolicy(agentId: string, policyId: string): void {
    this.#agents.get(agentId)?.policies?.delete(policyId);
  }

  policies(agentId: string): string[] {
    return [...(this.#agents.get(agentId)?.policies?.keys() ?? [])];
  }

  /** SHA-256 of a policy's results in the order of check ids, joined with `:`; undefined without results. */
  resultsHash(agentId: string, policyId: string): string | undefined {
    const checks = [...(this.#agents.get(agentId)?.checks?.entries() ?? [])]
      .filter(([, check]) => check.policyId === policyId)
      .sort(([a], [b]) => a - b);
    if (checks.length === 0) {
      return undefined;
    }
    const results = checks.map(([, { result }]) => (result === 'not applicable' ? '' : result)).join(':');
    return createHash('sha256').update(results, 'latin1').digest('hex');
  }

  /** Sum of a file as an agent before 3.11 told it last. */
  file(agentId: string, path: string): string | undefined {
    return this.#agents.get(agentId)?.files?.get(path);
  }

  setFile(agentId: string, path: string, sum: string): void {
    const files = (this.#agent(agentId).files ??= new Map());
    setBounded(files, this.#shared.text(path), this.#shared.text(sum), MAX_FILES);
  }

  deleteFile(agentId: string, path: string): void {
    this.#agents.get(agentId)?.files?.delete(path);
  }

  /** Whether as many files of an agent are remembered as may be: others may have been forgotten. */
  isFullOfFiles(agentId: string): boolean {
    return (this.#agents.get(agentId)?.files?.size ?? 0) >= MAX_FILES;
  }

  /** Whether an agent before 3.11 has ended a scan. */
  hasScanned(agentId: string): boolean {
    return this.#agents.get(agentId)?.hasScanned ?? false;
  }

  setScanned(agentId: string): void {
    this.#agent(agentId).hasScanned = true;
  }

  host(ip: string): string | undefined {
    return this.#hosts.get(ip);
  }

  setHost(ip: string, information: string): void {
    setBounded(this.#hosts, this.#shared.text(ip), this.#shared.text(information), MAX_HOSTS);
  }

  /** Forgets everything about an agent that was removed. */
  deleteAgent(agentId: string): void {
    this.#agents.delete(agentId);
  }

  snapshot(): AgentMemorySnapshot {
    return { hosts: [...this.#hosts], agents: this.#agentsSnapshot() };
  }

  /** Gives what is remembered of agents to whoever analyses their events, and forgets it. Hosts stay: they are no agent's. */
  handOver(): AgentMemorySnapshot['agents'] {
    const agents = this.#agentsSnapshot();
    this.#agents.clear();
    return agents;
  }

  restore(snapshot: AgentMemorySnapshot): void {
    this.#agents.clear();
    this.#hosts.clear();
    for (const [ip, information] of snapshot.hosts) this.setHost(ip, information);
    for (const { id, rootcheck, checks, scans, policies, files = [], hasScanned = false } of snapshot.agents) {
      this.#agent(id).hasScanned = hasScanned;
      for (const text of rootcheck) this.addRootcheck(id, text);
      for (const [check, stored] of checks) this.setCheck(id, check, stored);
      for (const [policyId, hashFile] of policies) this.setPolicy(id, policyId, hashFile);
      for (const [path, sum] of files) this.setFile(id, path, sum);
      // Last, as it has the checks take little room.
      for (const [policyId, scan] of scans) this.setScan(id, policyId, scan);
    }
  }

  #agentsSnapshot(): AgentMemorySnapshot['agents'] {
    return [...this.#agents].map(([id, { rootcheck, checks, scans, policies, files, hasScanned }]) => ({
      id,
      rootcheck: [...(rootcheck ?? [])],
      checks: [...(checks?.entries() ?? [])],
      scans: [...(scans ?? [])],
      policies: [...(policies ?? [])],
      ...((files !== undefined && files.size > 0) || hasScanned ? { files: [...(files ?? [])], hasScanned } : {}),
    }));
  }

  #agent(id: string): AgentRecord {
    let record = this.#agents.get(id);
    if (record === undefined) {
      record = { hasScanned: false };
      this.#agents.set(id, record);
    }
    return record;
  }
}

function setBounded<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  dropOldest(map, most);
}

function dropOldest<K>(collection: { size: number; keys(): Iterator<K>; delete(key: K): boolean }, most: number): void {
  if (collection.size > most) {
    const oldest = collection.keys().next();
    if (oldest.done !== true) {
      collection.delete(oldest.value);
    }
  }
}
