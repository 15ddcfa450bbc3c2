import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { ApiClient } from '../../support/api/api-client.js';
import type { ApiList } from '../../support/api/api-list.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RootcheckTree } from '../../support/syscheckd/rootcheck-kit.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const DAEMONS: readonly DaemonName[] = ['svc-db', 'svc-analysisd', 'svc-apid', 'svc-syscheckd'];
const WAIT_MS = 60_000;

type Alert = {
  readonly rule: { readonly id: string; readonly level: number };
  readonly agent: { readonly id: string };
  readonly decoder: { readonly name: string };
  readonly location: string;
  readonly full_log: string;
  readonly data: Readonly<Record<string, string>>;
};

describe('rootcheck of svc-syscheckd, up to alerts and the API, with the real daemons', function () {
  this.timeout(240_000);
  const home = new TemporaryHome();
  const tree = new RootcheckTree();
  const checker = new ResponseChecker();
  const api = new ApiClient(home);
  const daemons = new Map<DaemonName, RunningDaemon>();
  const ROOTKIT = `Rootkit 'Kinsing' detected by the presence of file '${tree.root}/tmp/kinsing'.`;
  const ON_DEV = `File '${tree.root}/dev/.odd' present on /dev. Possible hidden file.`;

  before(async () => {
    await initHome(home, { role: 'server' });
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <syscheck><disabled>yes</disabled></syscheck>
         <rootcheck>
           <base_directory>${tree.root}/</base_directory>
           <rootkit_files>etc/rootcheck/rootkit_files.txt</rootkit_files>
           <rootkit_trojans>etc/rootcheck/rootkit_trojans.txt</rootkit_trojans>
           <check_files>yes</check_files>
           <check_trojans>yes</check_trojans>
           <check_pids>no</check_pids>
           <check_ports>no</check_ports>
           <check_if>no</check_if>
         </rootcheck>
       </manager_config>\n`,
    );
    writeFileSync(
      home.path('api', 'configuration', 'api.yaml'),
      'host: ["127.0.0.1"]\nport: 0\naccess:\n  max_request_per_minute: 0\n',
    );
    tree.write('tmp/kinsing', 'a list of the shipped ones names it');
    for (const name of DAEMONS) daemons.set(name, await RunningDaemon.start(name, home));
  });
  after(async () => {
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    home.remove();
    tree.remove();
  });

  /** Asks over HTTPS; the answer follows the contract. */
  async function call(method: HttpMethod, path: string, template: string): Promise<ApiList> {
    const answer = await eventually(`${method} ${path}`, () => api.call(method, path));
    checker.check(method, template, answer);
    return answer.json() as ApiList;
  }
  const findings = async (query = ''): Promise<ApiList['data']['affected_items']> =>
    (await call('GET', `/rootcheck/000${query}`, '/rootcheck/{agent_id}')).data.affected_items;
  const lastScan = async (): Promise<{ start: string | null; end: string | null }> => {
    const { data } = await call('GET', '/rootcheck/000/last_scan', '/rootcheck/{agent_id}/last_scan');
    return data.affected_items[0] as { start: string | null; end: string | null };
  };
  const alerts = (): Alert[] => {
    const path = home.path('logs', 'alerts', 'alerts.json');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line) as Alert).filter(({ location }) => location === 'rootcheck');
  };
  /** @param after end of the scan before */
  const ended = (after = '') =>
    eventually(
      'a scan ended',
      async () => {
        const scan = await lastScan();
        return scan.end !== null && scan.end > after ? scan : undefined;
      },
      WAIT_MS,
    );

  it('scans at the start, though no files are watched', async () => {
    const { start, end } = (await ended())!;
    expect(start! <= end!, 'ended after it began').to.equal(true);
    const [finding, ...others] = await findings();
    expect(others).to.be.empty;
    expect(finding).to.include({ log: ROOTKIT, status: 'outstanding' });
    expect(finding!['date_first']).to.equal(finding!['date_last']);
    const [alert, ...more] = await eventually('the alert', () => (alerts().length > 0 ? alerts() : undefined), WAIT_MS);
    expect(more, 'neither marks of the scan nor anything else').to.be.empty;
    expect(alert).to.deep.include({ location: 'rootcheck', full_log: ROOTKIT });
    expect(alert!.rule).to.include({ id: '510', level: 7 });
    expect([alert!.agent.id, alert!.decoder.name]).to.deep.equal(['000', 'rootcheck']);
    expect(alert!.data['title']).to.equal(ROOTKIT);
  });

  it('scans again when it is told to over the API', async () => {
    const { end } = await lastScan();
    const [before] = await findings();
    rmSync(tree.path('tmp/kinsing'));
    tree.write('dev/.odd');
    expect(await call('PUT', '/rootcheck?agents_list=000', '/rootcheck')).to.include({
      message: 'Rootcheck scan was restarted on returned agents',
    });
    await ended(end!);
    const found = new Map((await findings()).map((item) => [item['log'], item]));
    expect([...found.keys()]).to.have.members([ROOTKIT, ON_DEV]);
    expect(found.get(ROOTKIT), 'not told again').to.include({ date_last: before!['date_last'] });
    expect(alerts().map(({ full_log }) => full_log)).to.include(ON_DEV);
    expect((await findings('?search=kinsing')).map(({ log }) => log)).to.deep.equal([ROOTKIT]);
  });
});
