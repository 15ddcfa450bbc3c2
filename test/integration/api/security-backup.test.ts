import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { PasswordHasher } from '../../../api/auth/password-hasher.js';
import {
  DEFAULT_POLICIES,
  DEFAULT_ROLES,
  DEFAULT_SECURITY_RULES,
  DEFAULT_USERS,
} from '../../../api/rbac/default-objects.js';
import { readSecurityBackup, writeSecurityBackup } from '../../../api/rbac/security-backup.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { SECURITY_TASK_FLAG } from '../../../lib/security/security-backup.js';
import { httpRequest, type TestResponse } from '../../support/api/http-request.js';
import { GOOD_PASSWORD } from '../../support/api/security-client.js';
import { basic } from '../../support/api/test-api.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { type ProgramResult, TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const APID = productProgram('svc-apid');
const CONTROL = productProgram('svc-control');
const SECURITY = ['api', 'configuration', 'security'] as const;

describe('svc-control backup-security and restore-security', () => {
  let home: TemporaryHome;
  let apid: TestProgram | undefined;
  let port = 0;
  let backup: string;

  function makeHome(): void {
    home = new TemporaryHome();
    mkdirSync(home.path(...SECURITY), { recursive: true });
    writeFileSync(home.path('api', 'configuration', 'api.yaml'), 'host: ["127.0.0.1"]\nport: 0\n');
    writeFileSync(home.path('etc', 'manager.conf'), '<manager_config></manager_config>\n');
    writeFileSync(home.path(...SECURITY, 'initial-admin-password'), `${GOOD_PASSWORD}\n`, { mode: 0o600 });
    backup = home.path('users.json');
  }
  async function removeHome(): Promise<void> {
    await stop('SIGKILL');
    home.remove();
  }

  async function start(): Promise<void> {
    apid = new TestProgram(APID, ['--home', home.root, '-f']);
    const address = await eventually('svc-apid running', async () => {
      const status = (await readDaemonStatus(home, ['svc-apid'])).get('svc-apid');
      return status?.state === 'running' ? status.addresses?.['api'] : undefined;
    });
    port = address.port ?? 0;
  }
  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    apid?.signal(signal);
    await apid?.ended;
    apid = undefined;
  }
  const control = (...args: string[]): Promise<ProgramResult> =>
    new TestProgram(CONTROL, [...args, '--home', home.root]).ended;
  async function controlled(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await control(...args);
    expect(code, stderr).to.equal(0);
    return stdout;
  }
  async function refused(...args: string[]): Promise<string> {
    const { code, stderr } = await control(...args);
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n'), stderr).to.have.length(1);
    return stderr;
  }

  const call = (token: string, method: string, path: string, body?: object): Promise<TestResponse> =>
    httpRequest({
      port,
      tls: true,
      method,
      path,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  async function tryLogin(name: string, password = GOOD_PASSWORD): Promise<TestResponse> {
    const headers = { authorization: basic(name, password) };
    return httpRequest({ port, tls: true, method: 'POST', path: '/security/user/authenticate?raw=true', headers });
  }
  async function login(name = 'admin'): Promise<string> {
    const answer = await tryLogin(name);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  }
  const MADE = [
    ['POST', '/security/users', { username: 'maria', password: GOOD_PASSWORD }],
    ['POST', '/security/roles', { name: 'web-team' }],
    [
      'POST',
      '/security/policies',
      { name: 'see', policy: { actions: ['agent:read'], resources: ['agent:group:web'], effect: 'allow' } },
    ],
    [
      'POST',
      '/security/policies',
      { name: 'not-one', policy: { actions: ['agent:read'], resources: ['agent:id:001'], effect: 'deny' } },
    ],
    ['POST', '/security/rules', { name: 'soc', rule: { FIND: { groups: 'soc' } } }],
    ['POST', '/security/roles/100/policies?policy_ids=101,100', undefined],
    ['POST', '/security/roles/1/rules?rule_ids=100', undefined],
    ['POST', '/security/users/100/roles?role_ids=2,100', undefined],
    ['PUT', '/security/config', { auth_token_exp_timeout: 1200, rbac_mode: 'white' }],
  ] as const;

  /** A user of each thing that can be made, over the API. */
  async function makeObjects(): Promise<void> {
    const token = await login();
    for (const [method, path, body] of MADE) {
      const answer = await call(token, method, path, body);
      expect(answer.status, answer.text).to.equal(200);
    }
  }
  async function state(): Promise<unknown> {
    const token = await login();
    const kinds = ['users', 'roles', 'policies', 'rules', 'config'];
    const answers = await Promise.all(kinds.map((kind) => call(token, 'GET', `/security/${kind}`)));
    return answers.map((answer) => (answer.json() as { data: unknown }).data);
  }

  describe('with a svc-apid', () => {
    /** What is shown of all objects; each test leaves it so. */
    let shown: unknown;

    before(makeHome);
    after(removeHome);

    it('bring everything back while svc-apid runs, and end all tokens', async () => {
      expect(await refused('backup-security', backup)).to.match(
        /there are no users in .*rbac: svc-apid makes the first ones at its first start$/m,
      );
      await start();
      await makeObjects();
      shown = await state();
      const said = await controlled('backup-security', backup);
      expect(said).to.include(`Backed up to ${backup}: 3 users, 8 roles, 38 policies, 3 security rules.\n`);
      expect(statSync(backup).mode & 0o777).to.equal(0o600);
      const text = readFileSync(backup, 'utf8');
      expect(text).not.to.include('PRIVATE KEY');
      expect(text).to.match(/^ {2}\{"id":100,"name":"maria","allowRunAs":false,"passwordHash":"scrypt\$/m);

      const token = await login();
      await call(token, 'DELETE', '/security/users?user_ids=100');
      await call(token, 'DELETE', '/security/policies?policy_ids=all');
      await call(token, 'POST', '/security/users', { username: 'intruder', password: GOOD_PASSWORD });
      await call(token, 'POST', '/security/users/100/roles?role_ids=1');
      const ofIntruder = await login('intruder');
      expect((await call(ofIntruder, 'GET', '/')).status).to.equal(200);

      const restored = await controlled('restore-security', backup);
      const kept = home.path(...SECURITY, 'rbac.before-restore.json');
      expect(restored).to.match(/^Restored the backup of 20.*Z: 3 users, 8 roles, 38 policies, 3 security rules\.\n/);
      expect(restored).to.include(`Before there were 3 users, 8 roles, 36 policies, 3 security rules: ${kept}\n`);
      expect(restored).to.include('Administrators: admin, wazuh-wui.\n');
      expect(statSync(kept).mode & 0o777).to.equal(0o600);
      for (const old of [token, ofIntruder]) expect((await call(old, 'GET', '/')).status).to.equal(401);
      expect((await tryLogin('intruder')).status).to.equal(401);
      expect(await state()).to.deep.equal(shown);
      await login('maria');

      // What was there before is a backup, too, and all of it survives the process.
      await controlled('restore-security', kept);
      await login('intruder');
      await stop('SIGKILL');
      await start();
      await login('intruder');
      await controlled('restore-security', backup);
    });

    it('refuse what is cut off, altered or newer, and change nothing', async () => {
      const good = readFileSync(backup, 'utf8');
      const token = await login();
      const refusal = async (text: string): Promise<string> => {
        writeFileSync(backup, text);
        return (await refused('restore-security', backup))
          .trim()
          .replace(`svc-control: '${backup}' was not restored: `, '');
      };
      const cut = good.slice(0, good.length - 200);
      expect(await refusal(cut)).to.equal('it is no backup of users and permissions, or was cut off');
      expect(await refusal(good.replace('"effect":"allow"', '"effect":"deny"'))).to.equal(
        'it was altered or damaged: its checksum is another',
      );
      expect((await call(token, 'GET', '/')).status, 'tokens go on').to.equal(200);
      await stop();
      expect(await refusal(cut)).to.equal('it is no backup of users and permissions, or was cut off');
      expect(await refusal(good.replace('"version": 1', '"version": 2'))).to.equal(
        'it has version 2, this program knows 1: a newer one has made it',
      );
      expect(await refused('restore-security', home.path('absent'))).to.include('cannot be read');
      expect(await refused('restore-security', home.root)).to.include('is not a regular file');
      rmSync(backup);
    });

    it('do the same while none runs', async () => {
      await controlled('backup-security', backup);
      expect(statSync(backup).mode & 0o777).to.equal(0o600);
      await start();
      const token = await login();
      await call(token, 'DELETE', '/security/users?user_ids=100');
      await stop();
      const answer = JSON.parse(await controlled('-j', 'restore-security', backup)) as { data: object };
      expect(answer.data).to.deep.include({
        counts: { users: 3, roles: 8, policies: 38, rules: 3 },
        before: { users: 2, roles: 8, policies: 38, rules: 3 },
        administrators: ['admin', 'wazuh-wui'],
        warnings: [],
      });
      await start();
      expect((await call(token, 'GET', '/')).status).to.equal(401);
      expect(await state()).to.deep.equal(shown);
      await login('maria');
    });

    it('bring back the last good state of a store that was damaged', async () => {
      const copy = home.path(...SECURITY, 'rbac.last-good.json');
      await stop();
      expect(statSync(copy).mode & 0o777).to.equal(0o600);
      truncateSync(home.path(...SECURITY, 'rbac', 'data.mdb'), 20_000);
      const { code, stderr } = await new TestProgram(APID, ['--home', home.root, '-f']).ended;
      expect(code).to.equal(1);
      expect(stderr.match(/CRITICAL/g), stderr).to.have.length(1);
      expect(stderr).to.include('CRITICAL: 2012 - Error while attempting to check RBAC database integrity: ');
      expect(stderr).to.include(`comes back with: svc-control restore-security ${copy}.`);
      expect(await refused('backup-security', backup)).to.include('2012');
      expect(await controlled('restore-security', copy)).to.include('The store that could not be used is in ');
      await start();
      expect(await state()).to.deep.equal(shown);
      await login('maria');
    });
  });

  describe('when they are killed', () => {
    let large: string;
    /** Number of users in each. */
    const SMALL = 3;
    const LARGE = 4003;
    let took: number;

    /** A home that never ran takes a backup, too. */
    before(async () => {
      makeHome();
      const passwordHash = await new PasswordHasher(1, { N: 16, r: 1, p: 1 }).hash(GOOD_PASSWORD, { address: 'test' });
      const builtIn = DEFAULT_USERS.map(({ id, name }) => ({ id, name, allowRunAs: true, passwordHash, roles: [1] }));
      const write = (file: string, count: number) => {
        const own = Array.from({ length: count - builtIn.length }, (_, index) => ({
          id: 100 + index,
          name: `user-${String(index)}`,
          allowRunAs: false,
          passwordHash,
          roles: [2],
        }));
        const objects = {
          users: [...builtIn, ...own],
          roles: DEFAULT_ROLES,
          policies: DEFAULT_POLICIES,
          rules: DEFAULT_SECURITY_RULES,
        };
        const settings = { auth_token_exp_timeout: 900, rbac_mode: 'white' } as const;
        writeFileSync(file, writeSecurityBackup({ made: '2026-05-08T12:34:19.000Z', settings, objects }));
      };
      large = home.path('large.json');
      write(backup, SMALL);
      write(large, LARGE);
      const began = performance.now();
      const said = await controlled('restore-security', large);
      took = performance.now() - began;
      expect(said).not.to.match(/Before there were|could not be used/);
    });
    after(removeHome);

    /** Kills the process that restores, some way through. @param share of the time that it takes */
    async function killedRestore(file: string, share: number): Promise<void> {
      const child = spawn(process.execPath, [APID, SECURITY_TASK_FLAG, 'restore', '--home', home.root], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      child.stdin.on('error', () => {});
      child.stdin.end(readFileSync(file));
      const ended = new Promise((resolve) => child.once('close', resolve));
      await new Promise((resolve) => setTimeout(resolve, took * share));
      child.kill('SIGKILL');
      await ended;
    }

    it('leave the state before or that of the backup, whole', async () => {
      let users = LARGE;
      for (const share of [0.45, 0.65]) {
        await killedRestore(users === LARGE ? backup : large, share);
        const now = home.path('now.json');
        await controlled('backup-security', now);
        const { objects } = readSecurityBackup(readFileSync(now, 'utf8'));
        users = objects.users.length;
        expect(users, String(share)).to.be.oneOf([SMALL, LARGE]);
        expect(objects).to.deep.equal(
          readSecurityBackup(readFileSync(users === SMALL ? backup : large, 'utf8')).objects,
        );
      }
    });

    it('never begin anew where the store could not be used', async () => {
      const store = home.path(...SECURITY, 'rbac');
      for (const share of [0.6]) {
        truncateSync(home.path(...SECURITY, 'rbac', 'data.mdb'), 20_000);
        await killedRestore(large, share);
        const { code, stdout, stderr } = await control('-j', 'backup-security', home.path('now.json'));
        if (code === 0) expect(stdout).to.include(`"users":${String(LARGE)}`);
        else expect(stderr).to.include('2012 - Error while attempting to check RBAC database integrity');
        await controlled('restore-security', backup);
        expect(existsSync(`${store}-restoring`)).to.equal(false);
      }
    });

    it('say so when svc-apid goes away meanwhile', async () => {
      await start();
      const restore = control('restore-security', large);
      await eventually('the restore at work', () => existsSync(home.path(...SECURITY, 'rbac.before-restore.json')));
      const running = apid;
      await stop('SIGKILL');
      expect(running?.pid).to.be.above(0);
      const { code, stderr } = await restore;
      if (code !== 0) expect(stderr).to.match(/whether the call was carried out is not known\n$/);
      await start();
      const token = await login();
      const { data } = (await call(token, 'GET', '/security/users?limit=1')).json() as {
        data: { total_affected_items: number };
      };
      expect(data.total_affected_items).to.be.oneOf([SMALL, LARGE]);
    });
  });
});
