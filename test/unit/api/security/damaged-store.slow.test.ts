import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { open } from 'lmdb';
import { COPY_DELAY_MS } from '../../../../api/auth/security-copy.js';
import { readSecurityBackup } from '../../../../api/rbac/security-backup.js';
import { GOOD_PASSWORD, SecurityClient } from '../../../support/api/security-client.js';
import { TestApi } from '../../../support/api/test-api.js';
import { eventually } from '../../../support/eventually.js';

describe('the store of users and permissions', () => {
  let api: TestApi;
  let admin: SecurityClient;
  const file = (name: string) => api.home.path('api', 'configuration', 'security', name);
  const copied = () => readSecurityBackup(readFileSync(file('rbac.last-good.json'), 'utf8'));

  beforeEach(async () => {
    api = await new TestApi().start();
    admin = await SecurityClient.login(api);
  });
  afterEach(() => api.remove());

  /** Why a start fails. */
  async function refusal(): Promise<string> {
    const error: unknown = await api.open().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await api.stop();
    expect(error).to.be.instanceOf(Error);
    return (error as Error).message;
  }

  it('has a copy that follows its changes, and those alone', async () => {
    const path = file('rbac.last-good.json');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(copied().objects.users.map(({ name }) => name)).to.deep.equal(['admin', 'wazuh-wui']);
    const first = statSync(path).ino;
    await admin.makeUser('maria');
    await admin.makeRole('team');
    expect(statSync(path).ino, 'not one a change').to.equal(first);
    await eventually('the copy', () => copied().objects.users.some(({ name }) => name === 'maria'));
    expect(copied().objects.roles.at(-1)).to.include({ id: 100, name: 'team' });
    const second = statSync(path).ino;
    // A logout changes revocations alone.
    await (await SecurityClient.login(api, 'maria', GOOD_PASSWORD)).call('DELETE', '/security/user/authenticate');
    await new Promise((resolve) => setTimeout(resolve, COPY_DELAY_MS + 500));
    expect(statSync(path).ino).to.equal(second);
    await admin.call('PUT', '/security/config', { rbac_mode: 'black' });
    await api.stop();
    expect(copied().settings.rbac_mode).to.equal('black');
    expect(copied().made).to.equal(new Date(api.now).toISOString());
  });

  it('says that its copy cannot be written, once', async () => {
    await api.stop();
    rmSync(file('rbac.last-good.json'));
    // A directory in its place.
    mkdirSync(file('rbac.last-good.json'));
    await api.open();
    const said = () =>
      api.logger.lines.filter((line) =>
        JSON.stringify(line).includes('The copy of users and permissions cannot be written'),
      );
    expect(said()).to.have.length(1);
    await (await SecurityClient.login(api)).makeUser('maria');
    await api.stop();
    expect(said()).to.have.length(1);
  });

  it('is not begun anew where it was damaged, cut off, emptied or removed', async () => {
    await admin.makeUser('maria');
    await api.stop();
    const copy = file('rbac.last-good.json');
    const data = file('rbac/data.mdb');
    const good = readFileSync(data);
    const harms: readonly (readonly [() => void, RegExp])[] = [
      [() => writeFileSync(data, 'rubbish '.repeat(4096)), /rbac: it is not an LMDB file\. /],
      [() => truncateSync(data, 20_000), /rbac: it has 20000 bytes and must have \d+: it was cut off\. /],
      [() => truncateSync(data, 0), /rbac: it has no users, and had some\. /],
      [() => rmSync(file('rbac'), { recursive: true }), /rbac: it has no users, and had some\. /],
    ];
    for (const [harm, reason] of harms) {
      writeFileSync(data, good);
      harm();
      const said = await refusal();
      expect(said)
        .to.match(/^2012 - Error while attempting to check RBAC database integrity: /)
        .and.match(reason);
      expect(said).to.match(
        /Nobody can log in until it is restored\. The automatic copy of 2026-05-08T12:34:19\.000Z \(3 users, 7 roles\) comes back/,
      );
      expect(said).to.include(
        ` with: svc-control restore-security ${copy}. To begin anew with the first users instead, move away:`,
      );
      // A try leaves things as they are.
      expect(await refusal()).to.match(/Nobody can log in until it is restored/);
    }
  });

  it('is refused when an entry was altered or lost, and when a newer program wrote it', async () => {
    await admin.makeUser('maria');
    await api.stop();
    /** Entries as they lie in it. */
    const change = async (name: string, key: number | string, value?: unknown) => {
      const root = open({ path: file('rbac'), maxDbs: 12 });
      const table = root.openDB<unknown, number | string>({ name });
      const before = table.get(key);
      await (value === undefined ? table.remove(key) : table.put(key, value));
      await root.close();
      return before as Record<string, unknown>;
    };
    const maria = await change('users', 100);
    expect(await refusal()).to.include('rbac: entries were lost or altered. Nobody can log in until it is restored.');
    await change('users', 100, { ...maria, roles: [1] });
    expect(await refusal()).to.include('rbac: entries were lost or altered. Nobody can log in until it is restored.');
    await change('meta', 'schema', 3);
    expect(await refusal()).to.match(
      /Error in the RBAC database: .*rbac: it has version 3, this program knows 2: it was written by a newer one\. Nobody can log in until the newer program/,
    );
  });

  it('of an older version is brought forward', async () => {
    await admin.makeUser('maria');
    await api.stop();
    const root = open({ path: file('rbac'), maxDbs: 12 });
    const meta = root.openDB<unknown, string>({ name: 'meta' });
    await meta.put('schema', 1);
    await meta.remove('digest');
    await root.close();
    await api.open();
    await SecurityClient.login(api, 'maria', GOOD_PASSWORD);
    await api.stop();
    await api.open();
    await SecurityClient.login(api, 'maria', GOOD_PASSWORD);
  });

  it('says when there is no copy that can be used, and begins anew when both are moved away', async () => {
    await api.stop();
    const copy = file('rbac.last-good.json');
    truncateSync(file('rbac/data.mdb'), 20_000);
    writeFileSync(copy, readFileSync(copy, 'utf8').replace('"wazuh-wui"', '"wazuh-wux"'));
    expect(await refusal()).to.include(
      `restore-security FILE. The automatic copy ${copy} cannot be used: it was altered or damaged`,
    );
    rmSync(copy);
    expect(await refusal()).to.include('restore-security FILE. There is no automatic copy. To begin anew');
    rmSync(file('rbac'), { recursive: true });
    await api.open();
    await SecurityClient.login(api);
  });
});
