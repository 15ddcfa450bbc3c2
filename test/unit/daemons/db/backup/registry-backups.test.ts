import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { BackupFiles } from '../../../../../daemons/db/backup/backup-files.js';
import { rebuildRegistry } from '../../../../../daemons/db/backup/rebuild-registry.js';
import { readRegistryBackup } from '../../../../../daemons/db/backup/registry-backup.js';
import { RegistryBackups } from '../../../../../daemons/db/backup/registry-backups.js';
import { LocalGroups } from '../../../../../daemons/db/groups/local-groups.js';
import { Registry } from '../../../../../daemons/db/registry.js';
import { parseClientKeys } from '../../../../../lib/agentlink/client-keys.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import { openOrSetAside } from '../../../../../lib/store/set-aside.js';
import { sampleAgent } from '../../../../support/db/sample-agents.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const DAY_MS = 86_400_000;
const AGENTS = 1200;

describe('backups of the registry', function () {
  this.timeout(20_000);
  let home: TemporaryHome;
  let registry: Registry;
  let files: BackupFiles;
  let backups: RegistryBackups;
  let logger: RecordingLogger;
  let problems: (string | undefined)[];
  let now: number;
  let settings: { enabled: boolean; interval: number; max_files: number };

  beforeEach(async () => {
    home = new TemporaryHome();
    now = new Date(2026, 10, 20, 23, 59, 58).getTime();
    settings = { enabled: true, interval: 86_400, max_files: 2 };
    logger = new RecordingLogger();
    problems = [];
    files = new BackupFiles(home.path('backup/db'));
    registry = await Registry.open(home.path('queue/db'), () => {});
    await fill();
    backups = backupsOf(registry);
  });
  afterEach(async () => {
    await registry.close();
    home.remove();
  });

  function backupsOf(of: Registry): RegistryBackups {
    return new RegistryBackups({
      authority: new LocalGroups(registry),
      registry: of,
      files,
      keys: () => Promise.resolve(keys()),
      settings: () => settings,
      logger,
      setProblem: (problem) => problems.push(problem),
      now: () => now,
    });
  }
  async function fill(): Promise<void> {
    await registry.edit((edit) => {
      for (const group of ['default', 'web', 'db']) edit.setGroup(group, { dateAdd: 7 });
      for (let id = 1; id <= AGENTS; id += 1) {
        const { record, lastKeepAlive } = sampleAgent(id);
        const row = edit.setAgent(id, { ...record, groups: id === 2 ? ['web', 'db'] : ['default'] });
        if (lastKeepAlive !== undefined) edit.setKeepAlive(row, lastKeepAlive);
      }
      edit.setLabels(2, [['site', 'north']]);
    });
  }
  /** All agents have a key but the last one. */
  const keys = () => {
    const lines = Array.from({ length: AGENTS - 1 }, (_, index) => {
      const { record } = sampleAgent(index + 1);
      return `${String(index + 1).padStart(3, '0')} ${record.name} any ${'a'.repeat(64)}\n`;
    });
    return parseClientKeys(Buffer.from(lines.join('')), 'etc/client.keys').agents;
  };
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => (error instanceof BusError ? `${error.code}: ${error.message}` : String(error)),
    );

  it('have everything, under the names of the reference, and the oldest ones go', async () => {
    const { name } = await backups.create();
    expect(name).to.equal('global.db-backup-2026-11-20-23:59:58.gz');
    const backup = readRegistryBackup(await files.read(name));
    expect(backup.agents).to.have.length(AGENTS);
    expect(backup.groups.map(({ group }) => group)).to.deep.equal(['default', 'web', 'db']);
    const { record, lastKeepAlive } = registry.agents.get(2)!;
    expect(backup.agents[1]).to.deep.equal({
      agent: 2,
      record: JSON.parse(JSON.stringify(record)) as unknown,
      ...(lastKeepAlive === undefined ? {} : { lastKeepAlive }),
      labels: [['site', 'north']],
    });
    for (let more = 0; more < 3; more += 1) {
      now += 1000;
      await backups.create();
    }
    expect(readdirSync(home.path('backup/db')).sort()).to.deep.equal([
      'global.db-backup-2026-11-21-00:00:00.gz',
      'global.db-backup-2026-11-21-00:00:01.gz',
    ]);
  });

  it('are made when one is due, and a failure is a problem until one succeeds', async () => {
    await backups.look();
    await backups.look();
    expect(backups.list()).to.have.length(1);
    now += DAY_MS;
    renameSync(home.path('backup'), home.path('kept'));
    writeFileSync(home.path('backup'), 'no directory');
    await backups.look();
    expect(problems.at(-1)).to.match(/^Agents cannot be backed up: .*ENOTDIR/);
    renameSync(home.path('backup'), home.path('rest'));
    renameSync(home.path('kept'), home.path('backup'));
    await backups.look();
    expect(problems.at(-1)).to.equal(undefined);
    expect(backups.list()).to.have.length(2);
    settings.enabled = false;
    now += DAY_MS;
    await backups.look();
    expect(backups.list()).to.have.length(2);
  });

  it('bring back groups and what is not known any more, of agents that have a key', async () => {
    const { name } = await backups.create();
    const seen = registry.agents.get(2)!.record;
    await registry.edit((edit) => {
      edit.deleteAgent(registry.agents.get(1)!);
      edit.setAgent(2, { ...seen, status: 'active', version: 'Wazuh v4.14.7', groups: ['default'] });
      edit.deleteGroup('db');
      edit.setGroup('new', { dateAdd: 9 });
    });
    now += 1000;
    const restored = await backups.restore(name, true);
    expect(restored).to.include({ agents: AGENTS - 1, groups: 1, withoutKey: 1 });
    expect(restored.saved).to.equal('global.db-backup-2026-11-20-23:59:59-pre_restore.gz');
    expect(registry.agents.get(1)?.record.name).to.equal(sampleAgent(1).record.name);
    expect(registry.agents.get(2)?.record).to.deep.include({ version: 'Wazuh v4.14.7', groups: ['web', 'db'] });
    expect([...registry.groups.keys()].sort()).to.deep.equal(['db', 'default', 'new', 'web']);
    await registry.close();
    registry = await Registry.open(home.path('queue/db'), () => {});
    expect(registry.agents.get(2)?.record.groups).to.deep.equal(['web', 'db']);
  });

  it('are refused when they are not whole, and nothing is changed', async () => {
    const { name } = await backups.create();
    const path = home.path('backup/db', name);
    const whole = readFileSync(path);
    expect(await failure(backups.restore('global.db-backup-2020-01-01-00:00:00.gz', false))).to.match(/^no_backup: /);
    expect(await failure(backups.restore('../../etc/client.keys', false))).to.match(/^no_backup: /);
    truncateSync(path, whole.length - 20);
    expect(await failure(backups.restore(name, false))).to.match(/^bad_backup: .*it is not whole/);
    const text = gunzipSync(whole).toString();
    for (const [altered, reason] of [
      [text.replace('"web"', '"wab"'), 'its sum is another one'],
      [text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1), 'its last line'],
      ['', 'its last line'],
      ['{}\n{"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}\n', 'its'],
    ] as const) {
      writeFileSync(path, gzipSync(altered));
      expect(await failure(backups.restore(name, false)), reason).to.match(new RegExp(`^bad_backup: .*${reason}`));
    }
    expect(backups.counters.restored).to.equal(0);
  });

  describe('and a damaged registry', () => {
    async function damageAndOpen() {
      await registry.close();
      const directory = home.path('queue/db');
      writeFileSync(`${directory}/data.mdb`, Buffer.alloc(64 * 1024, 7));
      const opened = await openOrSetAside(() => Registry.open(directory, () => {}), directory, now);
      registry = opened.store;
      return opened;
    }
    const rebuild = () =>
      rebuildRegistry({ registry, files, keys: keys(), shared: home.path('etc/shared'), logger, now: 5 });

    it('is set aside, and the newest backup that is whole and the keys take its place', async () => {
      await backups.create();
      now += 1000;
      const { name } = await backups.create();
      truncateSync(home.path('backup/db', name), 100);
      mkdirSync(home.path('etc/shared/folder'), { recursive: true });
      const { damage } = await damageAndOpen();
      expect(damage?.error.message).to.include('queue/db');
      expect(existsSync(`${damage?.aside ?? ''}/data.mdb`)).to.equal(true);
      expect(registry.agents.size).to.equal(0);
      expect(await rebuild()).to.equal(
        `${String(AGENTS - 1)} agents are as in the backup 'global.db-backup-2026-11-20-23:59:58.gz'; 0 come from etc/client.keys alone, in the group 'default'`,
      );
      expect(logger.lines.join()).to.include(`The backup '${name}' cannot be used`);
      expect(registry.agents.get(2)?.record.groups).to.deep.equal(['web', 'db']);
      expect([...registry.labels(2)]).to.deep.equal([['site', 'north']]);
      expect([...registry.groups.keys()].sort()).to.deep.equal(['db', 'default', 'folder', 'web']);
    });

    it('comes from the keys alone where there is no backup', async () => {
      await damageAndOpen();
      expect(await rebuild()).to.match(/^There is no backup that could be used; 1199 come from/);
      expect(registry.agents.get(2)?.record).to.deep.include({ status: 'never_connected', groups: ['default'] });
    });

    it('is kept twice at most', async () => {
      for (let times = 0; times < 4; times += 1) {
        now += 1000;
        await damageAndOpen();
      }
      expect(readdirSync(home.path('queue/db')).filter((name) => name.startsWith('damaged-'))).to.have.length(2);
    });
  });
});
