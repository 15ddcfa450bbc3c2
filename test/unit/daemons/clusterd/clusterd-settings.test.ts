import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { SETTINGS } from '../../../../daemons/clusterd/clusterd-settings.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const CLUSTER = `<cluster><name>office</name><node_name>n1</node_name><key>${'0123456789abcdef'.repeat(2)}</key>
  <nodes><node>nats://127.0.0.1:4222</node></nodes>`;

describe('settings of svc-clusterd', () => {
  const home = new TemporaryHome();
  after(() => {
    home.remove();
  });

  function warnings(sections: string): string[] {
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>${sections}</manager_config>\n`);
    const logger = new RecordingLogger();
    SETTINGS.logWarnings(SETTINGS.load({ name: 'svc-clusterd', home, logger, ownFlags: {} }), logger);
    return logger.lines.filter((line) => line.includes("'auth'"));
  }

  it('warn of a node whose svc-authd does not run: its key file follows nobody', () => {
    const auth = (disabled: string): string => `<auth><disabled>${disabled}</disabled></auth>`;
    expect(warnings(`${CLUSTER}<disabled>no</disabled></cluster>${auth('yes')}`).join()).to.include(
      '<remote_enrollment>no</remote_enrollment>',
    );
    expect(warnings(`${CLUSTER}<disabled>no</disabled></cluster>`)).to.have.length(1);
    expect(warnings(`${CLUSTER}<disabled>no</disabled></cluster>${auth('no')}`)).to.deep.equal([]);
    expect(warnings(`${CLUSTER}<disabled>yes</disabled></cluster>${auth('yes')}`)).to.deep.equal([]);
  });
});
