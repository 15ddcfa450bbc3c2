import { mkdirSync } from 'node:fs';
import { modulesdHandlers } from '../../../daemons/modulesd/modulesd-handlers.js';
import { TaskStore } from '../../../daemons/modulesd/tasks/task-store.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { Home } from '../../../lib/home/home.js';
import { serveContract } from '../bus/serve-contract.js';

/** svc-modulesd in this process, which makes tasks and sends nothing. */
export class ModulesdServer {
  private constructor(
    readonly tasks: TaskStore,
    private readonly close: () => Promise<void>,
  ) {}

  /** @param now epoch milliseconds */
  static async start(home: Home, now: () => number): Promise<ModulesdServer> {
    mkdirSync(home.path('var', 'upgrade'), { recursive: true });
    const tasks = await TaskStore.open(home.path('queue', 'tasks'));
    const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    const handlers = modulesdHandlers({
      tasks,
      db,
      root: home.root,
      managerVersion: [4, 14, 7],
      node: () => 'node01',
      now: () => Math.floor(now() / 1000),
      runner: { add: () => {}, report: () => Promise.resolve() },
    });
    const server = await serveContract(home, modulesdContract, handlers);
    return new ModulesdServer(tasks, async () => {
      await server.stop();
      db.close();
      await tasks.close();
    });
  }

  stop(): Promise<void> {
    return this.close();
  }
}
