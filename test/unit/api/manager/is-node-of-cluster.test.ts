import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { isNodeOfCluster } from '../../../../api/manager/is-node-of-cluster.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('isNodeOfCluster', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => {
    home.remove();
  });

  const configure = (cluster: string): void => {
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${cluster}</manager_config>\n`);
  };
  const CLUSTER = `<cluster><node_name>n1</node_name><key>${'k'.repeat(32)}</key><nodes><node>n1.example</node></nodes>`;

  it('is what the configuration says', () => {
    configure('');
    expect(isNodeOfCluster(home)).to.equal(false);
    configure(`${CLUSTER}<disabled>yes</disabled></cluster>`);
    expect(isNodeOfCluster(home)).to.equal(false);
    configure(`${CLUSTER}<disabled>no</disabled></cluster>`);
    expect(isNodeOfCluster(home)).to.equal(true);
  });

  it('is what it was where the configuration cannot be read: nothing is decided beside the cluster', () => {
    configure('<cluster>');
    expect(isNodeOfCluster(home)).to.equal(false);
    mkdirSync(home.path('queue', 'cluster'));
    expect(isNodeOfCluster(home)).to.equal(true);
  });
});
