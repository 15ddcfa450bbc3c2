import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { execdContract } from '../../../lib/bus/contracts/execd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { STATEFUL } from '../../support/execd/response-kit.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const WAIT_MS = 30_000;
/** Elements of a set that nft would have, a line each. */
const NFT = `#!/bin/sh
cd "$(dirname "$0")" || exit 9
address=$(printf '%s' "$6" | tr -d '{} ')
case "$1" in
-f) sed -n 's/^add element.*{ \\(.*\\) }$/\\1/p' >> elements;;
get) grep -qxF "$address" elements;;
delete) grep -vxF "$address" elements > left; mv left elements;;
esac
`;

describe('svc-execd', function () {
  this.timeout(120_000);
  const home = new TemporaryHome({ version: 1, role: 'agent' });
  const tools = home.path('tmp', 'tools');
  const client = new RequestClient({ contract: execdContract, path: home.socket('svc-execd') });
  let daemon: RunningDaemon;

  before(async () => {
    await initHome(home, { role: 'agent' });
    script('shut', STATEFUL);
    script('slow', STATEFUL.replace('note "$line"\ncase', 'note "$line"; read -r never\ncase'));
    mkdirSync(tools);
    writeFileSync(`${tools}/nft`, NFT, { mode: 0o755 });
    writeFileSync(`${tools}/elements`, '');
    const launcher = home.path('active-response', 'bin', 'firewall-drop');
    writeFileSync(launcher, readFileSync(launcher, 'utf8').replace('"$0"', `"$0" --tools '${tools}'`));
    writeFileSync(
      home.path('etc', 'shared', 'ar.conf'),
      'shut4 - shut - 4\nshut3600 - shut - 3600\nslow0 - slow - 0\nfirewall-drop2 - firewall-drop - 2\n',
    );
    daemon = await RunningDaemon.start('svc-execd', home);
  });
  after(async () => {
    client.close();
    await daemon.stop('SIGKILL');
    home.remove();
  });

  function script(name: string, text: string): void {
    const path = home.path('active-response', 'bin', name);
    writeFileSync(path, text);
    chmodSync(path, 0o750);
  }
  const run = (command: string, srcip: string) => {
    const origin = { name: 'node01', module: 'wazuh-analysisd' };
    const message = JSON.stringify({ version: 1, origin, command, parameters: { alert: { data: { srcip } } } });
    return client.call('responses.run', { message }, { deadlineMs: WAIT_MS });
  };
  const told = (name: string): string[] => {
    const path = home.path('logs', `${name}.log`);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { command, parameters } = JSON.parse(line) as {
          command: string;
          parameters: { alert: { data: { srcip: string } } };
        };
        return `${command} ${parameters.alert.data.srcip}`;
      });
  };
  const responses = async () => (await client.call('stats', {}))['responses'] as Record<string, number>;

  it('undoes once what was in force when it was killed, in its time', async () => {
    const started = Date.now();
    await run('shut4', '192.0.2.1');
    await run('shut3600', '192.0.2.2');
    await eventually(
      'both may go on',
      () => told('shut').filter((line) => /^continue/.test(line)).length === 2,
      WAIT_MS,
    );
    await daemon.stop('SIGKILL');
    daemon = await RunningDaemon.start('svc-execd', home);
    await eventually('the first is undone', () => told('shut').includes('delete 192.0.2.1'), WAIT_MS);
    expect(Date.now() - started).to.be.at.least(4000);
    await eventually('it is forgotten', async () => (await responses())['in_force'] === 1, WAIT_MS);
    // A stop undoes nothing early, and the next start nothing twice.
    expect(await daemon.stop()).to.equal(0);
    daemon = await RunningDaemon.start('svc-execd', home);
    expect(told('shut').filter((line) => /^delete/.test(line))).to.deep.equal(['delete 192.0.2.1']);
    expect((await responses())['in_force']).to.equal(1);
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    expect(log).to.include('1 active responses stay in force');
  });

  it('begins anew what it was killed in, and says so', async () => {
    await run('slow0', '192.0.2.3');
    await eventually('it runs', () => told('slow').length === 1, WAIT_MS);
    await daemon.stop('SIGKILL');
    script('slow', STATEFUL);
    daemon = await RunningDaemon.start('svc-execd', home);
    const orders = ['add 192.0.2.3', 'add 192.0.2.3', 'continue 192.0.2.3'];
    await eventually('it is done', () => told('slow').length === orders.length, WAIT_MS);
    expect(told('slow')).to.deep.equal(orders);
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    expect(log).to.include("Active response 'slow0' was interrupted: it is started again.");
  });

  it("has the product's own program drop packets, and let them in again", async () => {
    appendFileSync(`${tools}/elements`, '203.0.113.1\n');
    await run('firewall-drop2', '2001:db8::7');
    const elements = () => readFileSync(`${tools}/elements`, 'utf8');
    await eventually('it is dropped', () => elements().includes('2001:db8::7'), WAIT_MS);
    await eventually('it is let in again', () => elements() === '203.0.113.1\n', WAIT_MS);
    const ended = () =>
      readFileSync(home.path('logs', 'active-responses.log'), 'utf8').match(
        /active-response\/bin\/firewall-drop: Ended/g,
      );
    await eventually('both say that they have ended', () => ended()?.length === 2, WAIT_MS);
  });

  it('says what it does not run', async () => {
    const refusal: unknown = await run('nosuch0', '192.0.2.4').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(BusError);
    expect(refusal).to.include({
      code: 'unknown_command',
      message: "(1311): Invalid command name 'nosuch0' provided.",
    });
  });
});
