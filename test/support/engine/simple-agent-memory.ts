import { createHash } from 'node:crypto';
import type { AgentMemorySnapshot } from '../../../lib/engine/agents/agent-memory.js';
import type { StoredScan } from '../../../lib/engine/agents/agent-record.js';
import type { StoredCheck } from '../../../lib/engine/agents/check-table.js';

/** Bounds on what is remembered, so that an agent that makes things up cannot fill the manager's memory. */
const MAX_ROOTCHECK_TEXTS = 10_000;
const MAX_CHECKS = 20_000;
const MAX_POLICIES = 1_000;
const MAX_HOSTS = 65_536;
/** Files of an agent before 3.11: the reference's default directories have about half as many. */
const MAX_FILES = 20_000;

/** What one agent reported before, as far as it decides about later events. */
type AgentRecord = {
  /** Texts of rootcheck, the longest unseen first. */
  readonly rootcheck: Set<string>;
  readonly checks: Map<number, StoredCheck>;
  readonly scans: Map<string, StoredScan>;
  /** Hash of the file of each known policy. */
  readonly policies: Map<string, string>;
  /** Sums of files by their paths, of agents before 3.11, whose messages do not tell what was before. */
  readonly files: Map<string, string>;
  /** Whether all those files were told once: a further one is new then. */
  hasScanned: boolean;
};

/**
 * What rootcheck, policy scans and host information reported before (decoding.md 4.11). The reference asks the agent's
 * database; the engine keeps it itself, because alerts depend on it and a replay must decide the same again. What is shown
 * of agents is stored by svc-db.
 */
export class SimpleAgentMemory {
  readonly #agents = new Map<string, AgentRecord>();
  readonly #hosts = new Map<string, string>();

  /** Remembers a text of rootcheck; whether the agent had not sent it before. */
  addRootcheck(agentId: string, text: string): boolean {
    const { rootcheck } = this.#agent(agentId);
    // Deleted and added again, it is the one seen last.
    const known = rootcheck.delete(text);
    rootcheck.add(text);
    dropOldest(rootcheck, MAX_ROOTCHECK_TEXTS);
    return !known;
  }

  /** Forgets the rootcheck texts of an agent, when its database was cleared. */
  clearRootcheck(agentId: string): void {
    this.#agents.get(agentId)?.rootcheck.clear();
  }

  check(agentId: string, id: number): StoredCheck | undefined {
    return this.#agents.get(agentId)?.checks.get(id);
  }

  setCheck(agentId: string, id: number, check: StoredCheck): void {
    setBounded(this.#agent(agentId).checks, id, check, MAX_CHECKS);
  }

  /** Removes the checks of a policy that are not of this scan; all of them without one. */
  deleteChecks(agentId: string, policyId: string, exceptScan?: number): void {
    const checks = this.#agents.get(agentId)?.checks;
    for (const [id, check] of checks ?? []) {
      if (check.policyId === policyId && check.scanId !== exceptScan) {
        checks?.delete(id);
      }
    }
  }

  scan(agentId: string, policyId: string): StoredScan | undefined {
    return this.#agents.get(agentId)?.scans.get(policyId);
  }

  setScan(agentId: string, policyId: string, scan: StoredScan): void {
    setBounded(this.#agent(agentId).scans, policyId, scan, MAX_POLICIES);
  }

  /** Hash of the policy's file, undefined for an unknown policy. */
  policy(agentId: string, policyId: string): string | undefined {
    return this.#agents.get(agentId)?.policies.get(policyId);
  }

  setPolicy(agentId: string, policyId: string, hashFile: string): void {
    setBounded(this.#agent(agentId).policies, policyId, hashFile, MAX_POLICIES);
  }

  deletePolicy(agentId: string, policyId: string): void {
    this.#agents.get(agentId)?.policies.delete(policyId);
  }

  policies(agentId: string): string[] {
    return [...(this.#agents.get(agentId)?.policies.keys() ?? [])];
  }

  /** SHA-256 of a policy's results in the order of check ids, joined with `:`; undefined without results. */
  resultsHash(agentId: string, policyId: string): string | undefined {
    const checks = [...(this.#agents.get(agentId)?.checks ?? [])]
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
    return this.#agents.get(agentId)?.files.get(path);
  }

  setFile(agentId: string, path: string, sum: string): void {
    setBounded(this.#agent(agentId).files, path, sum, MAX_FILES);
  }

  deleteFile(agentId: string, path: string): void {
    this.#agents.get(agentId)?.files.delete(path);
  }

  /** Whether as many files of an agent are remembered as may be: others may have been forgotten. */
  isFullOfFiles(agentId: string): boolean {
    return (this.#agents.get(agentId)?.files.size ?? 0) >= MAX_FILES;
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
    setBounded(this.#hosts, ip, information, MAX_HOSTS);
  }

  /** Forgets everything about an agent that was removed. */
  deleteAgent(agentId: string): void {
    this.#agents.delete(agentId);
  }

  snapshot(): AgentMemorySnapshot {
    return {
      hosts: [...this.#hosts],
      agents: [...this.#agents].map(([id, { rootcheck, checks, scans, policies, files, hasScanned }]) => ({
        id,
        rootcheck: [...rootcheck],
        checks: [...checks],
        scans: [...scans],
        policies: [...policies],
        ...(files.size > 0 || hasScanned ? { files: [...files], hasScanned } : {}),
      })),
    };
  }

  #agent(id: string): AgentRecord {
    let record = this.#agents.get(id);
    if (record === undefined) {
      record = {
        rootcheck: new Set(),
        checks: new Map(),
        scans: new Map(),
        policies: new Map(),
        files: new Map(),
        hasScanned: false,
      };
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
