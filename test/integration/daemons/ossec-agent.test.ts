import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { copyShippedRuleset } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';

type Alert = { rule: { id: string }; full_log: string; syscheck?: Record<string, unknown> };

const MD5 = ['a'.repeat(32), 'b'.repeat(32)] as const;
const SHA1 = 'c'.repeat(40);
const SHA256 = 'd'.repeat(64);
const KEY = 'HKEY_LOCAL_MACHINE\\Software\\Demo';

describe('file integrity of an OSSEC-HIDS 4.2 agent', function () {
  this.timeout(60_000);
  const home = new RemotedHome({
    sections:
      '<ruleset><decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir></ruleset>' +
      '<alerts><log_alert_level>3</log_alert_level></alerts>',
  });
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const agent = new MinimalAgent(identity(1), 'aes-iv');
  const daemons: RunningDaemon[] = [];

  before(async () => {
    copyShippedRuleset(home);
    home.keys(identity(1));
    daemons.push(
      ...(await Promise.all(
        (['svc-db', 'svc-analysisd', 'svc-remoted'] as const).map((name) => RunningDaemon.start(name, home)),
      )),
    );
    await db.call('agents.register', { id: '001', name: 'box001', dateAdd: 1_700_000_000 });
    await agent.connectUdp(daemons[2]?.port('agents_udp') ?? 0);
    agent.send('#!-agent startup ');
    await agent.until('the answer to the startup', () => agent.acks > 0);
  });
  after(async () => {
    agent.close();
    db.close();
    for (const daemon of daemons) await daemon.stop('SIGKILL');
    home.remove();
  });

  const alerts = (): Alert[] => {
    const path = home.path('logs', 'alerts', 'alerts.json');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line) as Alert);
  };

  it('raises one alert for each change, and is stored by its columns', async () => {
    const file = (columns: string) => `12:33188:0:0:${columns} /etc/demo`;
    const messages = [
      ['9', 'rootcheck', 'Starting syscheck scan.'],
      ['8', 'syscheck', file(`${MD5[0]}:${SHA1}:xxx`)],
      ['8', 'syscheck-registry', `0:0:0:0:${MD5[0]}:${SHA1} ${KEY}`],
      ['9', 'rootcheck', 'Ending syscheck scan.'],
      ['8', 'syscheck', 'syscheck-db-completed'],
      // SHA-256 is switched on: no change.
      ['8', 'syscheck', file(`${MD5[0]}:${SHA1}:${SHA256}`)],
      ['8', 'syscheck', '-1 /etc/never'],
      ['8', 'syscheck', file(`${MD5[1]}:${SHA1}:${SHA256}`)],
      ['8', 'syscheck', `7:33188:S-1-5-32-544:0:${MD5[0]}:${SHA1}:${SHA256} C:\\new one`],
      ['8', 'syscheck', '-1 C:\\new one'],
      ['8', 'syscheck', '-1 C:\\new one'],
      ['8', 'syscheck-registry', `0:0:0:0:${MD5[1]}:${SHA1} ${KEY}`],
      ['8', 'syscheck-registry', `0:0:0:0:${MD5[1]}:${SHA1} ${KEY}\\New`],
      ['8', 'syscheck-registry', `-1 ${KEY}\\New`],
    ] as const;
    for (const [queue, location, text] of messages) agent.event(location, text, queue);
    await eventually('the last alert', () => alerts().some(({ rule }) => rule.id === '597'));
    const raised = alerts().filter(({ syscheck }) => syscheck !== undefined);
    expect(raised.map(({ rule, full_log }) => [rule.id, full_log.split('\n', 1)[0]])).to.deep.equal([
      ['550', "File '/etc/demo' checksum changed."],
      ['554', "File 'C:\\new one' was added."],
      ['553', "File 'C:\\new one' was deleted."],
      ['594', `File '${KEY}' checksum changed.`],
      ['598', `File '${KEY}\\New' was added.`],
      ['597', `File '${KEY}\\New' was deleted.`],
    ]);
    const [changed] = raised;
    expect(changed?.syscheck).to.include({ md5_before: MD5[0], md5_after: MD5[1], sha256_after: SHA256 });
    expect(changed?.syscheck).to.deep.include({ changed_attributes: ['md5'] });
    expect(changed?.syscheck).not.to.have.any.keys('uname_before', 'uname_after', 'sha256_before');

    // What is stored comes beside the analysis, which was awaited above.
    const items = await eventually('all is stored', async () => {
      const [{ total }, { items: found }] = await Promise.all([
        db.call('fim.list', { agent: '001' }),
        db.call('fim.list', { agent: '001', hash: SHA256 }),
      ]);
      return total === 2 && found[0]?.md5 === MD5[1] ? found : undefined;
    });
    expect(items.map(({ file, md5, sha256 }) => [file, md5, sha256])).to.deep.equal([['/etc/demo', MD5[1], SHA256]]);
    expect(items[0]).not.to.have.property('uname');
    const { start, end } = await db.call('fim.last_scan', { agent: '001' });
    expect([start, end]).to.satisfy((times: unknown[]) => times.every((time) => typeof time === 'string'));
  });
});
