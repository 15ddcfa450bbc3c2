import type { Contract } from '../../../lib/bus/contract.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import type { Home } from '../../../lib/home/home.js';
import { RecordingLogger } from '../recording-logger.js';

/** Answers for a daemon of a home in this process; methods without a handler fail. */
export async function serveContract<C extends Contract>(
  home: Home,
  contract: C,
  handlers: Readonly<Record<string, (params: never) => unknown>>,
  logger = new RecordingLogger(),
): Promise<RequestServer<C>> {
  const refuse = () => Promise.reject(new Error('not asked'));
  const all = Object.fromEntries(Object.keys(contract.methods).map((name) => [name, refuse]));
  const server = new RequestServer<C>({
    contract,
    handlers: { ...all, ...handlers } as never,
    path: home.socket(contract.daemon),
    logger,
  });
  await server.start();
  return server;
}
