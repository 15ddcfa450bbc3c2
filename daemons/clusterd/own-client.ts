import { unlessAborted } from '../../lib/async/unless-aborted.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult, Handlers, MethodName } from '../../lib/bus/contract.js';
import { clusterdContract } from '../../lib/bus/contracts/clusterd.js';
import type { commonMethods } from '../../lib/bus/contracts/common.js';
import { describeIssue } from '../../lib/bus/describe-issue.js';
import type { ClusterdClient } from '../../lib/cluster/shared-records.js';

type Contract = typeof clusterdContract;
type OwnHandlers = Omit<Handlers<Contract>, keyof typeof commonMethods>;

/** What svc-clusterd answers, for its own parts that decide about records as other daemons do. */
export function ownClient(handlers: OwnHandlers): ClusterdClient {
  const all = handlers as Readonly<Record<string, (params: unknown) => unknown>>;
  return {
    async call<K extends MethodName<Contract>>(
      method: K,
      params: CallParams<Contract, K>,
      { signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {},
    ) {
      const handler = all[method];
      if (handler === undefined) throw new BusError('unknown_method', `svc-clusterd does not ask itself '${method}'`);
      const parsed = clusterdContract.methods[method].params.safeParse(params);
      if (!parsed.success) {
        throw new BusError('bad_params', `svc-clusterd ${method}: ${describeIssue('params', parsed.error)}`);
      }
      const answer = await unlessAborted(signal, Promise.resolve(handler(parsed.data)));
      if (signal.aborted) throw signal.reason;
      return answer as CallResult<Contract, K>;
    },
  };
}
