import { expect } from 'chai';
import type { OperationHandlers } from '../../../../api/http/api-request.js';
import { type CallSpreader, Dispatcher } from '../../../../api/http/dispatcher.js';
import { dataResult } from '../../../../api/http/envelope.js';
import { RequestContext } from '../../../../api/http/request-context.js';
import type { PermissionCheck } from '../../../../api/rbac/permission-check.js';
import { loadContract } from '../../../../lib/contract/api-contract.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const { operations } = loadContract();

describe('the dispatcher, when a client goes away before the answer', () => {
  const client = () => {
    const abort = new AbortController();
    return { leave: () => abort.abort(new Error('gone')), gone: abort.signal };
  };
  const dispatch = (handlers: OperationHandlers, id: string, gone: AbortSignal) => {
    const dispatcher = new Dispatcher({
      handlers: [handlers],
      missing: () => Promise.reject(new Error('missing')),
      permissions: { permit: () => ({}) } as unknown as PermissionCheck,
      spreader: { takes: () => false } as unknown as CallSpreader,
      settings: () => ({ requestTimeoutMs: 0, experimentalFeatures: false }),
      node: () => 'node',
      logger: new RecordingLogger(),
    });
    const operation = operations.find((one) => one.id === id)!;
    const about = { startedAt: 0, method: operation.method, path: operation.path, query: new URLSearchParams() };
    const context = new RequestContext({ ...about, address: '', announcedLength: 0, expect: 'none' });
    context.json = {};
    const parameters = { wait_for_complete: true };
    return dispatcher.dispatch(context, operation, parameters, { contentType: 'application/json', gone });
  };

  for (const id of ['getManagerStatus', 'putRulesTests'] as const) {
    it(`ends the work of ${id}, which changes nothing`, async () => {
      const { leave, gone } = client();
      let seen: AbortSignal | undefined;
      const never = ({ signal }: { readonly signal: AbortSignal }) => {
        seen = signal;
        return new Promise<never>(() => {});
      };
      const answer = dispatch({ [id]: never }, id, gone);
      leave();
      const error: unknown = await answer.catch((failure: unknown) => failure);
      expect(error).to.have.property('message', 'gone');
      expect(seen?.aborted).to.equal(true);
    });
  }

  it('has what changes something go on to its end', async () => {
    const { leave, gone } = client();
    let aborted: boolean | undefined;
    const handler = async ({ signal }: { readonly signal: AbortSignal }) => {
      await new Promise((resolve) => setImmediate(resolve));
      aborted = signal.aborted;
      return dataResult({});
    };
    const answer = dispatch({ putManagerRestart: handler }, 'putManagerRestart', gone);
    leave();
    await answer;
    expect(aborted).to.equal(false);
  });
});
