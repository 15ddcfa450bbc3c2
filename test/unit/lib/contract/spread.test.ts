import { expect } from 'chai';
import { loadContract } from '../../../../lib/contract/api-contract.js';
import { readSpread } from '../../../../lib/contract/spread.js';

describe('which nodes answer an operation', () => {
  const { operations } = loadContract();

  it('has to be said, and has to have what it goes by', () => {
    expect(readSpread('agent', [{ name: 'agent_id' }], 'get /a')).to.equal('agent');
    expect(() => readSpread(undefined, [], 'get /a')).to.throw('contract: get /a does not say which nodes answer it');
    expect(() => readSpread('elsewhere', [], 'get /a')).to.throw('does not say');
    expect(() => readSpread('node', [{ name: 'agent_id' }], 'get /a')).to.throw(
      "is 'node' in x-cluster and has no node_id",
    );
  });

  it('is for what is stored of an agent, or sent to it, the node where it is', () => {
    const about = /^\/(syscheck|rootcheck|sca|syscollector|ciscat)\/\{agent_id\}/;
    const stored = operations.filter(({ path }) => about.test(path));
    expect(stored).to.have.length(22);
    for (const { path, spread } of stored) expect(spread, path).to.equal('agent');
    for (const { path, spread } of operations.filter((one) => one.path.startsWith('/experimental/'))) {
      expect(spread, path).to.be.oneOf(['agents', 'agent-rows']);
    }
    for (const { path, spread } of operations.filter((one) => one.path.startsWith('/cluster/{node_id}/'))) {
      expect(spread, path).to.equal('node');
    }
  });

  it('is never another than the one that is asked for users, keys, groups and rules', () => {
    const own = /^\/(security|groups|rules|decoders|lists|manager|events|logtest|mitre|overview)\b/;
    for (const { path, spread } of operations.filter((one) => own.test(one.path))) {
      expect(spread, path).to.equal('here');
    }
    expect(operations.find(({ id }) => id === 'getAgentsAgentIdKey')?.spread).to.equal('here');
  });
});
