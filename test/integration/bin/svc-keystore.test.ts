import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-keystore', productRoot()));

describe('svc-keystore', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  beforeEach(() => (home = new TemporaryHome()));
  afterEach(() => {
    home.remove();
  });

  const path = (): string => home.path('etc', 'indexer.secret');
  function run(args: readonly string[], input = ''): { code: number | null; stderr: string } {
    const all = [PROGRAM, '--home', home.root, ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { input, encoding: 'utf8' });
    expect(stdout).to.equal('');
    return { code: status, stderr };
  }

  it('keeps name and password, however they come, for the owner and the group alone', () => {
    expect(run(['-f', 'indexer', '-k', 'username', '-v', 'admin'])).to.deep.equal({ code: 0, stderr: '' });
    expect(run(['-f', 'indexer', '-k', 'password'], 'a=b: c\nsecond line\n')).to.deep.equal({
      code: 0,
      stderr: '',
    });
    expect(readFileSync(path(), 'utf8')).to.equal('username=admin\npassword=a=b: c\n');
    expect(statSync(path()).mode & 0o777).to.equal(0o640);
    const file = home.path('tmp', 'password');
    writeFileSync(file, 'from a file\r\n');
    expect(run(['-f', 'indexer', '-k', 'password', '-vp', file]).code).to.equal(0);
    expect(readFileSync(path(), 'utf8')).to.equal('username=admin\npassword=from a file\n');
  });

  it('says what is wrong, never the value, and leaves what there is', () => {
    run(['-f', 'indexer', '-k', 'username', '-v', 'admin']);
    const before = readFileSync(path(), 'utf8');
    for (const [args, input, message] of [
      [['-f', 'indexer', '-k', 'password'], '', 'the value is empty'],
      [['-f', 'indexer', '-k', 'password'], 'top\u0007secret\n', 'the value has control characters'],
      [['-f', 'indexer', '-k', 'password', '-v', 'x', '-vp', 'y'], '', "'-v' and '-vp' exclude each other"],
      [['-f', 'indexer', '-k', 'password', '-vp', home.path('none')], '', 'ENOENT'],
      [['-f', 'other', '-k', 'password', '-v', 'x'], '', 'Allowed choices are indexer'],
      [['-k', 'password', '-v', 'x'], '', "required option '-f, --family <name>' not specified"],
    ] as const) {
      const { code, stderr } = run(args, input);
      expect(code, message).to.equal(1);
      expect(stderr)
        .to.match(/^svc-keystore: /)
        .and.include(message);
      expect(stderr).to.not.include('secret\n').and.not.include('topsecret');
    }
    expect(readFileSync(path(), 'utf8')).to.equal(before);
  });

  it('goes by no file that others may have written, and through no link', () => {
    writeFileSync(path(), 'username=admin\n');
    chmodSync(path(), 0o666);
    const open = run(['-f', 'indexer', '-k', 'password', '-v', 'x']);
    expect(open.code).to.equal(1);
    expect(open.stderr).to.include('may be written by its group or by others: its mode has to be 0640');
    rmSync(path());
    writeFileSync(home.path('tmp', 'elsewhere'), 'username=admin\n');
    symlinkSync(home.path('tmp', 'elsewhere'), path());
    const linked = run(['-f', 'indexer', '-k', 'password', '-v', 'x']);
    expect([linked.code, linked.stderr.includes('is no regular file')]).to.deep.equal([1, true]);
    rmSync(path());
    writeFileSync(path(), 'admin:secret\n');
    const odd = run(['-f', 'indexer', '-k', 'password', '-v', 'x']);
    expect([
      odd.code,
      odd.stderr.includes("line 1: it has to be 'username=...'"),
      odd.stderr.includes('secret\n'),
    ]).to.deep.equal([...[1, true, false]]);
  });
});
