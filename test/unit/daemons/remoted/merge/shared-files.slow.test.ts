import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { confCheck } from '../../../../../daemons/remoted/merge/conf-check.js';
import { NO_AGENT_CONF } from '../../../../../daemons/remoted/merge/needed-files.js';
import { SharedFiles, type SharedFilesParts } from '../../../../../daemons/remoted/merge/shared-files.js';
import { groupHash, parseMergedFile } from '../../../../../lib/agentlink/merged-file.js';
import { secureMessageVectors } from '../../../../support/agentlink/secure-message-vectors.js';
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
  /** Groups that others want between a look at the table and a removal. */
  readonly wanted = new Set<string>();

  call = ((method: string, params: { name?: string; names?: string[]; unusedSince?: string }) => {
    this.calls.push(method);
    if (method === 'groups.list') {
      return Promise.resolve({ groups: [...this.groups].map((name) => ({ name, count: 0 })), mark: 'm' });
    }
    if (method === 'groups.create') this.groups.add(params.name ?? '');
    const names = params.names ?? [];
    const isKept = (name: string): boolean => params.unusedSince === 'm' && this.wanted.has(name);
    const removed = names.filter((name) => !isKept(name));
    for (const name of removed) this.groups.delete(name);
    return Promise.resolve({ removed, kept: names.filter(isKept), unknown: [], agents: [] });
  }) as SharedFilesParts['db']['call'];
}

/** The agent.conf of a group that has none, as it stands in a merged file. */
const EMPTY = `!${String(NO_AGENT_CONF.length)} agent.conf\n${NO_AGENT_CONF.toString()}`;

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
  const start = async (
    parts: Partial<SharedFilesParts> = {},
    before: (files: SharedFiles) => void = () => {},
  ): Promise<SharedFiles> => {
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
    before(files);
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
    expect(merged('default').toString()).to.equal(`#default\n!10 ar.conf\na - b - 0\n${EMPTY}`);
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

  it('says once which rootkit lists of the default group another one has not', async () => {
    for (const group of ['default', 'whole']) {
      put(`${group}/rootkit_files.txt`, 'x');
      put(`${group}/rootkit_trojans.txt`, 'x');
    }
    put('web/rootkit_files.txt', 'x');
    put('owned/merged.mg', '#x\n');
    const files = await start({ reloadMs: 20, mergedElsewhere: (group) => group === 'owned' });
    const said = () => logger.lines.filter((line) => line.includes('rootcheck'));
    const tail = "rootcheck warns on agents that are in this group alone. 'etc/shared/default' has them.";
    await eventually('a line', () => said().length > 0);
    expect(said()).to.deep.equal([`warn: Group 'web' has no rootkit_trojans.txt: ${tail}`]);
    mkdirSync(home.path('etc/shared/made-by-hand'));
    await eventually('another line', () => said().length > 1);
    put('web/rootkit_trojans.txt', 'x');
    mkdirSync(home.path('etc/shared/later'));
    await eventually('a line of the last', () => said().length > 2);
    expect(said().slice(1)).to.deep.equal(
      ['made-by-hand', 'later'].map(
        (group) => `warn: Group '${group}' has no rootkit_files.txt and no rootkit_trojans.txt: ${tail}`,
      ),
    );
    // Who has taken them from the default group misses them nowhere.
    expect(files.sumOf(['later'])).to.be.a('string');
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
    expect(names(merged('web'))).to.deep.equal(['agent.conf', 'empty.txt', 'last-line.bin']);
    expect(logger.lines).to.include("warn: File 'etc/shared/web/empty.txt' is empty.");
    expect(logger.lines).to.include("error: Invalid shared file 'etc/shared/web/binary.bin'. Ignoring it.");
    expect(logger.lines).to.include(`warn: Path too long 'etc/shared/web/${'d'.repeat(100)}/${'f'.repeat(100)}'`);
    put('web/binary.bin', 'text\n');
    await eventually('the valid file', () => merged('web').includes('binary.bin'));
    expect(logger.lines).to.include("info: File 'etc/shared/web/binary.bin' is valid after last modification.");
  });

  it('sees changes in folders below, also in one that took the place of another', async () => {
    put('web/a/b/c.txt', 'one\n');
    await start();
    // In place, as an editor may do it.
    put('web/a/b/c.txt', 'two\n');
    await eventually('the change', () => merged('web').includes('two'));
    put('web/a/new/d.txt', 'three\n');
    await eventually('the new folder', () => merged('web').includes('three'));
    rmSync(home.path('etc/shared/web/a'), { recursive: true });
    put('web/a/b/c.txt', 'four\n');
    await eventually('the other folder', () => merged('web').includes('four') && !merged('web').includes('three'));
    put('web/a/b/c.txt', 'five\n');
    await eventually('a change in it', () => merged('web').includes('five'));
  });

  it('sees changes in an etc/shared that took the place of another', async () => {
    put('web/a.txt', 'text\n');
    const files = await start();
    renameSync(home.path('etc/shared'), home.path('etc/before'));
    put('new/a.txt', 'text\n');
    await files.refresh('new');
    expect(files.sumOf(['web'])).to.equal(undefined);
    put('later/a.txt', 'text\n');
    await eventually('the group', () => files.sumOf(['later']) !== undefined);
  });

  it('finds changes by the periodic check where nothing is watched', async () => {
    const files = await start({ reloadMs: 50, watch: false });
    put('web/a.txt', 'one\n');
    await eventually('the group', () => files.sumOf(['web']) !== undefined);
    put('web/a.txt', 'two\n');
    await eventually('the change', () => merged('web').includes('two'));
    put('ar.conf', 'ar\n');
    await eventually('ar.conf', () => merged('web').includes('!3 ar.conf\nar\n') && merged('default').includes('ar\n'));
  });

  it('builds again what somebody else has changed', async () => {
    put('web/a.txt', 'text\n');
    const files = await start({ reloadMs: 50 });
    files.setLists([['default', 'web']]);
    await files.settled();
    const [good, goodList] = [merged('web'), multigroup('default', 'web')];
    put('web/merged.mg', '#web\n!4 evil\nevil');
    await eventually('the group', () => merged('web').equals(good));
    const folder = home.path('var', 'multigroups', groupHash(['default', 'web']));
    writeFileSync(`${folder}/strange.txt`, 'x');
    writeFileSync(`${folder}/merged.mg`, '#5288d400\n!4 evil\nevil');
    await eventually('the list', () => multigroup('default', 'web').equals(goodList));
    await eventually('the stray file', () => readdirSync(folder).length === 1);
    expect(logger.lines).to.include("warn: Multigroup 'default,web' was modified from outside, so it was regenerated.");
    expect(files.sumOf(['web'])).to.equal(hash('md5', good, 'hex'));
  });

  it('never hands out what somebody else has put in place', async () => {
    put('web/a.txt', 'text\n');
    const files = await start({ watch: false });
    const good = merged('web');
    await files.stop();
    const again = await start({ watch: false });
    put('web/merged.mg', '#web\n!4 evil\nevil');
    expect(await again.contentOf(['web'])).to.equal(undefined);
    await again.settled();
    expect((await again.contentOf(['web']))?.content.equals(good)).to.equal(true);
    const [one, other] = await Promise.all([again.contentOf(['web']), again.contentOf(['web'])]);
    expect(one?.content).to.equal(other?.content);
  });

  it('only reads merged files where they are not made here', async () => {
    put('web/a.txt', 'text\n');
    put('web/merged.mg', '#web\n!1 x\ny');
    const files = await start({ merge: false });
    expect(await content(files, 'web')).to.equal('#web\n!1 x\ny');
    expect(files.sumOf(['default'])).to.equal(undefined);
    put('web/merged.mg', '#web\n!1 x\nz');
    await eventually('the change', () => files.sumOf(['web']) === hash('md5', '#web\n!1 x\nz', 'hex'));
  });

  it('tells of its first look also when there is no merged file', async () => {
    put('web/a.txt', 'text\n');
    const told: number[] = [];
    const files = await start({ merge: false }, (made) => {
      made.onSums(() => told.push(made.sums().length));
    });
    expect(told).to.deep.equal([0]);
    expect(files.sums()).to.deep.equal([]);
  });

  it('leaves a merged file alone that comes from elsewhere, and takes it for lists', async () => {
    put('ar.conf', 'ar\n');
    put('web/a.txt', 'text\n');
    put('web/merged.mg', '#x\n!1 x\ny!2 ar.conf\nAR');
    const owned = new Set(['web']);
    const files = await start({ mergedElsewhere: (group) => owned.has(group) });
    expect(await content(files, 'web')).to.equal('#x\n!1 x\ny!2 ar.conf\nAR');
    expect(logger.lines.filter((line) => line.includes('agent.conf'))).to.deep.equal([
      "warn: The merged file of group 'web', which is not made here, has no agent.conf: agents of 4.x log an error (1207) and raise rule 220.",
    ]);
    files.setLists([['web', 'default']]);
    await files.settled();
    expect(names(multigroup('web', 'default'))).to.deep.equal(['ar.conf', 'agent.conf', 'ar.conf', 'x']);
    owned.clear();
    await files.refresh('web');
    expect(names(merged('web'))).to.deep.equal(['ar.conf', 'a.txt', 'agent.conf']);
    expect(names(multigroup('web', 'default'))).to.deep.equal(['ar.conf', 'a.txt', 'agent.conf']);
  });

  it('knows a folder that was just made when it is asked to look', async () => {
    const files = await start({ watch: false });
    put('new/a.txt', 'text\n');
    await files.refresh('new');
    expect(await content(files, 'new')).to.equal(`#new\n!5 a.txt\ntext\n${EMPTY}`);
  });

  it('removes folders of lists that nobody has, at the first lists', async () => {
    mkdirSync(home.path('var', 'multigroups', '00000000'), { recursive: true });
    mkdirSync(home.path('var', 'multigroups', groupHash(['default', 'web'])), { recursive: true });
    put('web/a.txt', 'text\n');
    const files = await start();
    expect(readdirSync(home.path('var', 'multigroups'))).to.have.length(2);
    files.setLists([['default', 'web']]);
    await files.settled();
    expect(readdirSync(home.path('var', 'multigroups'))).to.deep.equal(['5288d400']);
    rmSync(home.path('etc/shared/web'), { recursive: true });
    await eventually('the list without the group', () => !multigroup('default', 'web').includes('a.txt'));
  });

  it('takes no link and no odd name for a group', async () => {
    mkdirSync(home.path('elsewhere'));
    mkdirSync(home.path('etc', 'shared', 'two words'), { recursive: true });
    symlinkSync(home.path('elsewhere'), home.path('etc', 'shared', 'linked'));
    const files = await start();
    expect(files.sums().map(({ groups }) => groups)).to.deep.equal([['default']]);
    expect(readdirSync(home.path('elsewhere'))).to.deep.equal([]);
    expect(logger.lines.filter((line) => line.startsWith('warn')).sort()).to.deep.equal([
      "warn: 'etc/shared/linked' is a symbolic link, which is not followed: it is no group.",
      'warn: The folder "etc/shared/two words" is no group: its name is not that of one.',
    ]);
  });

  it('takes no group from the table that was made while it looked', async () => {
    put('web/a.txt', 'text\n');
    table.groups.add('gone');
    const call = table.call;
    // The folder and its group come after the table was read and the folders were listed.
    table.call = (async (method: string, params: never) => {
      const answer = await call(method as never, params);
      if (method === 'groups.create') table.groups.add('late');
      return answer;
    }) as typeof call;
    await start();
    await eventually('the table', () => table.groups.has('web') && !table.groups.has('gone'));
    expect([...table.groups].sort()).to.deep.equal(['default', 'late', 'web']);
  });

  it('leaves a group in the table that others want just then, and looks again', async () => {
    for (const name of ['gone', 'wanted']) table.groups.add(name);
    table.wanted.add('wanted');
    await start();
    await eventually('two attempts', () => table.calls.filter((method) => method === 'groups.remove').length >= 2);
    expect([...table.groups].sort()).to.deep.equal(['default', 'wanted']);
    expect(logger.lines.filter((line) => line.includes('folders are gone'))).to.deep.equal([
      "info: Groups whose folders are gone were removed: 'gone'.",
    ]);
    table.wanted.clear();
    await eventually('the end of the other', () => !table.groups.has('wanted'));
  });

  it('goes on when svc-db is away, and tells it later', async () => {
    put('web/a.txt', 'text\n');
    const call = table.call;
    table.call = () => Promise.reject(new Error('svc-db does not run'));
    const files = await start();
    expect(files.sumOf(['web'])).to.be.a('string');
    table.call = call;
    await eventually('the table', () => table.groups.has('web'));
  });

  it('takes a file that never rests, sooner or later', async () => {
    const files = await start();
    let lines = 0;
    const writer = setInterval(() => {
      put('web/restless.log', `${String((lines += 1))}\n`);
    }, 20);
    try {
      await eventually('the group', () => files.sumOf(['web']) !== undefined && merged('web').includes('restless.log'));
    } finally {
      clearInterval(writer);
    }
    await files.settled();
    expect(merged('web').toString()).to.equal(
      `#web\n${EMPTY}!${String(String(lines).length + 1)} restless.log\n${String(lines)}\n`,
    );
  });

  it('builds the merged files of the vectors', async () => {
    const vectors = secureMessageVectors();
    for (const { merged_text: text } of vectors.merged_files) {
      const group = text.slice(1, text.indexOf('\n'));
      if (/^[0-9a-f]{8}$/.test(group)) continue;
      const [arConf, ...files] = parseMergedFile(Buffer.from(text), true);
      put('ar.conf', arConf!.content);
      for (const file of files) put(`${group}/${file.name}`, file.content);
    }
    const files = await start();
    files.setLists([['default', 'web']]);
    await files.settled();
    const sums = files.sums().map(({ md5 }) => md5);
    expect(sums).to.have.members(vectors.merged_files.map(({ md5 }) => md5));
  });
});
