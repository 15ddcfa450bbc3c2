import { expect } from 'chai';
import type { OperationHandlers } from '../../../../api/http/api-request.js';
import { messageResult } from '../../../../api/http/envelope.js';

/** That these do not compile is the test; `tsc -b` runs it. */
const MISTAKES: readonly OperationHandlers[] = [
  // @ts-expect-error there is no such operation
  { getAgentz: () => messageResult('') },
  // @ts-expect-error nor such a parameter of this one
  { getAgents: ({ parameters }) => messageResult(String(parameters.serch)) },
  // @ts-expect-error a list is no text
  { getAgents: ({ parameters }) => messageResult(parameters.select ?? '') },
  // @ts-expect-error what is neither required nor has a default may be absent
  { getAgents: ({ parameters }) => messageResult(parameters.q) },
  // @ts-expect-error a misspelt field of a body
  { postAgents: ({ body }) => messageResult(body.nam) },
  // @ts-expect-error no body is taken
  { getAgents: ({ body }) => messageResult(String(body.name)) },
  // @ts-expect-error ids that may be denied are had from what is permitted
  { getAgents: ({ parameters }) => messageResult(String(parameters.agents_list)) },
  // @ts-expect-error nothing is permitted of what the operation is not about
  { getAgents: ({ permitted }) => messageResult(String(permitted.groups.isAll)) },
  // @ts-expect-error handlers decide nothing by themselves
  { getAgents: ({ caller }) => messageResult(String(caller.permissions.allows('agent:read'))) },
  // @ts-expect-error nor by what is shown of policies
  { getAgents: ({ policies }) => messageResult(String(policies.allows('agent:read'))) },
];

const RIGHT: OperationHandlers = {
  getAgents: ({ parameters }) => messageResult(`${parameters.limit.toFixed()} ${parameters.select?.join() ?? ''}`),
  postAgents: ({ body }) => messageResult(body.name.toLowerCase()),
};

describe('types of operations', () => {
  it('refuse misspelt names, and what the caller was not asked to be allowed, at compile time', () => {
    expect(MISTAKES).to.have.length(10);
    expect(Object.keys(RIGHT)).to.deep.equal(['getAgents', 'postAgents']);
  });
});
