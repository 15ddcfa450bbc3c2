import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { copyShippedRuleset } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const policy = (
  id: string,
  base: number,
  rule: string,
) => `policy: {id: ${id}, file: ${id}.yml, name: "Demo ${id}", description: d}
checks:
  - {id: ${base + 1}, title: "root in passwd", compliance: [{cis: ["1.1"]}], condition: all, rules: ["f:/etc/passwd -> r:^root:"]}
  - {id: ${base + 2}, title: "A command", condition: all, rules: ["${rule}"]}
`;

describe('the configuration assessment of svc-modulesd', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let sink: KeepingSink | undefined;
  let modulesd: RequestClient<typeof modulesdContract>;
  const daemons: RunningDaemon[] = [];

  function make(role: 'server' | 'agent'): void {
    home = new TemporaryHome({ version: 1, role });
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
    for (const directory of ['ruleset/sca', 'etc/shared', 'queue/tasks']) {
      mkdirSync(home.path(directory), { recursive: true });
    }
    modulesd = new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') });
  }
  async function start(...names: ('svc-modulesd' | 'svc-analysisd')[]): Promise<void> {
    for (const name of names) daemons.push(await RunningDaemon.start(name, home));
  }
  afterEach(async () => {
    for (const daemon of daemons.splice(0)) await daemon.stop('SIGKILL');
    modulesd.close();
    await sink?.stop();
    sink = undefined;
    home.remove();
  });
  const configure = (sca: string) =>
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config><sca>${sca}</sca></manager_config>`);
  const log = (): string => readFileSync(home.path('logs', 'manager.log'), 'utf8');
  const logged = (text: string) => eventually(text, () => log().includes(text));
  const told = (): string[] => (sink?.events ?? []).map(({ message }) => message.toString());

  it('becomes alerts of the manager', async () => {
    make('server');
    copyShippedRuleset(home);
    writeFileSync(home.path('ruleset/sca/demo.yml'), policy('demo', 90_000, 'c:echo off -> r:^on$'));
    configure('<interval>1d</interval>');
    await start('svc-analysisd', 'svc-modulesd');
    await logged("Evaluation finished for policy 'ruleset/sca/demo.yml'");
    // As svc-analysisd has the order brought to an agent.
    await modulesd.call('order', { text: 'sca-dump:demo:1' });
    type Alert = {
      rule: { id: string; level: number; cis?: string[] };
      location: string;
      data: { sca: { check: Record<string, unknown> } };
    };
    const alerts = () => {
      const lines = readFileSync(home.path('logs/alerts/alerts.json'), 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Alert).filter(({ location }) => location === 'sca');
    };
    await eventually('two alerts', () => alerts().length >= 2);
    const [passed, failed] = alerts();
    expect(passed?.rule).to.deep.include({ id: '19008', level: 3, cis: ['1.1'] });
    expect(passed?.data.sca.check).to.deep.include({ id: '90001', result: 'passed', file: ['/etc/passwd'] });
    expect(failed?.rule).to.deep.include({ id: '19007', level: 7 });
    expect(failed?.data.sca.check).to.deep.include({ title: 'A command', result: 'failed', command: ['echo off'] });
    const { sca } = (await modulesd.call('stats', {})) as { sca: Record<string, unknown> };
    expect(sca).to.deep.include({ enabled: true, policies: 1, passed: 1, failed: 1, invalid: 0, scans: 1 });
    expect(sca['commands']).to.deep.equal({ run: 1, failed: 0, late: 0 });
    const { wmodules } = (await modulesd.call('config', { section: 'wmodules' })) as {
      wmodules: Record<string, unknown>[];
    };
    expect(wmodules.find((each) => 'sca' in each)).to.deep.equal({
      sca: {
        ...{ interval: 86_400, enabled: 'yes', scan_on_start: 'yes', skip_nfs: 'yes' },
        policies: [home.path('ruleset/sca/demo.yml')],
      },
    });
  });

  it('of an agent runs no command of the manager without consent, and scans again what was pushed anew', async () => {
    make('agent');
    sink = new KeepingSink(home);
    await sink.start();
    writeFileSync(home.path('etc/shared/pushed.yml'), policy('pushed', 70_000, 'c:touch tmp/ran -> !r:x'));
    writeFileSync(home.path('ruleset/sca/bad.yml'), policy('bad', 80_000, 'x:nothing'));
    configure('<interval>1d</interval>');
    writeFileSync(
      home.path('etc/shared/agent.conf'),
      '<agent_config><sca><policies><policy>etc/shared/pushed.yml</policy></policies></sca></agent_config>',
    );
    await start('svc-modulesd');
    await eventually('the policies are told', () => told().some((text) => text.includes('"type":"policies"')));
    expect(told()).to.have.length(2);
    expect(JSON.parse(told()[0] ?? '')).to.deep.include({
      policy_id: 'pushed',
      passed: 1,
      failed: 0,
      invalid: 1,
      first_scan: 1,
    });
    expect(told()[1]).to.equal('{"type":"policies","policies":["pushed"]}');
    expect(sink.events.every(({ queue, location }) => queue === 'p' && location === 'sca')).to.equal(true);
    expect(log()).to.match(
      /WARNING: ruleset\/sca\/bad\.yml line 4: check 80002: rule 1: 'x:nothing' does not begin with/,
    );
    expect(log()).to.include("Error found while validating policy file: 'ruleset/sca/bad.yml'. Skipping it.");
    // Nothing new: nothing happens.
    await modulesd.call('reload', {});
    writeFileSync(home.path('etc/shared/pushed.yml'), policy('pushed', 70_000, 'f:/etc/passwd'));
    await modulesd.call('reload', {});
    await eventually(
      'it is told again',
      () => told().filter((text) => text.includes('"type":"policies"')).length === 2,
    );
    const again = told().slice(2);
    expect(again).to.have.length(3);
    expect(again[0]).to.match(/^\{"type":"check".*"id":70002,.*"result":"passed"\}\}$/);
    expect(again[1]).to.not.include('first_scan');
    const refusal = await modulesd.call('order', { text: 'sca-dump:pushed' }).catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'unrecognized' });
    configure('<enabled>no</enabled>');
    await modulesd.call('reload', {});
    await logged('Module disabled. Exiting.');
    const off = await modulesd.call('order', { text: 'sca-dump:pushed:1' }).catch((error: unknown) => error);
    expect(off).to.include({ code: 'off' });
  });
});
