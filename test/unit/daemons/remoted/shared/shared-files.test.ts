import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { confCheck } from '../../../../../daemons/remoted/shared/conf-check.js';
import { SharedFiles, type SharedFilesParts } from '../../../../../daemons/remoted/shared/shared-files.js';
import { groupHash, parseMergedFile } from '../../../../../lib/agentlink/merged-file.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const CONF = '<agent_config>\n  <labels>\n    <label key="a">b</label>\n  </labels>\n</agent_config>\n';
/** Longer than any test: what is seen is seen by the watches. */
const NEVER_MS = 3_600_000;

/** The table of groups, as svc-db keeps it. */
class FakeTable {
  readonly groups = new Set<string>(['default']);
  readonly calls: string[] = [];

  call = ((method: string, params: { name?: string; names?: string[] }) => {
    this.calls.push(method);
    if (method === 'groups.list')
      return Promise.resolve({ groups: [...this.groups].map((name) => ({ name, count: 0 })), unknown: [] });
    if (method === 'groups.create') this.groups.add(params.name ?? '');
    for (const name of params.names ?? []) this.groups.delete(name);
    return Promise.resolve({ removed: params.names ?? [], unknown: [], agents: [] });
  }) as SharedFilesParts['db']['call'];
}

describe('files of groups', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let logger: RecordingLogger;
  let table: FakeTable;
  const started: SharedFiles[] = [];

  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
    table = new FakeTable();
  });
  afterEach(async () => {
    for (const files of started.splice(0)) await files.stop();
    home.remove();
  });

  const put = (path: string, content: string | Buffer): void => {
    const full = home.path('etc', 'shared', path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  };
  const start = async (parts: Partial<SharedFilesParts> = {}): Promise<SharedFiles> => {
    const files = new SharedFiles({
      home,
      logger,
      db: table,
      reloadMs: NEVER_MS,
      merge: true,
      mergedElsewhere: () => false,
      check: confCheck(),
      ...parts,
    });
    started.push(files);
    await files.start();
    await files.settled();
    return files;
  };
  const merged = (group: string): Buffer => readFileSync(home.path('etc', 'shared', group, 'merged.mg'));
  const multigroup = (...groups: string[]): Buffer =>
    readFileSync(home.path('var', 'multigroups', groupHash(groups), 'merged.mg'));
  const content = async (files: SharedFiles, ...groups: string[]): Promise<string | undefined> =>
    (await files.contentOf(groups))?.content.toString();
  const names = (bytes: Buffer): string[] => parseMergedFile(bytes).map(({ name }) => name);

  it('builds the merged file of a group', async () => {
    put('ar.conf', 'a - b - 0\n');
    put('web/agent.conf', CONF);
    put('web/policies/site.yml', 'x: 1\n');
    put('web/policies.txt', 'no line feed');
    const files = await start();
    const text = `#web\n!10 ar.conf\na - b - 0\n!${String(CONF.length)} agent.conf\n${CONF}!5 policies/site.yml\nx: 1\n!12 policies.txt\nno line feed`;
    expect(merged('web').toString()).to.equal(text);
    expect(files.sumOf(['web'])).to.equal(hash('md5', text, 'hex'));
    expect(await content(files, 'web')).to.equal(text);
    expect(merged('default').toString()).to.equal('#default\n!10 ar.conf\na - b - 0\n');
    expect(files.sums().map(({ groups }) => groups)).to.deep.equal([['default'], ['web']]);
  });

  it('takes up changes at once, and new, renamed and deleted groups', async () => {
    put('web/agent.conf', CONF);
    const files = await start();
    let told = 0;
    files.onSums(() => (told += 1));
    const before = files.sumOf(['web']);
    put('web/agent.conf.tmp', CONF.replace('>b<', '>c<'));
    renameSync(home.path('etc/shared/web/agent.conf.tmp'), home.path('etc/shared/web/agent.conf'));
    await eventually('the change', () => files.sumOf(['web']) !== before && told > 0);
    expect(merged('web').toString()).to.include('>c<').and.not.include('tmp');
    put('new/some.txt', 'text\n');
    await eventually('the new group', () => files.sumOf(['new']) !== undefined && table.groups.has('new'));
    renameSync(home.path('etc/shared/new'), home.path('etc/shared/newer'));
    await eventually(
      'the other name',
      () => files.sumOf(['newer']) !== undefined && files.sumOf(['new']) === undefined,
    );
    expect(merged('newer').toString()).to.match(/^#newer\n/);
    rmSync(home.path('etc/shared/newer'), { recursive: true });
    await eventually('the end of the group', () => files.sumOf(['newer']) === undefined && !table.groups.has('newer'));
    expect([...table.groups])
      .to.include.members(['default', 'web'])
      .and.not.include('new');
  });

  it('puts several groups together in the order of their priority', async () => {
    put('ar.conf', 'ar\n');
    put('default/agent.conf', CONF);
    put('default/extra.txt', 'of default\n');
    put('web/agent.conf', CONF);
    put('web/extra.txt', 'of web\n');
    const files = await start();
    files.setLists([['default', 'web'], ['web', 'default'], ['web']]);
    await files.settled();
    const conf = (group: string): string => `<!-- Source file: ${group}/agent.conf -->\n${CONF}`;
    const both = conf('default') + conf('web');
    expect(multigroup('default', 'web').toString()).to.equal(
      `#5288d400\n!3 ar.conf\nar\n!${String(both.length)} agent.conf\n${both}!7 extra.txt\nof web\n`,
    );
    expect(await content(files, 'web', 'default'))
      .to.include('!11 extra.txt\nof default\n')
      .and.include('#4b323b42\n');
    const before = files.sumOf(['default', 'web']);
    put('web/extra.txt', 'of web, again\n');
    await eventually('the change', () => files.sumOf(['default', 'web']) !== before);
    expect(await content(files, 'default', 'web')).to.include('of web, again');
    files.setLists([['default', 'web']]);
    await files.settled();
    expect(files.sumOf(['web', 'default'])).to.equal(undefined);
    expect(() => multigroup('web', 'default')).to.throw('ENOENT');
  });

  it('does not distribute a broken agent.conf, also after a restart', async () => {
    put('web/agent.conf', CONF);
    const files = await start();
    files.setLists([['default', 'web']]);
    await files.settled();
    put('web/agent.conf', '<agent_config>\n  <labels>\n');
    put('web/other.txt', 'new\n');
    await eventually('the other file', () => merged('web').includes('other.txt'));
    expect(merged('web').toString()).to.include(CONF);
    const errors = logger.lines.filter((line) => line.includes('not distributed'));
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/^error: .*etc\/shared\/web\/agent\.conf, line \d+.*the last good one stays/);
    await files.stop();
    const again = await start();
    again.setLists([['default', 'web']]);
    await again.settled();
    expect(await content(again, 'web')).to.include(CONF);
    expect(await content(again, 'default', 'web'))
      .to.include(CONF)
      .and.not.include('<labels>\n<!--');
    put('web/agent.conf', CONF.replace('>b<', '>c<'));
    await eventually('the mended one', () => merged('web').includes('>c<'));
    expect(logger.lines).to.include("info: File 'etc/shared/web/agent.conf' is valid after last modification.");
  });

  it('leaves out what is not to be shared, and says why', async () => {
    put('web/.hidden', 'x');
    put('web/merged.mg.tmp', 'x');
    put('web/new.tmp', 'x');
    put('web/empty.txt', '');
    put('web/binary.bin', Buffer.from('a\0b\nc'));
    put('web/last-line.bin', Buffer.from('a\nb\0c'));
    put(`web/${'d'.repeat(100)}/${'f'.repeat(100)}`, 'x');
    put('web/a..b', 'x');
    await start();
    expect(names(merged('web'))).to.deep.equal(['empty.txt', 'last-line.bin']);
    expect(logger.lines).to.include("warn: File 'etc/shared/web/empty.txt' is empty.");
    expect(logger.lines).to.include("error: Invalid shared file 'etc/shared/web/binary.bin'. Ignoring it.");
    expect(logger.lines).to.include(`warn: Path too long 'etc/shared/web/${'d'.repeat(100)}/${'f'.repeat(100)}'`);
    put('web/binary.bin', 'text\n');
    await eventually('the valid file', () => merged('web').includes('binary.bin'));
    expect(logger.lines).to.include("info: File 'etc/shared/web/binary.bin' is valid after last modification.");
  });
});
