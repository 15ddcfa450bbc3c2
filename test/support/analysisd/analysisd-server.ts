import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import type { RequestServer } from '../../../lib/bus/request-server.js';
import type { TestApi } from '../api/test-api.js';
import { serveContract } from '../bus/serve-contract.js';

/** Answers for svc-analysisd beside an API in this process; methods without a handler fail. */
export function serveAnalysisd(
  api: TestApi,
  handlers: Readonly<Record<string, () => unknown>>,
): Promise<RequestServer<typeof analysisdContract>> {
  return serveContract(api.home, analysisdContract, handlers, api.logger);
}
