import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InventoryDatabase } from '../../../daemons/db/inventory/inventory-database.js';
import { inventoryHandlers } from '../../../daemons/db/inventory/inventory-handlers.js';
import { inventoryMethods, type InventoryType } from '../../../lib/bus/contracts/db-inventory.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';

/** A store of inventories on a directory of its own. */
export class InventoryKit {
  readonly logger = new RecordingLogger();
  readonly known: Set<string>;
  readonly #directory: string;
  #database: InventoryDatabase | undefined;
  #position = 0;

  private constructor(directory: string, agents: readonly string[]) {
    this.#directory = directory;
    this.known = new Set(agents);
  }

  static async open(agents: readonly string[] = ['001', '002', '003']): Promise<InventoryKit> {
    const kit = new InventoryKit(mkdtempSync(join(tmpdir(), 'svc-inventory-')), agents);
    await kit.reopen();
    return kit;
  }

  get database(): InventoryDatabase {
    if (this.#database === undefined) throw new Error('the store is not open');
    return this.#database;
  }

  get handlers(): ReturnType<typeof inventoryHandlers> {
    return inventoryHandlers(
      this.database,
      () => [...this.known].sort(),
      () => 1_795_222_800_000,
    );
  }

  /** As after a stop and a start. */
  async reopen(): Promise<void> {
    await this.#database?.close();
    this.#database = await InventoryDatabase.open({
      directory: join(this.#directory, 'inventory'),
      logger: this.logger,
      setProblem: () => {},
      knows: (agent) => this.known.has(agent),
    });
    await this.#database.start();
  }

  async close(): Promise<void> {
    await this.database.close();
    removeTree(this.#directory);
  }

  /** Events of an agent as the journal brings them. */
  async events(agent: string, ...messages: readonly string[]): Promise<void> {
    const operations = messages.map((message, index) => ({
      position: this.#position + index,
      agent,
      kind: 'inventory' as const,
      at: 1_795_222_800_000,
      message: Buffer.from(message),
    }));
    this.#position += messages.length;
    await this.database.apply({ journal: 'one', operations, upTo: this.#position });
  }

  /** A message of queue 5. @returns what is sent back */
  async sync(agent: string, message: string): Promise<string | undefined> {
    const { order } = await this.database.sync.take(agent, Buffer.from(message));
    return order?.toString();
  }

  /** A page as the API gets it. @param question as `inventory.list` takes it */
  list(
    type: InventoryType,
    agents: readonly string[] | 'all',
    question: Readonly<Record<string, unknown>> = {},
  ): Promise<{ items: Record<string, unknown>[]; total: number }> {
    const params = inventoryMethods['inventory.list'].params.parse({ type, agents, ...question });
    return Promise.resolve(this.handlers['inventory.list'](params));
  }
}
