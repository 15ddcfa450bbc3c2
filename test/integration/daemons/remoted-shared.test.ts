import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseMergedFile } from '../../../lib/agentlink/merged-file.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RemotedHome } from '../../support/remoted/remoted-home.js';
import { removeTree } from '../../support/remove-tree.js';

const LARGE_BYTES = 24 * 1024 * 1024;
const DEADLINE_MS = 30_000;

describe('files of groups in svc-remoted', function () {
  this.timeout(120_000);
  let home: RemotedHome;
  let client: RequestClient<typeof dbContract>;
  const daemons: RunningDaemon[] = [];

  beforeEach(() => {
    home = new RemotedHome({ options: 'remoted.shared_reload=1\n' });
    client = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  });
  afterEach(async () => {
    client.close();
    for (const daemon of daemons.splice(0)) await daemon.stop('SIGKILL');
    home.remove();
  });

  const start = async (name: 'svc-db' | 'svc-remoted'): Promise<RunningDaemon> => {
    const daemon = await RunningDaemon.start(name, home);
    daemons.push(daemon);
    return daemon;
  };
  const shared = (...path: string[]): string => home.path('etc', 'shared', ...path);
  const entries = (group: string): Map<string, Buffer> => {
    const bytes = readFileSync(shared(group, 'merged.mg'));
    return new Map(parseMergedFile(bytes, true).map(({ name, content }) => [name, content]));
  };
  const hasFile = (group: string, name: string) => (): boolean => {
    try {
      return entries(group).has(name);
    } catch {
      return false;
    }
  };
  const groups = async (): Promise<string[]> => (await client.call('groups.list', {})).groups.map(({ name }) => name);

  it('makes groups of folders, and keeps them when the folders cannot be told', async () => {
    await start('svc-db');
    const remoted = await start('svc-remoted');
    await eventually('the default group', hasFileOrNone('default'), DEADLINE_MS);
    mkdirSync(shared('web'));
    writeFileSync(shared('web', 'note.txt'), 'note\n');
    await eventually('the file', hasFile('web', 'note.txt'), DEADLINE_MS);
    await eventually('the group', async () => (await groups()).includes('web'), DEADLINE_MS);
    renameSync(shared(), home.path('etc', 'away'));
    await eventually(
      'the log line',
      () => remoted.output.includes('The groups in etc/shared stay as they are'),
      DEADLINE_MS,
    );
    expect(await groups()).to.deep.equal(['default', 'web']);
    renameSync(home.path('etc', 'away'), shared());
    await eventually('the log line', () => remoted.output.includes('etc/shared can be read again.'), DEADLINE_MS);
    removeTree(shared('web'));
    await eventually('the end of the group', async () => !(await groups()).includes('web'), DEADLINE_MS);
    expect(await remoted.stop()).to.equal(0);
  });

  it('leaves a whole merged file when it is killed in the middle of writing one', async () => {
    mkdirSync(shared('web'), { recursive: true });
    const versions = ['a', 'b', 'c', 'd'].map((letter) => Buffer.alloc(LARGE_BYTES, letter));
    let before: Buffer | undefined;
    for (const version of versions) {
      writeFileSync(shared('web', 'large.tmp'), version);
      renameSync(shared('web', 'large.tmp'), shared('web', 'large.txt'));
      const remoted = await start('svc-remoted');
      const names = (): string[] => readdirSync(shared('web'));
      await eventually(
        'a write',
        () => names().some((name) => /^merged\.mg\..*\.tmp$/.test(name)) || isNow(version),
        DEADLINE_MS,
      );
      await remoted.stop('SIGKILL');
      if (names().includes('merged.mg')) {
        const large = entries('web').get('large.txt');
        expect(large?.equals(version) === true || (before !== undefined && large?.equals(before)) === true).to.equal(
          true,
        );
        before = large;
      }
    }
    await start('svc-remoted');
    await eventually('the last version', () => isNow(versions.at(-1)), DEADLINE_MS);
  });

  const isNow = (version: Buffer | undefined): boolean => {
    try {
      return version !== undefined && entries('web').get('large.txt')?.equals(version) === true;
    } catch {
      return false;
    }
  };
  const hasFileOrNone = (group: string) => (): boolean => {
    try {
      return entries(group).size >= 0;
    } catch {
      return false;
    }
  };
});
