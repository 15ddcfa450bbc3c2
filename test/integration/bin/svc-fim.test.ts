import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { fimCommand } from '../../../bin/fim/fim-command.js';
import { progressText } from '../../../bin/terminal/progress-bar.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-fim', productRoot()));
const SHA256 = 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447';

describe('svc-fim', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-fim-'));
    writeFileSync(join(root, 'file'), 'hello world\n');
    utimesSync(join(root, 'file'), 1_700_000_000, 1_700_000_000);
  });
  afterEach(() => {
    removeTree(root);
  });

  async function run(args: readonly string[], options: { terminal?: boolean; signal?: AbortSignal } = {}) {
    const said = { out: '', err: '', drawn: '' };
    const code = await fimCommand(args, {
      write: (text) => Promise.resolve(void (said.out += text)),
      writeError: (text) => (said.err += text),
      terminal: options.terminal ? { write: (text) => (said.drawn += text), columns: 80 } : undefined,
      signal: options.signal ?? new AbortController().signal,
    });
    return { code, ...said };
  }

  it('prints a line a file', async () => {
    const ended = await new TestProgram(PROGRAM, ['scan', root]).ended;
    expect(ended.code).to.equal(0);
    expect(ended.stdout).to.match(/^rw-r--r-- \S+:\S+ 12 2023-11-14T22:13:20Z /);
    expect(ended.stdout).to.include(`${SHA256} ${root}/file\n`);
    expect(ended.stderr).to.match(/^svc-fim: 1 files, 12 bytes, in \d+\.\d s\n$/);
  });

  it('prints an object a file, of names that are no UTF-8 too', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/z`), Buffer.from([0xff])]), '');
    const { code, out } = await run(['scan', '--json', '-q', root]);
    expect(code).to.equal(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { path: string; path_hex?: string; attributes: Record<string, unknown> });
    const file = lines.find(({ path }) => path === `${root}/file`)!;
    expect(file.attributes).to.include({ type: 'file', size: 12, mtime: 1_700_000_000, hash_sha256: SHA256 });
    expect(file.attributes['checksum']).to.match(/^[0-9a-f]{40}$/);
    const odd = lines.find(({ path_hex }) => path_hex !== undefined)!;
    expect(odd.path).to.equal(`${root}/z\ufffd`);
    expect(Buffer.from(odd.path_hex!, 'hex').at(-1)).to.equal(0xff);
  });

  it('writes no orders to a terminal', async () => {
    writeFileSync(join(root, 'a\u001b[2J\n'), '');
    const { out } = await run(['scan', root]);
    expect(out).to.include(`${root}/a\\x1b[2J\\x0a\n`);
  });

  it('takes names as they are', async () => {
    writeFileSync(join(root, '*'), '');
    writeFileSync(join(root, '\\'), '');
    const { out } = await run(['scan', join(root, '*'), join(root, '\\')]);
    expect(out.match(/\n/g)).to.have.length(2);
  });

  it('says what is missing', async () => {
    const { code, err } = await run(['scan', join(root, 'nothing'), root]);
    expect(code).to.equal(1);
    expect(err).to.include(`svc-fim: ${root}/nothing: does not exist\n`).and.include('1 files, 12 bytes');
  });

  it('refuses wrong arguments', async () => {
    expect(await run(['scan'])).to.include({ code: 2, err: 'svc-fim: no path given (or --config)\n' });
    expect((await run(['scan', '--config', root])).code).to.equal(2);
    expect((await run(['scan', '--nonsense'])).code).to.equal(2);
    expect((await run(['--help'])).code).to.equal(0);
  });

  it('scans what the configuration says', async () => {
    const home = new TemporaryHome();
    try {
      writeFileSync(
        home.path('etc/internal_options.conf'),
        'syscheck.default_max_depth=256\nsyscheck.file_max_size=1024\n',
      );
      mkdirSync(join(root, 'sub'));
      for (const name of ['sub/a.conf', 'sub/a.txt', 'IGNORED']) writeFileSync(join(root, name), 'x');
      const configuration = (inside: string) => {
        writeFileSync(home.path('etc/manager.conf'), `<ossec_config><syscheck>${inside}</syscheck></ossec_config>`);
      };
      configuration(
        `<directories tags="t">${root}</directories><ignore>${root}/ignored</ignore>` +
          `<directories check_all="no" check_md5sum="yes" restrict=".conf$">${root}/s*</directories>`,
      );
      const { code, out, err } = await run(['scan', '--config', '--json', '--home', home.root]);
      expect(code, err).to.equal(0);
      const lines = out
        .trimEnd()
        .split('\n')
        .sort()
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ path, tags }) => [path, tags])).to.deep.equal([
        [`${root}/file`, 't'],
        [`${root}/sub/a.conf`, undefined],
      ]);
      expect(Object.keys(lines[1]!['attributes'] as object)).to.deep.equal(['type', 'hash_md5', 'checksum']);
      expect(err).to.include('1 ignored').and.include('1 restricted');
      configuration(`<directories>${root}/file</directories><prefilter_cmd>/bin/echo "a b"</prefilter_cmd>`);
      const filtered = await run(['scan', '--config', '--home', home.root]);
      expect(filtered.code, filtered.err).to.equal(0);
      expect(filtered.out).to.include(createHash('sha256').update(`a b ${root}/file\n`).digest('hex'));
      configuration(`<directories>${root}</directories><prefilter_cmd>${root}/none</prefilter_cmd>`);
      const missing = await run(['scan', '--config', '--home', home.root]);
      expect(missing.code).to.equal(2);
      expect(missing.err).to.match(/^svc-fim: <prefilter_cmd> cannot be used: .*none/);
      configuration('<frequency>soon</frequency>');
      const broken = await run(['scan', '--config', '--home', home.root]);
      expect(broken.code).to.equal(2);
      expect(broken.err).to.include('manager.conf').and.include('frequency');
    } finally {
      home.remove();
    }
  });

  it('shows how far it is on a terminal, and nothing of it is left', async () => {
    const { drawn, code } = await run(['scan', root], { terminal: true });
    expect(code).to.equal(0);
    expect(drawn)
      .to.match(/files\/s/)
      .and.match(/\r\u001b\[K$/);
    expect(progressText(250, 3 * 1024 ** 2, 1000, 0.5)).to.equal(
      '[######..................]  25%  250 of 1,000 files  3 MiB  500 files/s',
    );
    expect(progressText(250, 0, undefined, 1)).to.equal('250 files  0 MiB  250 files/s');
  });

  it('ends soon when it is interrupted', async () => {
    for (let file = 0; file < 40; file += 1) {
      writeFileSync(join(root, `large${file}`), '');
      truncateSync(join(root, `large${file}`), 1024 ** 3 - 1);
    }
    const program = new TestProgram(PROGRAM, ['scan', root]);
    // The threads are started once it has read the names of accounts; from then on files of 40 GB are read.
    await eventually('a file is being read', () => openFiles(program.pid, root) > 0);
    program.signal('SIGINT');
    const { code, stderr } = await program.ended;
    expect(code).to.equal(130);
    expect(stderr).to.equal('svc-fim: called off\n');
  });
});

/** Files below a directory that a process has open. */
function openFiles(pid: number, below: string): number {
  return readdirSync(`/proc/${pid}/fd`).filter((name) => linkOf(`/proc/${pid}/fd/${name}`).startsWith(below)).length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
