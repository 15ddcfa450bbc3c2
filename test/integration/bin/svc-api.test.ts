import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { type ProgramResult, TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { DbServer } from '../../support/db/db-server.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = productProgram('svc-api');
const PASSWORD = 'Correct-42-horse';
const WEB = ['002', '005'];

/** More agents than a page has. */
const MANY = 1234;

describe('svc-api with a manager on this host', function () {
  this.timeout(120_000);
  let home: TemporaryHome;
  let db: DbServer;
  let apid: RunningDaemon;
  let state: string;
  let url: string;
  let passwordFile: string;

  before(async () => {
    home = new TemporaryHome();
    state = mkdtempSync(join(tmpdir(), 'svc-api-'));
    passwordFile = join(state, 'password');
    writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
    mkdirSync(home.path('api/configuration/security'), { recursive: true });
    writeFileSync(home.path('api/configuration/api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
    writeFileSync(home.path('etc/manager.conf'), '<manager_config></manager_config>\n');
    mkdirSync(home.path('etc/shared/default'), { recursive: true });
    mkdirSync(home.path('etc/shared/web'));
    db = await DbServer.start(home, Date.now);
    await db.groups('web');
    const client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    for (let id = 1; id <= 6; id += 1) {
      const name = `00${id}`;
      const groups = WEB.includes(name) ? ['default', 'web'] : ['default'];
      await client.call('agents.register', { id: name, name: `box${name}`, dateAdd: 1_700_000_000, groups });
    }
    client.close();
    apid = await RunningDaemon.start('svc-apid', home);
    url = `https://127.0.0.1:${apid.port('api')}`;
  });
  after(async () => {
    await apid.stop('SIGKILL');
    await db.stop();
    home.remove();
    removeTree(state);
  });

  const run = (...args: string[]): Promise<ProgramResult> =>
    new TestProgram(PROGRAM, args, { env: { XDG_STATE_HOME: state, SVC_HOME: home.root } }).ended;
  /** For those who are logged in by an address: no home is looked at. */
  const runAs = (session: string, ...args: string[]): Promise<ProgramResult> =>
    new TestProgram(PROGRAM, [...args, '--session', session], { env: { XDG_STATE_HOME: state } }).ended;
  const done = async (result: Promise<ProgramResult>) => {
    const { code, stdout, stderr } = await result;
    expect(code, stderr + stdout).to.equal(0);
    return { stdout, stderr };
  };
  const refused = async (result: Promise<ProgramResult>) => {
    const { code, stdout, stderr } = await result;
    expect([code, stdout], stderr).to.deep.equal([1, '']);
    return stderr;
  };
  const items = (text: string) =>
    (JSON.parse(text) as { data: { affected_items: Record<string, unknown>[] } }).data.affected_items;
  const sessionFile = (name: string) => join(state, 'security-manager/api-sessions', `${name}.json`);

  it('needs nothing on the host of the manager, and keeps a token that nobody else can read', async () => {
    const { stdout, stderr } = await done(run('GET', '/agents?limit=3', '--select', 'id,name'));
    expect(items(stdout)).to.deep.equal([
      { id: '000', name: 'manager1' },
      ...['001', '002'].map((id) => ({ id, name: `box${id}` })),
    ]);
    expect(stderr).to.equal('svc-api: logged in as admin with the password that the manager began with\n');
    expect(statSync(sessionFile('default')).mode & 0o777).to.equal(0o600);
    const password = readFileSync(home.path('api/configuration/security/initial-admin-password'), 'utf8').trim();
    for (const name of readdirSync(join(state, 'security-manager/api-sessions'))) {
      expect(readFileSync(join(state, 'security-manager/api-sessions', name), 'utf8')).to.not.contain(password);
    }
    // The second time there is a login.
    const again = await done(run('agents', 'list', '-o', 'table'));
    expect(again.stderr).to.equal('');
    expect(again.stdout.split('\n')[3]).to.match(/^002 {2}box002 +any +never_connected +- +default,web +-$/);
  });

  it('lets a user see one group, who is refused a restart, and whose token dies when it is revoked', async () => {
    const made = await done(run('users', 'create', 'maria', '--read-group', 'web', '--password-file', passwordFile));
    expect(items(made.stdout)).to.have.length(1);
    expect(items(made.stdout)[0]).to.include({ username: 'maria' });

    // From elsewhere the certificate must be the one that somebody named.
    const elsewhere = ['login', '--url', url, '--user', 'maria', '--password-file', passwordFile];
    const asked = await runAs('maria', ...elsewhere);
    expect([asked.code, asked.stdout]).to.deep.equal([2, '']);
    const fingerprint = /\n {2}([0-9A-F:]{95})\n/.exec(asked.stderr)?.[1];
    expect(asked.stderr).to.match(/^No authority of this system vouches for /);
    const wrong = await refused(runAs('maria', ...elsewhere, '--fingerprint', `00${fingerprint!.slice(2)}`));
    expect(wrong).to.contain('has another certificate');
    await done(runAs('maria', ...elsewhere, '--fingerprint', fingerprint!));

    const seen = await done(runAs('maria', 'agents', 'list', '-o', 'lines'));
    expect(
      seen.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).to.deep.equal(WEB);
    expect((await done(runAs('maria', 'groups', 'list', '-o', 'table'))).stdout).to.equal('NAME  COUNT\nweb   2\n');

    const policies = items((await done(run('GET', '/security/policies', 'search=read-group-web'))).stdout);
    expect(policies.map(({ policy }) => policy)).to.deep.equal([
      { actions: ['agent:read'], resources: ['agent:group:web'], effect: 'allow' },
      { actions: ['group:read'], resources: ['group:id:web'], effect: 'allow' },
      { actions: ['alerts:read'], resources: ['agent:group:web'], effect: 'allow' },
    ]);
    // The login that was named is used, though the home of this host is chosen where none is.
    const named = await done(run('whoami', '--session', 'maria'));
    expect(items(named.stdout)[0]).to.include({ username: 'maria' });
    expect(await refused(run('whoami', '--session', 'maria', '--home', home.root))).to.equal(
      `svc-api: the login 'maria' is to ${url}, not to '${home.root}'; --session NAME keeps another one beside it\n`,
    );
    expect(await refused(run('whoami', '--session', 'mara'))).to.equal(
      "svc-api: there is no login 'mara': svc-api login --session mara\n",
    );

    const restart = await refused(runAs('maria', 'agents', 'restart', 'box002'));
    expect(restart).to.match(/^svc-api: 403 Permission Denied: Permission denied: .* \(error 4000\)\n {2}\S/);

    await done(run('users', 'revoke', 'maria'));
    const over = await refused(runAs('maria', 'agents', 'list'));
    expect(over).to.match(
      /^svc-api: 401 Unauthorized: Invalid token\n {2}The login of maria is over: .* svc-api login --session maria\n$/,
    );

    await done(run('users', 'delete', 'maria', '--yes'));
    expect(await refused(runAs('maria', ...elsewhere, '--fingerprint', fingerprint!))).to.contain(
      "password of 'maria' is wrong",
    );
  });

  it('completes the role of an earlier version and says who has it, and leaves one without policies alone', async () => {
    const create = (user: string) =>
      run('users', 'create', user, '--read-group', 'web', '--password-file', passwordFile);
    const readRoles = async () => items((await done(run('GET', '/security/roles', 'search=read-group-web'))).stdout);
    expect((await done(create('luigi'))).stderr).to.equal('');
    const [made] = await readRoles();
    const role = String(made?.['id']);
    const policies = made?.['policies'] as number[];
    // Such a role has no policy for alerts.
    await done(run('DELETE', `/security/roles/${role}/policies`, `policy_ids=${policies[2]}`));
    expect((await done(create('mario'))).stderr).to.equal(
      "svc-api: role 'read-group-web' of an earlier version gets alerts:read, too: 1 user has it\n",
    );
    const completed = await readRoles();
    expect(completed.map(({ id, policies: linked }) => [id, linked])).to.deep.equal([[Number(role), policies]]);

    // Somebody took all from it: that is meant.
    await done(run('DELETE', `/security/roles/${role}/policies`, 'policy_ids=all'));
    expect(await refused(create('peach'))).to.equal(
      "svc-api: role 'read-group-web' is there and has no policies: give it by --role if it is meant\n",
    );
    expect((await readRoles()).map(({ policies: linked }) => linked)).to.deep.equal([[]]);
    expect(items((await done(run('GET', '/security/users', 'search=peach'))).stdout)).to.deep.equal([]);
  });

  it('says what could not be done, and tells with its exit code', async () => {
    const { code, stdout, stderr } = await run('agents', 'add-group', 'web', '1', '99');
    expect([code, items(stdout)], stderr).to.deep.equal([1, ['001']]);
    expect(stderr).to.match(/^svc-api: not done for 099: .* \(error 1701\)/);
    const unknown = await run('GET', '/agents', 'statsu=active');
    expect([unknown.code, unknown.stdout]).to.deep.equal([2, '']);
    expect(unknown.stderr).to.match(
      /^svc-api: GET \/agents has no parameter 'statsu' \(did you mean 'status'\?\); it takes /,
    );
  });

  it('fetches all pages', async () => {
    await db.fill(MANY);
    const all = await done(run('GET', '/agents', 'select=id'));
    const ids = items(all.stdout).map(({ id }) => Number(id));
    expect(ids).to.deep.equal(Array.from({ length: MANY + 1 }, (_none, id) => id));
    const few = await done(run('GET', '/agents', 'select=id', 'limit=7', 'offset=1220', '--all', '-o', 'lines'));
    expect(few.stdout.trim().split('\n')).to.have.length(MANY + 1 - 1220);
  });

  it('ends its login', async () => {
    const before = readFileSync(sessionFile('default'), 'utf8');
    expect((await done(run('logout'))).stderr).to.equal('Logged out: all tokens of admin have ended.\n');
    writeFileSync(sessionFile('old'), before.replace('"initial":true', '"initial":false'), { mode: 0o600 });
    expect(await refused(runAs('old', 'whoami'))).to.contain('The login of admin is over');
    expect((await done(runAs('old', 'logout'))).stderr).to.equal('Logged out: the token had ended before.\n');
    expect((await done(runAs('old', 'logout'))).stderr).to.equal('There was no login.\n');
  });
});
