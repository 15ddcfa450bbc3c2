import { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { TestApi } from './test-api.js';

/** Answers for svc-analysisd beside an API in this process; methods without a handler fail. */
export async function serveAnalysisd(
  api: TestApi,
  handlers: Readonly<Record<string, () => unknown>>,
): Promise<RequestServer<typeof analysisdContract>> {
  const refuse = () => Promise.reject(new Error('not asked'));
  const all = Object.fromEntries(Object.keys(analysisdContract.methods).map((name) => [name, refuse]));
  const server = new RequestServer({
    contract: analysisdContract,
    handlers: { ...all, ...handlers } as never,
    path: api.home.socket('svc-analysisd'),
    logger: api.logger,
  });
  await server.start();
  return server;
}
