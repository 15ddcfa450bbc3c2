import { hash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { buildMergedFile } from '../../../lib/agentlink/merged-file.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { FakeManager } from '../../support/agentlink/fake-manager.js';
import { keyLine } from '../../support/agentlink/minimal-agent.js';
import { killSupervised } from '../../support/daemon/kill-supervised.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { identity } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DAEMONS: readonly DaemonName[] = ['svc-agentd', 'svc-logcollector'];
const WAIT_MS = 30_000;

function localfile(location: string): string {
  return `<localfile><log_format>syslog</log_format><location>${location}</location></localfile>`;
}

describe('all daemons of an agent, and an agent.conf of its manager', function () {
  this.timeout(120_000);
  const home = new TemporaryHome({ version: 1, role: 'agent' });
  const manager = new FakeManager(identity(1));
  let supervisor: TestProgram;

  before(async () => {
    await initHome(home, { role: 'agent' });
    await manager.start();
    writeFileSync(home.path('etc', 'client.keys'), keyLine(identity(1)));
    mkdirSync(home.path('logs', 'app'));
    for (const name of ['local', 'shared', 'never']) writeFileSync(log(name), '');
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <client>
           <server><address>127.0.0.1</address><port>${manager.port}</port><retry_interval>1</retry_interval></server>
           <notify_time>3600</notify_time><time-reconnect>7200</time-reconnect><auto_restart>no</auto_restart>
           <enrollment><enabled>no</enabled></enrollment>
         </client>
         ${localfile('logs/app/local.log')}
       </manager_config>\n`,
    );
    const control = join(fileURLToPath(productRoot()), 'bin', 'svc-control');
    supervisor = new TestProgram(control, ['run', '--home', home.root]);
    await eventually('a keepalive', () => manager.keepalives.length > 0, WAIT_MS);
    await eventually('svc-logcollector', () => pidOf('svc-logcollector') !== undefined, WAIT_MS);
  });
  after(async () => {
    await killSupervised(home, supervisor);
    manager.stop();
    home.remove();
  });

  const log = (name: string): string => home.path('logs', 'app', `${name}.log`);
  const pidOf = (name: DaemonName): number | undefined => readRunRecord(home.path('var', 'run', `${name}.json`))?.pid;
  const said = (text: string): Promise<boolean> =>
    eventually(text, () => readFileSync(home.path('logs', 'manager.log'), 'utf8').includes(text), WAIT_MS);

  async function push(configuration: string): Promise<void> {
    const content = buildMergedFile('default', [{ name: 'agent.conf', content: Buffer.from(configuration) }]);
    const sum = hash('md5', content, 'hex');
    manager.push(content);
    await eventually('it is in place', () => manager.keepalive?.mergedSum === sum, WAIT_MS);
  }

  /** What is written until it arrives: a file is followed from its end at the moment it is first seen. */
  async function collects(name: string): Promise<void> {
    let number = 0;
    await eventually(
      `a line of ${name}`,
      () => {
        number += 1;
        appendFileSync(log(name), `${name} ${number}\n`);
        return manager.events.some((text) => text.includes(`${name}.log:${name} `));
      },
      WAIT_MS,
    );
  }

  it('collects what both configurations name, over one connection and with the same processes', async () => {
    await collects('local');
    const before = DAEMONS.map(pidOf);
    await push(`<agent_config>${localfile('logs/app/shared.log')}</agent_config>`);
    await collects('shared');
    manager.events.length = 0;
    await collects('local');
    expect(DAEMONS.map(pidOf)).to.deep.equal(before);
    expect(manager.connections).to.equal(1);
  });

  it('goes on as before with one that is broken', async () => {
    await push(
      `<agent_config>${localfile('logs/app/never.log')}<syscheck><frequency>x</frequency></syscheck></agent_config>`,
    );
    await eventually('the event', () =>
      manager.events.includes("1:wazuh-agent:wazuh: Invalid remote configuration: 'syscheck'. "),
    );
    await said('the shared configuration is not used, what runs stays');
    manager.events.length = 0;
    appendFileSync(log('never'), 'never 1\n');
    await collects('shared');
    await collects('local');
    expect(manager.events.filter((text) => text.includes('never'))).to.deep.equal([]);
    expect(manager.connections).to.equal(1);
  });

  it('collects only what the host names again, once the manager takes its files back', async () => {
    await push('<agent_config></agent_config>');
    await said("shared.log' is not followed any more.");
    await collects('local');
    expect(manager.connections).to.equal(1);
  });
});
