import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { buildMergedFile } from '../../../lib/agentlink/merged-file.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { FileServer } from '../../support/remoted/file-server.js';
import { KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

const DEADLINE_MS = 30_000;

const agentConf = (text: string): string => `<agent_config>\n<!-- ${text} -->\n</agent_config>\n`;
const mirrored = (text: string): string =>
  buildMergedFile('mirror', [{ name: 'agent.conf', content: Buffer.from(agentConf(text)) }]).toString();

describe('files.yml', function () {
  this.timeout(120_000);
  const home = new RemotedHome({ options: 'remoted.shared_reload=1\n' });
  const sink = new KeepingSink(home);
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const remoted = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  const server = new FileServer();
  let database: RunningDaemon;
  let daemon: RunningDaemon;

  const merged = (group: string): string => {
    const path = home.path('etc', 'shared', group, 'merged.mg');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const until = (what: string, probe: () => boolean | Promise<boolean>) => eventually(what, probe, DEADLINE_MS);
  const logged = (text: string) => until(`the log says '${text}'`, () => daemon.output.includes(text));
  function write(groups: Record<string, Record<string, string>>): void {
    const listed = Object.entries(groups).map(([name, files]) => [name, { files, poll: 1 }]);
    const text = JSON.stringify({ groups: Object.fromEntries(listed) as unknown });
    writeFileAtomically(home.path('etc', 'shared', 'files.yml'), text, { mode: 0o660 });
  }

  before(async () => {
    mkdirSync(home.path('etc', 'shared', 'default'), { recursive: true });
    home.keys();
    await server.start();
    await sink.start();
    database = await RunningDaemon.start('svc-db', home);
    write({
      web: { 'agent.conf': server.serve('/web', agentConf('one')), 'list.txt': server.serve('/list', 'a\nb\n') },
      mirror: { 'merged.mg': server.serve('/mirror', mirrored('one')), 'agent.conf': server.serve('/never', 'x') },
    });
    daemon = await RunningDaemon.start('svc-remoted', home);
  });
  after(async () => {
    db.close();
    remoted.close();
    await daemon.stop('SIGKILL');
    await database.stop('SIGKILL');
    await sink.stop();
    await server.stop();
    home.remove();
  });

  it('makes groups, and gives them what servers have', async () => {
    await logged('Successfully parsed of yaml file: etc/shared/files.yml');
    await until('the files are merged', () => merged('web').includes('!4 list.txt\na\nb\n'));
    await until('agent.conf is merged', () => merged('web').includes(agentConf('one')));
    expect(merged('web')).to.match(/^#web\n/);
    expect(statSync(home.path('etc', 'shared', 'web')).mode & 0o777).to.equal(0o770);
    await until('the merged file of the mirror', () => merged('mirror') === mirrored('one'));
    await until('svc-db knows the groups', async () => {
      const { groups } = await db.call('groups.list', {}, { deadlineMs: DEADLINE_MS });
      return ['web', 'mirror'].every((name) => groups.some((group) => group.name === name));
    });
    expect(server.count('/never')).to.equal(0);
  });

  it('takes over what changes on a server', async () => {
    server.serve('/web', agentConf('two'));
    await until('the new agent.conf is merged', () => merged('web').includes(agentConf('two')));
    server.serve('/mirror', mirrored('two'));
    await until('the new merged file', () => merged('mirror') === mirrored('two'));
  });

  it('keeps the last good files when servers fail or lie', async () => {
    const good = merged('mirror');
    server.serve('/web', (_, response) => response.writeHead(500).end());
    server.serve('/mirror', '<html>moved</html>');
    await logged("ERROR: The downloaded file 'var/download/merged.mg' is corrupted.");
    await logged(
      `WARNING: Cannot download file 'etc/shared/web/agent.conf' from URL: '${server.address('/web')}': the server answered 500`,
    );
    expect(merged('mirror')).to.equal(good);
    expect(merged('web')).to.include(agentConf('two'));
    const { downloads } = await remoted.call('stats', {}, { deadlineMs: DEADLINE_MS });
    expect(downloads).to.include({ groups: 2, reads: 1 });
    expect(downloads).to.have.property('corrupt').greaterThan(0);
  });

  it('keeps a downloaded merged file over a crash, while its server is away', async () => {
    const good = merged('mirror');
    server.serve('/mirror', () => {});
    await daemon.stop('SIGKILL');
    const asked = server.count('/mirror');
    daemon = await RunningDaemon.start('svc-remoted', home);
    await until('the server is asked again', () => server.count('/mirror') > asked);
    // Another group shows that the shared files were looked at.
    rmSync(home.path('etc', 'shared', 'web', 'merged.mg'));
    await until('the other group is merged', () => merged('web').startsWith('#web\n'));
    expect(merged('mirror')).to.equal(good);
  });

  it('downloads nothing after a fault, and merges here what is listed no longer', async () => {
    const good = merged('mirror');
    writeFileAtomically(home.path('etc', 'shared', 'files.yml'), 'groups:\n  - web\n', { mode: 0o660 });
    await logged('ERROR: Parsing error on line 1: unexpected token');
    expect(merged('mirror')).to.equal(good);
    write({ mail: { 'agent.conf': server.serve('/mail', agentConf('mail')) } });
    await until('the new group', () => merged('mail').includes(agentConf('mail')));
    await until('the mirror is merged of its folder', () => merged('mirror') !== good && merged('mirror') !== '');
    expect(merged('mirror'))
      .to.match(/^#mirror\n/)
      .and.include('The group has no agent.conf');
    rmSync(home.path('etc', 'shared', 'files.yml'));
    await until('no group is listed', async () => {
      const { downloads } = await remoted.call('stats', {}, { deadlineMs: DEADLINE_MS });
      return (downloads as { groups: number }).groups === 0;
    });
    expect(merged('mail')).to.include(agentConf('mail'));
  });

  it('stops while a server hangs', async () => {
    write({ slow: { 'a.txt': server.serve('/hang', () => {}) } });
    await until('the server is asked', () => server.count('/hang') > 0);
    expect(await daemon.stop()).to.equal(0);
  });
});
