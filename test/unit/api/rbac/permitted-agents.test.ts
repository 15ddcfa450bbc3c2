import { expect } from 'chai';
import { scopeAllows, scopeAllowsAll } from '../../../../api/rbac/permitted-agents.js';
import type { AgentScope } from '../../../../lib/bus/contracts/db-agents.js';

// rest-api.md 5.1.
describe('the scope of a caller', () => {
  const allow = (kind: 'all' | 'id' | 'group', value?: string) => step('allow', kind, value);
  const deny = (kind: 'all' | 'id' | 'group', value?: string) => step('deny', kind, value);
  const step = (effect: 'allow' | 'deny', kind: 'all' | 'id' | 'group', value?: string) => ({
    ...{ effect, kind },
    ...(value !== undefined && { value }),
  });

  it('leaves out nobody where the last word on all is a yes, and none is denied behind it', () => {
    const everybody: AgentScope[] = [
      { start: 'all', steps: [] },
      { start: 'none', steps: [allow('all')] },
      { start: 'none', steps: [deny('id', '002'), allow('all'), allow('group', 'web')] },
      { start: 'all', steps: [deny('all'), allow('all')] },
    ];
    for (const scope of everybody) {
      expect(scopeAllowsAll(scope), JSON.stringify(scope)).to.equal(true);
      expect(scopeAllows(scope, '002', ['db'])).to.equal(true);
    }
  });

  it('leaves out somebody where one is denied behind it, or all are', () => {
    const some: AgentScope[] = [
      { start: 'none', steps: [] },
      { start: 'none', steps: [allow('id', '001'), allow('group', 'web')] },
      { start: 'all', steps: [deny('id', '002')] },
      { start: 'none', steps: [allow('all'), deny('group', 'db')] },
      { start: 'all', steps: [allow('all'), deny('all'), allow('id', '001')] },
    ];
    for (const scope of some) {
      expect(scopeAllowsAll(scope), JSON.stringify(scope)).to.equal(false);
      expect(scopeAllows(scope, '002', ['db'])).to.equal(false);
    }
  });
});
