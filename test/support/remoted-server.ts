import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { Home } from '../../lib/daemon/home.js';
import { RecordingLogger } from './recording-logger.js';

type Sent = { readonly ids: string[]; readonly message: string };

/** A svc-remoted that takes every message, but not to the agents it has no way to. */
export class RemotedServer {
  readonly sent: Sent[] = [];
  /** Codes of agents that nothing is sent to. */
  readonly unreachable = new Map<string, string>();

  private constructor(private readonly close: () => Promise<void>) {}

  static async start(home: Home): Promise<RemotedServer> {
    const refuse = () => Promise.reject(new Error('not asked'));
    const handlers = {
      ...Object.fromEntries(Object.keys(remotedContract.methods).map((name) => [name, refuse])),
      'agents.send': ({ ids, message }: Sent) => {
        remoted.sent.push({ ids, message });
        const failed = ids.flatMap((id) => {
          const code = remoted.unreachable.get(id);
          return code === undefined ? [] : [{ id, code, message: code }];
        });
        return { sent: ids.length - failed.length, failed };
      },
    };
    const path = home.socket('svc-remoted');
    const server = new RequestServer({
      contract: remotedContract,
      handlers: handlers as never,
      path,
      logger: new RecordingLogger(),
    });
    const remoted = new RemotedServer(() => server.stop());
    await server.start();
    return remoted;
  }

  stop(): Promise<void> {
    return this.close();
  }
}
