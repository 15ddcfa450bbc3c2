import { copyFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { activeConfiguration } from '../../../../daemons/analysisd/active-configuration.js';
import { loadSettings } from '../../../../daemons/analysisd/settings.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const CONFIGURATION = `<manager_config>
  <command><name>drop</name><executable>firewall-drop</executable><timeout_allowed>yes</timeout_allowed></command>
  <command><name>tell</name><executable>tell.sh</executable></command>
  <active-response><command>drop</command><location>local</location><level>7</level><timeout>600</timeout></active-response>
  <active-response>
    <command>tell</command><location>defined-agent,server</location><agent_id>001,002</agent_id>
    <rules_id>5710,5712</rules_id><rules_group>sshd</rules_group>
  </active-response>
</manager_config>
`;

describe('configuration in force of svc-analysisd', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc/internal_options.conf'),
    );
  });
  afterEach(() => home.remove());

  const shown = (name: string): unknown => {
    const settings = loadSettings(home);
    return activeConfiguration(() => settings).get(name)?.();
  };

  it('shows commands and active responses', () => {
    writeFileSync(home.path('etc', 'manager.conf'), CONFIGURATION);
    expect(shown('command')).to.deep.equal({
      command: [
        { name: 'drop', executable: 'firewall-drop', timeout_allowed: 1 },
        { name: 'tell', executable: 'tell.sh', timeout_allowed: 0 },
      ],
    });
    const nothing = { agent_id: '', rules_id: '', rules_group: '' };
    expect(shown('active_response')).to.deep.equal({
      'active-response': [
        { command: 'drop', ...nothing, timeout: 600, level: 7, location: 'REMOTE_AGENT' },
        {
          command: 'tell',
          agent_id: '001,002',
          rules_id: '5710,5712',
          rules_group: 'sshd',
          timeout: 0,
          level: 0,
          location: 'AS_ONLY,SPECIFIC_AGENT',
        },
      ],
    });
  });

  it('shows empty lists where there are none', () => {
    writeFileSync(home.path('etc', 'manager.conf'), '<manager_config></manager_config>\n');
    expect(shown('command')).to.deep.equal({ command: [] });
    expect(shown('active_response')).to.deep.equal({ 'active-response': [] });
    expect(shown('nosuch')).to.equal(undefined);
  });
});
