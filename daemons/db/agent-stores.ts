import { join } from 'node:path';
import type { Logger } from '../../lib/log/logger.js';
import { openOrSetAside } from '../../lib/store/set-aside.js';
import type { StoreError } from '../../lib/store/store-error.js';
import { agentIdText } from './agent-record.js';
import { FimDatabase } from './fim/fim-database.js';
import { fimHandlers } from './fim/fim-handlers.js';
import type { AgentStore } from './forgetting.js';
import type { HandoverStores } from './handover/handover-store.js';
import { InventoryDatabase } from './inventory/inventory-database.js';
import { inventoryHandlers } from './inventory/inventory-handlers.js';
import type { Registry } from './registry.js';
import { ScaDatabase } from './sca/sca-database.js';
import { scaHandlers } from './sca/sca-handlers.js';

export type AgentStoresParts = {
  /** `{home}/queue/db`: each store has a directory below it. */
  readonly directory: string;
  readonly registry: Registry;
  readonly logger: Logger;
  /** Told by name of a store while the disk does not take its changes. */
  readonly problems: { of(name: string): (problem: string | undefined) => void };
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** A store as the daemon sees it. */
type OpenStore = AgentStore & {
  readonly broken: Promise<StoreError>;
  start(): Promise<void>;
  stats(): Record<string, unknown>;
  close(): Promise<void>;
};

/** What agents told of their hosts, each kind in a store of its own (integrity-and-inventory.md 7, 10, 11). */
export class AgentStores {
  readonly files: FimDatabase;
  readonly inventory: InventoryDatabase;
  readonly sca: ScaDatabase;
  readonly #parts: AgentStoresParts;

  private constructor(parts: AgentStoresParts, files: FimDatabase, inventory: InventoryDatabase, sca: ScaDatabase) {
    this.#parts = parts;
    this.files = files;
    this.inventory = inventory;
    this.sca = sca;
  }

  /** Opens all of them; one that is damaged is set aside, and agents fill an empty one again. @throws StoreError */
  static async open(parts: AgentStoresParts): Promise<AgentStores> {
    const { directory, registry, logger, problems, now } = parts;
    const knows = (agent: string): boolean => registry.agents.get(Number(agent)) !== undefined;
    const common = (name: string) => ({ logger, setProblem: problems.of(name), knows, now });
    const files = await openStore(join(directory, 'fim'), parts, (place) =>
      FimDatabase.open({ directory: place, ...common('files') }),
    );
    const inventory = await openStore(join(directory, 'inventory'), parts, (place) =>
      InventoryDatabase.open({ directory: place, ...common('inventory') }),
    );
    const sca = await openStore(join(directory, 'sca'), parts, (place) =>
      ScaDatabase.open({ directory: place, ...common('policies') }),
    );
    return new AgentStores(parts, files, inventory, sca);
  }

  /** For what happens to all of them. */
  get all(): readonly OpenStore[] {
    return [this.files, this.inventory, this.sca];
  }

  /** What of them goes with an agent to another node. */
  get handover(): HandoverStores {
    const [files, inventory, policies] = [this.files.handover, this.inventory.handover, this.sca.handover];
    return { files, inventory, policies };
  }

  handlers() {
    const { now, registry } = this.#parts;
    const ids = (): string[] => registry.agents.byId().map(({ id }) => agentIdText(id));
    return {
      ...fimHandlers(this.files, now),
      ...inventoryHandlers(this.inventory, ids, now),
      ...scaHandlers(this.sca, now),
    };
  }

  /** Members of the daemon's statistics. */
  stats(): Record<string, unknown> {
    return { files: this.files.stats(), inventory: this.inventory.stats(), sca: this.sca.stats() };
  }

  /** Resolves with the error when the disk did not take a commit in time; the process should end then. */
  get broken(): Promise<StoreError> {
    return Promise.race(this.all.map((store) => store.broken));
  }

  /** Takes away what is left of agents that are not registered any more. */
  async start(): Promise<void> {
    for (const store of this.all) await store.start();
  }

  async close(): Promise<void> {
    for (const store of this.all) await store.close();
  }
}

async function openStore<T extends AgentStore>(
  directory: string,
  { logger, now }: AgentStoresParts,
  open: (directory: string) => Promise<T>,
): Promise<T> {
  const { store, damage } = await openOrSetAside(() => open(directory), directory, now());
  if (damage !== undefined) {
    logger.error(`${damageText(damage)} ${store.what} of agents come back with ${store.comesWith}.`);
  }
  return store;
}

/** What became of a store that cannot be read. */
export function damageText({ error, aside }: { readonly error: Error; readonly aside: string }): string {
  return `${error.message}: the damaged store was moved to '${aside}'.`;
}
