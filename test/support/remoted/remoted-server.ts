import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import type { Home } from '../../../lib/home/home.js';
import { serveContract } from '../bus/serve-contract.js';

type Sent = { readonly ids: string[]; readonly message: string };

/** A svc-remoted that takes every message, but not to the agents it has no way to. */
export class RemotedServer {
  readonly sent: Sent[] = [];
  /** What every agent answers that is asked something; without it a question fails. */
  answer: string | undefined;
  /** Codes of agents that nothing is sent to. */
  readonly unreachable = new Map<string, string>();

  private constructor(private readonly close: () => Promise<void>) {}

  static async start(home: Home): Promise<RemotedServer> {
    const handlers = {
      'agents.send': ({ ids, message }: Sent): object => {
        remoted.sent.push({ ids, message });
        const failed = ids.flatMap((id) => {
          const code = remoted.unreachable.get(id);
          return code === undefined ? [] : [{ id, code, message: code }];
        });
        return { sent: ids.length - failed.length, failed };
      },
      'agents.request': () => {
        if (remoted.answer === undefined) throw new Error('not asked');
        return { answer: remoted.answer };
      },
    };
    const server = await serveContract(home, remotedContract, handlers);
    const remoted: RemotedServer = new RemotedServer(() => server.stop());
    return remoted;
  }

  stop(): Promise<void> {
    return this.close();
  }
}
