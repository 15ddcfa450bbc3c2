import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeCheck, digestOfDefinition } from '../../../daemons/db/sca/check-row.js';
import type { AgentOrder } from '../../../daemons/db/sca/dump-orders.js';
import type { CheckListParams } from '../../../daemons/db/sca/list-checks.js';
import type { PolicyListParams } from '../../../daemons/db/sca/list-policies.js';
import { ScaDatabase } from '../../../daemons/db/sca/sca-database.js';
import { scaHandlers } from '../../../daemons/db/sca/sca-handlers.js';
import { decodeUse } from '../../../daemons/db/sca/sca-keys.js';
import { scaMethods, type ScaOperation } from '../../../lib/bus/contracts/db-sca.js';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';

const NOW = 1_700_001_000_000;

/** Results of a policy, by the ids of its checks. */
export type Results = Readonly<Record<number, 'passed' | 'failed' | 'not applicable'>>;

/** The hash of results that agents sum up (integrity-and-inventory.md 10.4). */
export function resultsHash(results: Results): string {
  const texts = Object.keys(results)
    .map(Number)
    .sort((one, other) => one - other)
    .map((id) => (results[id] === 'not applicable' ? '' : results[id]));
  return createHash('sha256').update(texts.join(':')).digest('hex');
}

/** Messages of an agent about one scan of a policy. */
export class PolicyScan {
  constructor(
    readonly policyId: string,
    readonly scanId: number,
    readonly results: Results,
    readonly hashFile = 'f'.repeat(64),
  ) {}

  summary(members: Record<string, unknown> = {}): string {
    const values = Object.values(this.results);
    const [passed, failed] = ['passed', 'failed'].map((result) => values.filter((value) => value === result).length);
    return JSON.stringify({
      type: 'summary',
      scan_id: this.scanId,
      name: `Policy ${this.policyId}`,
      policy_id: this.policyId,
      file: `${this.policyId}.yml`,
      description: 'What it is for',
      references: 'https://example.invalid/ref',
      passed,
      failed,
      invalid: values.length - (passed ?? 0) - (failed ?? 0),
      total_checks: values.length,
      score: 66.666664123535156,
      start_time: 1_700_000_000,
      end_time: 1_700_000_004,
      hash: resultsHash(this.results),
      hash_file: this.hashFile,
      ...members,
    });
  }

  /** A check as it went, or as members say. */
  check(id: number, members: Record<string, unknown> = {}): string {
    const result = this.results[id] ?? 'not applicable';
    const outcome =
      result === 'not applicable'
        ? { status: 'Not applicable', reason: `Could not open file '/etc/${id}'` }
        : { result };
    return JSON.stringify({
      type: 'check',
      id: this.scanId,
      policy: `Policy ${this.policyId}`,
      policy_id: this.policyId,
      check: {
        id,
        title: `Check ${id} of ${this.policyId}`,
        description: 'Describes',
        rationale: 'Why',
        remediation: 'How',
        compliance: { cis: `5.2.${id % 10}`, pci_dss: '2.2.4,2.2.5' },
        rules: [`f:/etc/file${id} -> r:^yes`, `not c:true -> r:${id}`],
        condition: 'all',
        file: `/etc/file${id}`,
        ...outcome,
        ...members,
      },
    });
  }

  checks(): string[] {
    return Object.keys(this.results).map((id) => this.check(Number(id)));
  }

  dumpEnd(): string {
    const elements_sent = Object.keys(this.results).length;
    return JSON.stringify({ type: 'dump_end', policy_id: this.policyId, elements_sent, scan_id: this.scanId });
  }

  /** What answers a request for all results. */
  dump(): string[] {
    return [...this.checks(), this.dumpEnd()];
  }
}

/** The message that names the policies that are left. */
export function policiesMessage(...policies: readonly string[]): string {
  return JSON.stringify({ type: 'policies', policies });
}

/** The store of policies on a directory of its own. */
export class ScaKit {
  readonly logger = new RecordingLogger();
  readonly problems: (string | undefined)[] = [];
  readonly #known: Set<string>;
  #database: ScaDatabase;
  #position = 0;

  private constructor(
    readonly directory: string,
    known: Set<string>,
    database: ScaDatabase,
  ) {
    this.#known = known;
    this.#database = database;
  }

  static async open(agents: readonly string[] = ['000', '001', '002']): Promise<ScaKit> {
    const directory = join(mkdtempSync(join(tmpdir(), 'svc-sca-')), 'sca');
    const kit = new ScaKit(directory, new Set(agents), undefined as unknown as ScaDatabase);
    kit.#database = await kit.#open();
    return kit;
  }

  get database(): ScaDatabase {
    return this.#database;
  }

  /** As after a stop and a start. */
  async reopen(): Promise<void> {
    await this.#database.close();
    this.#database = await this.#open();
    await this.#database.start();
  }

  async close(): Promise<void> {
    await this.#database.close();
    removeTree(join(this.directory, '..'));
  }

  unregister(agent: string): void {
    this.#known.delete(agent);
  }

  /** Operations of queue p, each at a position of its own. */
  operations(agent: string, messages: readonly (string | Uint8Array)[]): ScaOperation[] {
    return messages.map((message) => ({
      position: this.#position++,
      agent,
      kind: 'sca',
      at: NOW,
      message: typeof message === 'string' ? Buffer.from(message) : message,
    }));
  }

  /** Applies messages. @returns the orders that come of it, `001 sca-dump:demo:1` */
  async take(agent: string, ...messages: readonly (string | Uint8Array)[]): Promise<string[]> {
    return this.apply(this.operations(agent, messages));
  }

  async apply(operations: readonly ScaOperation[], journal = 'one'): Promise<string[]> {
    const upTo = (operations.at(-1)?.position ?? -1) + 1;
    const { orders = [] } = await this.#database.apply({ journal, operations, upTo });
    return orders.map(({ agent, text }: AgentOrder) => `${agent} ${text}`);
  }

  /** Results of a policy as the API shows them. */
  async results(agent: string, policy: string): Promise<Record<string, unknown>> {
    const { items } = await this.checks({ agent, policy, limit: 100_000 });
    return Object.fromEntries(items.map(({ id, result }) => [String(id), result]));
  }

  /** `sca.policies`, through its contract. */
  async policies(params: Partial<PolicyListParams> = {}) {
    const schema = scaMethods['sca.policies'].params;
    return scaHandlers(this.#database, () => NOW)['sca.policies'](schema.parse({ agent: '001', ...params }));
  }

  /** `sca.checks`, through its contract. */
  async checks(params: Partial<CheckListParams> = {}) {
    const schema = scaMethods['sca.checks'].params;
    return scaHandlers(this.#database, () => NOW)['sca.checks'](
      schema.parse({ agent: '001', policy: 'demo', ...params }),
    );
  }

  /** How many entries each table has, once everything that was dropped is gone. */
  async sizes(): Promise<Record<'policies' | 'checks' | 'definitions' | 'digests', number>> {
    await this.#database.emptied();
    const { policies, checks, definitions, digests } = this.#database.tables;
    const size = (table: BinaryTable): number => allOf(table).length;
    return { policies: size(policies), checks: size(checks), definitions: size(definitions), digests: size(digests) };
  }

  /** What is wrong with the counts of uses of definitions; nothing, if all is well. */
  async wrongUses(): Promise<string[]> {
    await this.#database.emptied();
    const { checks, definitions, digests } = this.#database.tables;
    const used = new Map<number, number>();
    for (const { value } of allOf(checks)) {
      const { definition } = decodeCheck(value);
      used.set(definition, (used.get(definition) ?? 0) + 1);
    }
    const wrong: string[] = [];
    for (const { key, value } of allOf(digests)) {
      const { number, uses } = decodeUse(value);
      if (used.get(number) !== uses) wrong.push(`definition ${number}: ${uses} uses are noted of ${used.get(number)}`);
      const stored = definitions.get(numberKey(number));
      if (stored === undefined || !digestOfDefinition(stored).equals(key)) {
        wrong.push(`definition ${number} is not there`);
      }
      used.delete(number);
    }
    return [...wrong, ...[...used.keys()].map((number) => `definition ${number} is used and not noted`)];
  }

  #open(): Promise<ScaDatabase> {
    return ScaDatabase.open({
      directory: this.directory,
      logger: this.logger,
      setProblem: (problem) => this.problems.push(problem),
      knows: (agent) => this.#known.has(agent),
    });
  }
}

function numberKey(number: number): Buffer {
  const key = Buffer.alloc(6);
  key.writeUIntBE(number, 0, 6);
  return key;
}

function allOf(table: BinaryTable) {
  return [...table.entries({ from: Buffer.alloc(4), to: Buffer.alloc(64, 0xff) })];
}
