import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ControlOutput } from '../../../../bin/control/control-output.js';
import { backupAgents, restoreAgents } from '../../../../bin/control/registry-backup-command.js';
import type { HomeRecord } from '../../../../lib/home/home-record.js';
import { DbServer } from '../../../support/db/db-server.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('svc-control backup and restore', () => {
  let home: TemporaryHome;
  let db: DbServer;
  let written: string;
  const server: HomeRecord = { version: 1, role: 'server' };

  before(async () => {
    home = new TemporaryHome();
    writeFileSync(home.path('etc/client.keys'), `002 box2 any ${'a'.repeat(64)}\n`);
    db = await DbServer.start(home, () => new Date(2026, 10, 20, 12).getTime());
    await db.fill(3);
  });
  after(async () => {
    await db.stop();
    home.remove();
  });
  beforeEach(() => {
    written = '';
  });

  const parts = (json = false, record = server) => ({
    home,
    record,
    output: new ControlOutput(
      json,
      (text) => (written += text),
      () => {},
    ),
  });

  it('write a file of the running svc-db, list it, and bring it back', async () => {
    expect(await backupAgents(parts(), true)).to.equal(0);
    expect(written).to.equal('There is no backup in backup/db.\n');
    await backupAgents(parts(), false);
    const name = 'global.db-backup-2026-11-20-12:00:00.gz';
    expect(written).to.include(`Backed up agents and groups to backup/db/${name} (`);
    written = '';
    await backupAgents(parts(true), true);
    expect(JSON.parse(written)).to.have.nested.property('data[0].name', name);
    written = '';
    await restoreAgents(parts(), `backup/db/${name}`);
    expect(written).to.match(/^Restored the backup of 2026-\S+: \d agents; 0 groups were missing\.\n/);
    expect(written).to.include('of its agents have no key any more: they were left out.');
    expect(written).to.include('-pre_restore.gz');
  });

  it('say in one line what does not work', async () => {
    const failure = (work: Promise<unknown>) => work.then(String, (error: unknown) => (error as Error).message);
    expect(await failure(restoreAgents(parts(), 'nothing.gz'))).to.equal(
      "svc-db did not do it: There is no backup 'nothing.gz' in backup/db",
    );
    expect(await failure(backupAgents(parts(false, { version: 1, role: 'agent' }), false))).to.include(
      'an agent has no',
    );
  });
});
