import { createHash } from 'node:crypto';
import { ChangeNotes, type ChangesPart, type LoggedState } from '../state-changes.js';
import { AgentList } from './agent-list.js';
import type { AgentData, AgentRecord, StoredScan } from './agent-record.js';
import { BoundedTexts } from './bounded-texts.js';
import type { CheckEntry, StoredCheck } from './check-table.js';
import { SharedValues } from './shared-values.js';

/** Hosts that scans of ports tell of, so that nobody who makes some up fills the memory: number, and bytes of what is told. */
const MAX_HOSTS = 65_536;
const MAX_HOST_BYTES = 32 * 1024 * 1024;

/**
 * Agents of which something is remembered: twice what a manager has. One that was removed and not forgotten must not take
 * memory for ever; the one not heard of for longest is forgotten for another.
 */
const MAX_AGENTS = 200_000;

/** Hosts that are noted together. */
const HOSTS_PER_CHANGE = 500;

/** All of it as plain data. */
export type AgentMemorySnapshot = {
  readonly hosts: readonly (readonly [string, string])[];
  /** The one not heard of for longest first. */
  readonly agents: readonly {
    readonly id: string;
    readonly rootcheck: readonly string[];
    readonly checks: readonly CheckEntry[];
    readonly scans: readonly (readonly [string, StoredScan])[];
    readonly policies: readonly (readonly [string, string])[];
    /** Absent where the agent is not that old. */
    readonly files?: readonly (readonly [string, string])[];
    readonly hasScanned?: boolean;
  }[];
};

/** What is in a checkpoint instead of a memory that is in a log. */
export const NO_AGENTS: AgentMemorySnapshot = { hosts: [], agents: [] };

/** A change, the agent it concerns second; the form is that of logs: what is added later gets names of its own. */
type AgentChange =
  | readonly ['check', string, number, string, string, number]
  | readonly ['delete-checks', string, string, number | undefined]
  | readonly ['scan', string, string, StoredScan]
  | readonly ['policy', string, string, string]
  | readonly ['delete-policy', string, string]
  | readonly ['rootcheck', string, string]
  | readonly ['clear-rootcheck', string]
  | readonly ['file', string, string, string]
  | readonly ['delete-file', string, string]
  | readonly ['scanned', string]
  | readonly ['forget', string]
  /** All of an agent, in the place of what was said of it before. */
  | readonly ['agent', string, AgentData]
  | readonly ['host', string, string]
  /** Some of all hosts. */
  | readonly ['hosts', readonly (readonly [string, string])[]]
  /** Everything follows: hosts at once, agents in between of other changes, which count from this number on. */
  | readonly ['everything', number];

/**
 * What rootcheck, policy scans and host information reported before (decoding.md 4.11). The reference asks the agent's
 * database; the engine keeps it itself, because alerts depend on it and a replay must decide the same again. What is shown
 * of agents is stored by svc-db.
 */
export class AgentMemory implements LoggedState {
  readonly #shared = new SharedValues();
  readonly #agents = new AgentList(this.#shared);
  readonly #hosts = new BoundedTexts(MAX_HOSTS, MAX_HOST_BYTES);
  readonly #mostAgents: number;
  #notes: ChangeNotes<AgentChange> | undefined = undefined;
  #rewriting = 0;
  /** Agents that are to be noted whole. */
  #unwritten: IterableIterator<AgentRecord> | undefined = undefined;
  #forgotten = 0;

  /** @param mostAgents of how many agents something is remembered */
  constructor(mostAgents = MAX_AGENTS) {
    this.#mostAgents = mostAgents;
  }

  /** Of how many agents something is remembered. */
  get size(): number {
    return this.#agents.size;
  }

  /** How many agents were forgotten to make room for others, since the start. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Remembers a text of rootcheck; whether the agent had not sent it before. */
  addRootcheck(agentId: string, text: string): boolean {
    const known = this.#agents.get(agentId)?.rootcheck?.has(text) === true;
    this.#change(['rootcheck', agentId, text], text.length);
    return !known;
  }

  /** Forgets the rootcheck texts of an agent, when its database was cleared. */
  clearRootcheck(agentId: string): void {
    if (this.#agents.get(agentId) !== undefined) this.#change(['clear-rootcheck', agentId]);
  }

  check(agentId: string, id: number): StoredCheck | undefined {
    return this.#agents.get(agentId)?.checks?.get(id);
  }

  setCheck(agentId: string, id: number, { policyId, result, scanId }: StoredCheck): void {
    this.#change(['check', agentId, id, policyId, result, scanId], policyId.length + result.length);
  }

  /** Removes the checks of a policy that are not of this scan; all of them without one. */
  deleteChecks(agentId: string, policyId: string, exceptScan?: number): void {
    if (this.#agents.get(agentId) === undefined) return;
    this.#change(['delete-checks', agentId, policyId, exceptScan], policyId.length);
  }

  scan(agentId: string, policyId: string): StoredScan | undefined {
    return this.#agents.get(agentId)?.scans?.get(policyId);
  }

  setScan(agentId: string, policyId: string, scan: StoredScan): void {
    this.#change(['scan', agentId, policyId, scan], policyId.length + scan.hash.length);
  }

  /** Hash of the policy's file, undefined for an unknown policy. */
  policy(agentId: string, policyId: string): string | undefined {
    return this.#agents.get(agentId)?.policies?.get(policyId);
  }

  setPolicy(agentId: string, policyId: string, hashFile: string): void {
    this.#change(['policy', agentId, policyId, hashFile], policyId.length + hashFile.length);
  }

  deletePolicy(agentId: string, policyId: string): void {
    if (this.policy(agentId, policyId) !== undefined) this.#change(['delete-policy', agentId, policyId]);
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
    this.#change(['file', agentId, path, sum], path.length + sum.length);
  }

  deleteFile(agentId: string, path: string): void {
    if (this.file(agentId, path) !== undefined) this.#change(['delete-file', agentId, path], path.length);
  }

  /** Whether as many files of an agent are remembered as may be: others may have been forgotten. */
  isFullOfFiles(agentId: string): boolean {
    return this.#agents.get(agentId)?.isFullOfFiles ?? false;
  }

  /** Whether an agent before 3.11 has ended a scan. */
  hasScanned(agentId: string): boolean {
    return this.#agents.get(agentId)?.hasScanned ?? false;
  }

  setScanned(agentId: string): void {
    this.#change(['scanned', agentId]);
  }

  host(ip: string): string | undefined {
    return this.#hosts.get(ip);
  }

  setHost(ip: string, information: string): void {
    this.#change(['host', ip, information], ip.length + information.length);
  }

  /** Forgets everything about an agent that was removed. */
  deleteAgent(agentId: string): void {
    if (this.#agents.get(agentId) !== undefined) this.#change(['forget', agentId]);
  }

  snapshot(): AgentMemorySnapshot {
    return { hosts: this.#hosts.entries(), agents: this.#agentsSnapshot() };
  }

  restore(snapshot: AgentMemorySnapshot): void {
    this.#agents.clear();
    this.#hosts.clear();
    for (const [ip, information] of snapshot.hosts) this.setHost(ip, information);
    for (const { id, rootcheck, checks, scans, policies, files = [], hasScanned = false } of snapshot.agents) {
      this.#agents.heard(id).hasScanned = hasScanned;
      for (const text of rootcheck) this.addRootcheck(id, text);
      for (const [check, stored] of checks) this.setCheck(id, check, stored);
      for (const [policyId, hashFile] of policies) this.setPolicy(id, policyId, hashFile);
      for (const [path, sum] of files) this.setFile(id, path, sum);
      // Last, as it has the checks take little room.
      for (const [policyId, scan] of scans) this.setScan(id, policyId, scan);
    }
  }

  noteChanges(): void {
    this.#notes ??= new ChangeNotes();
  }

  takeChanges(): readonly ChangesPart[] {
    return this.#notes?.take() ?? [];
  }

  get notedBytes(): number {
    return this.#notes?.bytes ?? 0;
  }

  startRewriting(): void {
    this.noteChanges();
    this.#rewriting += 1;
    this.#unwritten = this.#agents.values();
    this.#notes?.add(['everything', this.#agents.clock], 0);
    const hosts = this.#hosts.entries();
    for (let from = 0; from < hosts.length; from += HOSTS_PER_CHANGE) {
      const some = hosts.slice(from, from + HOSTS_PER_CHANGE);
      this.#notes?.add(
        ['hosts', some],
        some.reduce((sum, [ip, information]) => sum + ip.length + information.length, 0),
      );
    }
  }

  rewrite(bytes: number): boolean {
    const until = this.notedBytes + bytes;
    while (this.#unwritten !== undefined) {
      const next = this.#unwritten.next();
      if (next.done === true) this.#unwritten = undefined;
      else this.#noteWhole(next.value);
      if (this.notedBytes >= until) break;
    }
    return this.#unwritten === undefined;
  }

  applyChanges(changes: readonly unknown[]): void {
    for (const change of changes as readonly AgentChange[]) this.#make(change);
  }

  endChanges(): void {
    this.#agents.sort();
  }

  /** One that came since the rewriting began was noted from its first change on. */
  #noteWhole(agent: AgentRecord): void {
    if (agent.rewriting === this.#rewriting) return;
    agent.rewriting = this.#rewriting;
    this.#notes?.add(['agent', agent.id, agent.data()], agent.bytes);
  }

  #change(change: AgentChange, bytes = 0): void {
    this.#make(change);
    this.#notes?.add(change, bytes);
    // Noted, as it is decided by all agents there are, and a log that is being rewritten does not have them all.
    for (
      let { oldest } = this.#agents;
      oldest !== undefined && this.size > this.#mostAgents;
      { oldest } = this.#agents
    ) {
      this.#forgotten += 1;
      this.#change(['forget', oldest.id]);
    }
  }

  #agentsSnapshot(): AgentMemorySnapshot['agents'] {
    return [...this.#agents.inOrder()].map(({ id, rootcheck, checks, scans, policies, files, hasScanned }) => ({
      id,
      rootcheck: [...(rootcheck?.keys() ?? [])],
      checks: [...(checks?.entries() ?? [])],
      scans: [...(scans ?? [])],
      policies: [...(policies ?? [])],
      ...((files !== undefined && files.size > 0) || hasScanned ? { files: files?.entries() ?? [], hasScanned } : {}),
    }));
  }

  #make(change: AgentChange): void {
    switch (change[0]) {
      case 'host':
        this.#hosts.set(this.#shared.text(change[1]), this.#shared.text(change[2]));
        return;
      case 'hosts':
        for (const [ip, information] of change[1]) {
          this.#hosts.set(this.#shared.text(ip), this.#shared.text(information));
        }
        return;
      case 'everything':
        this.#agents.clock = change[1];
        this.#hosts.clear();
        return;
      case 'forget':
        this.#agents.delete(change[1]);
        return;
      case 'agent':
        this.#agents.add(change[1]).restore(change[2]);
        return;
      default:
        this.#makeOf(this.#heard(change[1]), change);
    }
  }

  #makeOf(agent: AgentRecord, change: AgentChange): void {
    switch (change[0]) {
      case 'check': {
        const [, , id, policyId, result, scanId] = change;
        agent.setCheck(id, { policyId, result, scanId });
        return;
      }
      case 'delete-checks':
        agent.checks?.deletePolicy(change[2], change[3]);
        return;
      case 'scan':
        agent.setScan(change[2], change[3]);
        return;
      case 'policy':
        agent.setPolicy(change[2], change[3]);
        return;
      case 'delete-policy':
        agent.policies?.delete(change[2]);
        return;
      case 'rootcheck':
        agent.addRootcheck(change[2]);
        return;
      case 'clear-rootcheck':
        agent.rootcheck?.clear();
        return;
      case 'file':
        agent.setFile(change[2], change[3]);
        return;
      case 'delete-file':
        agent.files?.delete(change[2]);
        return;
      case 'scanned':
        agent.hasScanned = true;
        return;
      default:
        throw new Error(`A change of agents is of the unknown kind '${change[0]}'.`);
    }
  }

  #heard(id: string): AgentRecord {
    const isNew = this.#agents.get(id) === undefined;
    const agent = this.#agents.heard(id);
    if (isNew) agent.rewriting = this.#rewriting;
    return agent;
  }
}
