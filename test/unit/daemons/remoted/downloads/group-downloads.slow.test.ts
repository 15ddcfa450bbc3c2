import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { type DownloadOptions, GroupDownloads } from '../../../../../daemons/remoted/downloads/group-downloads.js';
import { writeFileAtomically } from '../../../../../lib/files/write-file-atomically.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { FileServer } from '../../../../support/remoted/file-server.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const OPTIONS: DownloadOptions = {
  enabled: true,
  reloadMs: 100,
  verify: true,
  maxBytes: 1024 * 1024,
  timeoutMs: 60_000,
};
const PARSED = 'info: Successfully parsed of yaml file: etc/shared/files.yml';
const CHANGED = "info: File 'etc/shared/files.yml' changed. Reloading data";

describe('GroupDownloads', function () {
  this.timeout(30_000);
  let home: TemporaryHome;
  let server: FileServer;
  let logger: RecordingLogger;
  let changed: string[];
  let running: GroupDownloads[];
  /** Whether this node of a cluster may download. */
  let leave: () => boolean;

  beforeEach(async () => {
    home = new TemporaryHome();
    mkdirSync(home.path('etc', 'shared', 'default'), { recursive: true });
    server = new FileServer();
    await server.start();
    logger = new RecordingLogger();
    changed = [];
    running = [];
    leave = () => true;
  });
  afterEach(async () => {
    await Promise.all(running.map((downloads) => downloads.stop()));
    await server.stop();
    home.remove();
  });

  function make(options: Partial<DownloadOptions> = {}, onChange = (group: string) => void changed.push(group)) {
    const downloads = new GroupDownloads({
      home,
      logger,
      options: { ...OPTIONS, ...options },
      changed: (group) => Promise.resolve(onChange(group)),
      mayAct: () => Promise.resolve(leave()),
    });
    running.push(downloads);
    return downloads;
  }
  /** Writes files.yml: file names and addresses by group, and how often. */
  function list(groups: Record<string, Record<string, string>>, poll = 1800): void {
    const text = { groups: Object.fromEntries(Object.entries(groups).map(([name, files]) => [name, { files, poll }])) };
    writeFileAtomically(home.path('etc', 'shared', 'files.yml'), JSON.stringify(text), { mode: 0o660 });
  }
  const shared = (group: string, name: string): string => home.path('etc', 'shared', group, name);
  const content = (group: string, name: string): string | undefined =>
    existsSync(shared(group, name)) ? readFileSync(shared(group, name), 'utf8') : undefined;
  const logged = (text: string): boolean => logger.lines.some((line) => line.includes(text));

  it('leaves groups to the node of a cluster that has leave, but for merged files', async () => {
    leave = () => false;
    const merged = '#default\n!3 a.txt\nabc';
    list({ web: { 'list.txt': server.serve('/b', 'list') }, ready: { 'merged.mg': server.serve('/m', merged) } });
    const downloads = make();
    await downloads.start();
    await eventually('the merged file', () => content('ready', 'merged.mg') === merged);
    expect(existsSync(home.path('etc', 'shared', 'web'))).to.equal(false);
    leave = () => true;
    await eventually('the file, once it has leave', () => content('web', 'list.txt') === 'list');
  });

  it('puts nothing in place that another node downloads by now', async () => {
    mkdirSync(home.path('etc', 'shared', 'web'));
    list({ web: { 'list.txt': server.serve('/b', 'list') } });
    // It had leave when it began.
    let asked = 0;
    leave = () => {
      asked += 1;
      return asked === 1;
    };
    const downloads = make({ reloadMs: 60_000 });
    await downloads.start();
    await eventually('it is given up', () => downloads.stats()['cancelled'] === 1);
    expect(content('web', 'list.txt')).to.equal(undefined);
  });

  it('makes groups and fetches their files at the start', async () => {
    list({ web: { 'agent.conf': server.serve('/a', 'conf'), 'list.txt': server.serve('/b', 'list') } });
    const downloads = make();
    await downloads.start();
    expect(statSync(home.path('etc', 'shared', 'web')).mode & 0o777).to.equal(0o770);
    expect(changed).to.deep.equal(['web']);
    await eventually('both files', () => downloads.stats()['stored'] === 2 && changed.length === 3);
    expect([content('web', 'agent.conf'), content('web', 'list.txt')]).to.deep.equal(['conf', 'list']);
    expect(logger.lines).to.include.members([
      'debug: Started yaml parsing of file: etc/shared/files.yml',
      PARSED,
      `debug: Downloading shared file 'etc/shared/web/agent.conf' from '${server.address('/a')}'`,
      "info: Downloaded shared file 'etc/shared/web/agent.conf' (4 bytes).",
    ]);
    expect(downloads.stats()).to.include({ reads: 1, failedReads: 0, groups: 1, failed: 0, bytes: 8 });
    expect(downloads.ownsMerged('web')).to.equal(false);
    expect(readdirSync(home.path('var', 'download'))).to.deep.equal([]);
  });

  it('fetches again as often as it is told, and touches nothing that is the same', async () => {
    list({ web: { 'a.txt': server.serve('/a', 'one') } }, 0);
    const downloads = make({ reloadMs: 20 });
    await downloads.start();
    await eventually('three downloads', () => Number(downloads.stats()['unchanged']) >= 2);
    expect(downloads.stats()['stored']).to.equal(1);
    expect(changed).to.deep.equal(['web', 'web']);
    server.serve('/a', 'two');
    await eventually('the new content', () => content('web', 'a.txt') === 'two');
    list({ web: { 'a.txt': server.address('/a') } }, 1);
    await eventually('the new period', () => logger.lines.includes(CHANGED));
    const before = server.count('/a');
    await eventually('a download each second', () => server.count('/a') >= before + 2);
  });

  it('asks a server whether there is something new', async () => {
    const address = server.serve('/a', ({ headers }, response) => {
      if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"1"' }).end('one');
    });
    list({ web: { 'a.txt': address } }, 0);
    const downloads = make({ reloadMs: 20 });
    await downloads.start();
    await eventually('an answer that it is the same', () => Number(downloads.stats()['unchanged']) >= 2);
    expect(downloads.stats()).to.include({ stored: 1, bytes: 3 });
    // Whatever the server says, a file that is gone or differs is fetched.
    rmSync(shared('web', 'a.txt'));
    await eventually('the file again', () => content('web', 'a.txt') === 'one');
    writeFileSync(shared('web', 'a.txt'), 'changed');
    await eventually('the content again', () => content('web', 'a.txt') === 'one');
  });

  it('takes up a change of files.yml at once, and its end', async () => {
    const downloads = make({ reloadMs: 600_000 });
    await downloads.start();
    expect(logger.lines).to.include('debug: Shared configuration file not found.');
    list({ web: { 'a.txt': server.serve('/a', 'one') } });
    await eventually('the file', () => content('web', 'a.txt') === 'one');
    expect(logger.lines.filter((line) => line === CHANGED)).to.have.length(1);
    list({ mail: { 'b.txt': server.serve('/b', 'two') } });
    await eventually('the other file', () => content('mail', 'b.txt') === 'two');
    expect(downloads.stats()['groups']).to.equal(1);
    rmSync(home.path('etc', 'shared', 'files.yml'));
    await eventually('no groups', () => downloads.stats()['groups'] === 0);
    expect(content('web', 'a.txt')).to.equal('one');
    expect(logger.lines.filter((line) => line === CHANGED)).to.have.length(3);
  });

  it('sees a change without events too', async () => {
    const downloads = make({ reloadMs: 50 });
    await downloads.start();
    // Another directory under the name: what was watched is gone.
    rmSync(home.path('etc', 'shared'), { recursive: true });
    mkdirSync(home.path('etc', 'shared'));
    list({ web: { 'a.txt': server.serve('/a', 'one') } });
    await eventually('the file', () => content('web', 'a.txt') === 'one');
  });

  it('downloads nothing after a fault, until the file changes again', async () => {
    list({ web: { 'a.txt': server.serve('/a', 'one') } }, 0);
    const downloads = make({ reloadMs: 20 });
    await downloads.start();
    await eventually('the file', () => content('web', 'a.txt') === 'one');
    writeFileAtomically(home.path('etc', 'shared', 'files.yml'), 'groups:\n  - web\n', { mode: 0o660 });
    await eventually('the fault', () => downloads.stats()['failedReads'] === 1);
    expect(logger.lines).to.include.members([
      'error: Parsing error on line 1: unexpected token',
      'error: Failed yaml parsing of file: etc/shared/files.yml',
    ]);
    expect(downloads.stats()).to.include({ groups: 0 });
    // One may have been under way, and ends.
    await eventually('nothing is downloaded', () => downloads.stats()['active'] === 0);
    expect(content('web', 'a.txt')).to.equal('one');
    list({ web: { 'a.txt': server.serve('/b', 'two') } });
    await eventually('the next content', () => content('web', 'a.txt') === 'two');
  });

  it('keeps what is there when a download fails, and says why without passwords', async () => {
    mkdirSync(home.path('etc', 'shared', 'web'));
    writeFileSync(shared('web', 'a.txt'), 'good');
    const redirect = server.serve('/loop', (_, response) => response.writeHead(302, { location: '/loop' }).end());
    const broken = server.serve('/500', (_, response) => response.writeHead(500).end('oh'));
    list({
      web: { 'a.txt': server.address('/404').replace('//', '//me:secret@') },
      mail: { 'b.txt': redirect, 'c.txt': broken, 'd.txt': server.serve('/d', 'fine') },
    });
    const downloads = make();
    await downloads.start();
    await eventually('all of them', () => downloads.stats()['failed'] === 3 && downloads.stats()['stored'] === 1);
    const shown = server.address('/404').replace('//', '//***@');
    expect(logger.lines).to.include.members([
      `warn: Cannot download file 'etc/shared/web/a.txt' from URL: '${shown}': the server answered 404`,
      `warn: Cannot download file 'etc/shared/mail/b.txt' from URL: '${redirect}': more than 5 redirects`,
      `warn: Cannot download file 'etc/shared/mail/c.txt' from URL: '${broken}': the server answered 500`,
    ]);
    expect(logged('secret')).to.equal(false);
    expect(content('web', 'a.txt')).to.equal('good');
    expect(readdirSync(home.path('etc', 'shared', 'mail'))).to.deep.equal(['d.txt']);
  });

  it('goes on with other groups while a server hangs', async () => {
    const hanging = server.serve('/hang', () => {});
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${String(index)}`, hanging]));
    const other = new FileServer();
    await other.start();
    list({ slow: files, fast: { 'a.txt': other.serve('/a', 'one') } });
    const downloads = make();
    await downloads.start();
    await eventually('the file of the other group', () => content('fast', 'a.txt') === 'one');
    // The server has its share of the downloads, and not more.
    expect(downloads.stats()).to.include({ waiting: 96 }).and.property('active').within(4, 5);
    await downloads.stop();
    expect(downloads.stats()).to.include({ cancelled: 100, active: 0, waiting: 0 });
    expect(readdirSync(home.path('var', 'download'))).to.deep.equal([]);
    await other.stop();
  });

  it('ends what runs when files.yml changes', async () => {
    let response: ServerResponse | undefined;
    const slow = server.serve('/slow', (_, answer) => {
      response = answer;
      answer.write('begin');
    });
    list({ web: { 'a.txt': slow } });
    const downloads = make();
    await downloads.start();
    await eventually('the download runs', () => response);
    list({ web: { 'a.txt': server.serve('/fast', 'one') } });
    await eventually('the new file', () => downloads.stats()['stored'] === 1);
    expect(content('web', 'a.txt')).to.equal('one');
    expect(downloads.stats()).to.include({ cancelled: 1, failed: 0 });
  });

  it('leaves groups alone that a change of files.yml does not concern', async () => {
    let response: ServerResponse | undefined;
    const slow = server.serve('/slow', (_, answer) => {
      response = answer;
      answer.write('be');
    });
    const same = { slow: { 'a.txt': slow }, idle: { 'b.txt': server.serve('/idle', 'idle') } };
    list({ ...same, web: { 'c.txt': server.serve('/c', 'old') } });
    const downloads = make({ reloadMs: 600_000 });
    await downloads.start();
    await eventually(
      'two files and the begin of one',
      () => response !== undefined && downloads.stats()['stored'] === 2,
    );
    list({ ...same, web: { 'c.txt': server.serve('/d', 'new') }, mail: { 'e.txt': server.serve('/e', 'mail') } });
    await eventually('what changed', () => content('web', 'c.txt') === 'new' && content('mail', 'e.txt') === 'mail');
    response?.end('gin');
    // It is in place a moment before it is counted.
    await eventually('the file that was begun before', () => downloads.stats()['stored'] === 5);
    expect(content('slow', 'a.txt')).to.equal('begin');
    expect(downloads.stats()).to.include({ groups: 4, stored: 5, cancelled: 0, failed: 0 });
    expect([server.count('/slow'), server.count('/idle')]).to.deep.equal([1, 1]);
  });

  it('fetches everything when files.yml is written anew without a change', async () => {
    const groups = { web: { 'a.txt': server.serve('/a', 'one') }, mail: { 'b.txt': server.serve('/b', 'two') } };
    list(groups);
    const downloads = make({ reloadMs: 600_000 });
    await downloads.start();
    await eventually('both files', () => downloads.stats()['stored'] === 2);
    list(groups);
    await eventually('both again', () => downloads.stats()['unchanged'] === 2);
  });

  it('makes a listed group again that somebody has removed', async () => {
    list({ web: { 'a.txt': server.serve('/a', 'one') } });
    const downloads = make({ reloadMs: 50 });
    await downloads.start();
    await eventually('the file', () => content('web', 'a.txt') === 'one');
    rmSync(home.path('etc', 'shared', 'web'), { recursive: true });
    await eventually('the file again', () => content('web', 'a.txt') === 'one' && changed.length === 4);
    expect(downloads.stats()).to.include({ stored: 2, reads: 1 });
    expect(logger.lines.filter((line) => line.includes("Group 'web' was created"))).to.have.length(2);
  });

  it('says once that a group cannot have a folder', async () => {
    writeFileSync(home.path('etc', 'shared', 'web'), 'a file');
    list({ web: { 'a.txt': server.serve('/a', 'one') }, mail: { 'b.txt': server.serve('/b', 'two') } }, 0);
    const downloads = make({ reloadMs: 20 });
    await downloads.start();
    await eventually('several looks', () => Number(downloads.stats()['unchanged']) >= 3);
    expect(logger.lines.filter((line) => line.includes("Group 'web' of"))).to.have.length(1);
  });

  it('leaves everything alone that is no folder of a group', async () => {
    mkdirSync(home.path('outside'));
    symlinkSync(home.path('outside'), home.path('etc', 'shared', 'link'));
    writeFileSync(home.path('etc', 'shared', 'file'), '');
    list({ link: { 'a.txt': server.serve('/a', 'one') }, file: { 'a.txt': server.address('/a') } });
    const downloads = make();
    await downloads.start();
    await eventually('both refused', () => downloads.stats()['failed'] === 2);
    expect(logged("warn: Cannot open file 'etc/shared/link/a.txt'")).to.equal(true);
    expect(logged("error: Group 'file' of 'etc/shared/files.yml' has no folder")).to.equal(true);
    expect(readdirSync(home.path('outside'))).to.deep.equal([]);
  });

  it('does nothing when it is switched off, and says so', async () => {
    list({ web: { 'a.txt': server.serve('/a', 'one') } }, 0);
    const downloads = make({ enabled: false });
    await downloads.start();
    await downloads.stop();
    expect(logger.lines).to.deep.equal([
      "info: Files of 'etc/shared/files.yml' are not downloaded: the option 'wazuh_download.enabled' is 0.",
    ]);
    expect(server.requests).to.deep.equal([]);
    expect(existsSync(home.path('etc', 'shared', 'web'))).to.equal(false);
  });

  it('says once that files.yml cannot be read, and keeps what it knows', async () => {
    list({ web: { 'a.txt': server.serve('/a', 'one') } });
    const downloads = make({ reloadMs: 20 });
    await downloads.start();
    await eventually('the file', () => content('web', 'a.txt') === 'one');
    rmSync(home.path('etc', 'shared', 'files.yml'));
    mkdirSync(home.path('etc', 'shared', 'files.yml'));
    await eventually('the line', () => logged("error: 'etc/shared/files.yml' cannot be read"));
    expect(downloads.stats()['groups']).to.be.oneOf([0, 1]);
    rmSync(home.path('etc', 'shared', 'files.yml'), { recursive: true });
    list({ mail: { 'b.txt': server.serve('/b', 'two') } });
    await eventually('the other file', () => content('mail', 'b.txt') === 'two');
    expect(logger.lines.filter((line) => line.includes('cannot be read'))).to.have.length(1);
  });

  it('clears away what a killed process has left', async () => {
    mkdirSync(home.path('var', 'download'));
    writeFileSync(home.path('var', 'download', '0123.part'), 'half');
    await make().start();
    expect(readdirSync(home.path('var', 'download'))).to.deep.equal([]);
  });

  describe('with a merged.mg', () => {
    const MERGED = '#mirror\n!3 agent.conf\none';

    it('fetches that alone, checks it, and owns it from before it is there', async () => {
      list({ mirror: { 'agent.conf': server.serve('/a', 'no'), 'merged.mg': server.serve('/m', MERGED) } });
      let seen: boolean | undefined;
      const downloads: GroupDownloads = make({}, () => {
        if (content('mirror', 'merged.mg') !== undefined) seen ??= downloads.ownsMerged('mirror');
      });
      await downloads.start();
      await eventually('the merged file is told of', () => seen !== undefined);
      expect(seen).to.equal(true);
      expect(content('mirror', 'merged.mg')).to.equal(MERGED);
      expect(server.count('/a')).to.equal(0);
    });

    it('refuses one that is corrupt', async () => {
      for (const bad of ['', '<html>', '#mirror\n!30 agent.conf\none', '#mirror\n!3 ../agent.conf\none']) {
        logger.lines.length = 0;
        const address = server.serve('/m', bad);
        list({ mirror: { 'merged.mg': address } });
        const downloads = make();
        await downloads.start();
        await eventually('it is refused', () => downloads.stats()['corrupt'] === 1);
        expect(logger.lines).to.include("error: The downloaded file 'var/download/merged.mg' is corrupted.");
        expect(logged(`warn: Cannot download file 'etc/shared/mirror/merged.mg' from URL: '${address}': `)).to.equal(
          true,
        );
        expect(content('mirror', 'merged.mg')).to.equal(undefined);
        expect(downloads.ownsMerged('mirror')).to.equal(false);
        await downloads.stop();
      }
    });

    /** Downloads that have put a merged file in place, from a server that fails from then on. */
    async function withFailure(): Promise<GroupDownloads> {
      list({ mirror: { 'merged.mg': server.serve('/m', MERGED) } }, 0);
      const downloads = make({ reloadMs: 20 });
      await downloads.start();
      await eventually('the merged file', () => Number(downloads.stats()['unchanged']) > 0);
      server.serve('/m', (_, response) => response.writeHead(500).end());
      await eventually('a failure', () => Number(downloads.stats()['failed']) > 0);
      return downloads;
    }

    it('keeps the last good one where there is nothing else, and gives it up for local files', async () => {
      const downloads = await withFailure();
      expect(downloads.ownsMerged('mirror')).to.equal(true);
      expect(content('mirror', 'merged.mg')).to.equal(MERGED);
      changed.length = 0;
      writeFileSync(shared('mirror', 'agent.conf'), 'local');
      await eventually('the group is merged here', () => !downloads.ownsMerged('mirror') && changed.includes('mirror'));
      writeFileSync(shared('mirror', 'merged.mg'), '#mirror\n');
      server.serve('/m', MERGED);
      await eventually('the download is in force again', () => content('mirror', 'merged.mg') === MERGED);
      expect(downloads.ownsMerged('mirror')).to.equal(true);
    });

    it('knows after a start what it has downloaded before', async () => {
      await (await withFailure()).stop();
      const next = make({ reloadMs: 600_000 });
      // Nothing was fetched yet.
      server.serve('/m', () => {});
      await next.start();
      expect(next.ownsMerged('mirror')).to.equal(true);
      await next.stop();
      // Somebody else has written it: it is not the one that was downloaded.
      writeFileSync(shared('mirror', 'merged.mg'), '#other\n');
      const third = make({ reloadMs: 600_000 });
      await third.start();
      expect(third.ownsMerged('mirror')).to.equal(false);
    });

    it('gives it up when files.yml lists it no longer, but not for a fault in it', async () => {
      list({ mirror: { 'merged.mg': server.serve('/m', MERGED) } });
      const downloads = make();
      await downloads.start();
      await eventually('the merged file', () => downloads.ownsMerged('mirror') && changed.length === 2);
      writeFileAtomically(home.path('etc', 'shared', 'files.yml'), 'groups: [', { mode: 0o660 });
      await eventually('the fault', () => downloads.stats()['failedReads'] === 1);
      expect(downloads.ownsMerged('mirror')).to.equal(true);
      list({ mirror: { 'a.txt': server.serve('/a', 'one') } });
      await eventually('the group is merged here', () => !downloads.ownsMerged('mirror'));
      await eventually('its file', () => content('mirror', 'a.txt') === 'one');
      expect(existsSync(home.path('var', 'download', 'merged.json'))).to.equal(true);
      await downloads.stop();
      const next = make();
      await next.start();
      expect(next.ownsMerged('mirror')).to.equal(false);
    });

    it('downloads it again when a merge that was under way has written over it', async () => {
      list({ mirror: { 'merged.mg': server.serve('/m', MERGED) } });
      let overwritten = false;
      const downloads = make({ reloadMs: 600_000 }, () => {
        if (overwritten || content('mirror', 'merged.mg') === undefined) return;
        overwritten = true;
        writeFileSync(shared('mirror', 'merged.mg'), '#mirror\n');
      });
      await downloads.start();
      await eventually('it is written over and fetched again', () => overwritten && server.count('/m') >= 2);
      await eventually('it is in place', () => content('mirror', 'merged.mg') === MERGED);
    });

    it('goes on with a record that cannot be read', async () => {
      mkdirSync(home.path('var', 'download'));
      writeFileSync(home.path('var', 'download', 'merged.json'), '{"version":');
      list({ mirror: { 'merged.mg': server.serve('/m', MERGED) } });
      const downloads = make();
      await downloads.start();
      await eventually(
        'the merged file',
        () => downloads.ownsMerged('mirror') && content('mirror', 'merged.mg') === MERGED,
      );
      expect(logged("warn: 'var/download/merged.json' is left out, it cannot be read")).to.equal(true);
    });
  });
});
