import { expect } from 'chai';
import { nodesOf } from '../../../../api/console/browser/client/use-nodes.js';
import { scopeOf } from '../../../../api/console/browser/pages/manager/scope.js';

describe('console: nodes of a cluster', () => {
  const info = (name: string, type = 'worker') => ({ info: { name, type } });
  const away = (...ids: string[]) => [{ id: ids, error: { code: 3022, message: 'not heard' } }];

  it('has those that are heard and those that are not, by name', () => {
    const { own, all } = nodesOf('node02', [info('node02'), info('node01', 'master')], away('node03'));
    expect(own).to.equal('node02');
    expect(all).to.deep.equal([
      { name: 'node01', isMaster: true, isHeard: true },
      { name: 'node02', isMaster: false, isHeard: true },
      { name: 'node03', isMaster: false, isHeard: false },
    ]);
  });

  it('has the node that answers though nothing is said of it', () => {
    expect(nodesOf('node01', [], []).all).to.deep.equal([{ name: 'node01', isMaster: false, isHeard: true }]);
  });

  it('asks a manager that is alone by its own operations, a node of a cluster by its name', () => {
    const alone = scopeOf(undefined);
    expect(alone.path('logs')).to.equal('/manager/logs');
    expect(alone.some('restart')).to.deep.equal(['/manager/restart', {}]);
    expect(alone.action('restart')).to.equal('manager:restart');
    const node = scopeOf('node 3');
    expect(node.path('stats/hourly')).to.equal('/cluster/node%203/stats/hourly');
    expect(node.some('api/config')).to.deep.equal(['/cluster/api/config', { nodes_list: 'node 3' }]);
    expect(node.action('update_config')).to.equal('cluster:update_config');
  });
});
