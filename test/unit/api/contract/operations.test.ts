import { expect } from 'chai';
import type { OperationHandlers } from '../../../../api/http/api-request.js';
import { messageResult } from '../../../../api/http/envelope.js';

/** That these do not compile is the test; `tsc -b` runs it. */
const MISTAKES: readonly OperationHandlers[] = [
  // @ts-expect-error there is no such operation
  { getAgentz: () => messageResult('') },
  // @ts-expect-error nor such a parameter of this one
  { getAgents: ({ parameters }) => messageResult(String(parameters.agent_list)) },
  // @ts-expect-error a list is no text
  { getAgents: ({ parameters }) => messageResult(parameters.agents_list ?? '') },
  // @ts-expect-error what is neither required nor has a default may be absent
  { getAgents: ({ parameters }) => messageResult(parameters.q) },
  // @ts-expect-error a misspelt field of a body
  { postAgents: ({ body }) => messageResult(body.nam) },
  // @ts-expect-error no body is taken
  { getAgents: ({ body }) => messageResult(String(body.name)) },
];

const RIGHT: OperationHandlers = {
  getAgents: ({ parameters }) => messageResult(`${parameters.limit.toFixed()} ${parameters.agents_list?.join() ?? ''}`),
  postAgents: ({ body }) => messageResult(body.name.toLowerCase()),
};

describe('types of operations', () => {
  it('refuse misspelt operations, parameters and fields of bodies at compile time', () => {
    expect(MISTAKES).to.have.length(6);
    expect(Object.keys(RIGHT)).to.deep.equal(['getAgents', 'postAgents']);
  });
});
