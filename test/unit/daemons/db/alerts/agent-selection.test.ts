import { expect } from 'chai';
import fc from 'fast-check';
import { AgentSet } from '../../../../../daemons/db/agent-set.js';
import { hasAgent } from '../../../../../daemons/db/alerts/agent-numbers.js';
import { AgentSelection } from '../../../../../daemons/db/alerts/agent-selection.js';
import { formatAgentId } from '../../../../../lib/agentlink/agent-identity.js';
import type { AgentScope } from '../../../../../lib/bus/contracts/db-agents.js';
import { sampleAgent } from '../../../../support/db/sample-agents.js';

describe('Agents that alerts are asked of', () => {
  const agents = new AgentSet();
  const move = (id: number, ...groups: string[]) => agents.set(id, { ...sampleAgent(id).record, groups });
  const selection = new AgentSelection(agents);
  const numbers = (...asked: Parameters<AgentSelection['numbers']>) => [...selection.numbers(...asked)];

  before(() => {
    for (let id = 1; id <= 20; id += 1) move(id, id % 2 === 0 ? 'even' : 'odd');
  });

  it('are those of a group, whatever its case, and what may be seen of them', () => {
    expect(numbers({ group: ['EVEN'] })).to.deep.equal([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect(numbers({ group: ['even', 'odd'] })).to.have.lengthOf(20);
    expect(numbers({ group: ['other'] })).to.deep.equal([]);
    const steps: AgentScope['steps'] = [
      { effect: 'allow', kind: 'id', value: '004' },
      { effect: 'allow', kind: 'group', value: 'odd' },
    ];
    const scope: AgentScope = { start: 'none', steps };
    expect(numbers({ group: ['even'], scope })).to.deep.equal([4]);
    expect(numbers({ scope })).to.deep.equal([1, 3, 4, 5, 7, 9, 11, 13, 15, 17, 19]);
  });

  it('are looked for again when an agent comes, goes, or is moved, and not else', () => {
    const before = selection.numbers({ group: ['odd'] });
    expect(selection.numbers({ group: ['odd'] })).to.equal(before);
    agents.set(1, { ...sampleAgent(1).record, groups: agents.get(1)!.record.groups, status: 'disconnected' });
    expect(selection.numbers({ group: ['odd'] }), 'what else is known of it changes').to.equal(before);
    move(1, 'even');
    expect(numbers({ group: ['odd'] })).to.deep.equal([3, 5, 7, 9, 11, 13, 15, 17, 19]);
    agents.delete(19);
    move(21, 'odd');
    expect(numbers({ group: ['odd'] })).to.deep.equal([3, 5, 7, 9, 11, 13, 15, 17, 21]);
  });

  it('are found by their ids, as alerts have them', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(2000)), fc.nat(2000), (ids, id) => {
        const sorted = Uint32Array.from(ids).sort();
        expect(hasAgent(sorted, formatAgentId(id))).to.equal(ids.includes(id));
      }),
    );
    for (const id of ['', '7', '0007', ' 007', '7e0', 'x']) {
      expect(hasAgent(Uint32Array.of(0, 7), id), id).to.equal(false);
    }
  });
});
