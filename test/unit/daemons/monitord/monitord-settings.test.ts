import { copyFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SETTINGS } from '../../../../daemons/monitord/monitord-settings.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const KEY = 'k'.repeat(32);

describe('configuration in force of svc-monitord', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc/internal_options.conf'),
    );
  });
  afterEach(() => home.remove());

  const shown = (sections: string, name: string): unknown => {
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${sections}</manager_config>\n`);
    const settings = SETTINGS.load({ home, args: [], logger: new RecordingLogger() } as never, undefined);
    return SETTINGS.sections?.(() => settings).get(name)?.();
  };

  it('shows which logs are written', () => {
    expect(shown('', 'logging')).to.deep.equal({ logging: { plain: 'yes', json: 'no' } });
    const both = '<logging><log_format>json,plain</log_format></logging>';
    expect(shown(both, 'logging')).to.deep.equal({ logging: { plain: 'yes', json: 'yes' } });
  });

  it('shows the cluster, without its key', () => {
    const off = { disabled: 'yes', name: 'wazuh', node_name: 'node01', node_type: 'master', hidden: 'no' };
    expect(shown('', 'cluster')).to.deep.equal({ cluster: { ...off, port: 1516, bind_addr: '0.0.0.0', nodes: [] } });
    const cluster = `<cluster><name>lab</name><node_type>worker</node_type><key>${KEY}</key><nodes><node>192.0.2.1</node></nodes></cluster>`;
    const on = shown(cluster, 'cluster');
    expect(on).to.deep.nested.include({
      'cluster.disabled': 'no',
      'cluster.name': 'lab',
      'cluster.node_type': 'worker',
    });
    expect(on).to.deep.nested.include({ 'cluster.nodes': ['192.0.2.1'] });
    expect(JSON.stringify(on)).not.to.include(KEY);
  });
});
