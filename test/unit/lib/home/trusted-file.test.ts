import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadInternalOption } from '../../../../lib/config/internal-options.js';
import { loadApiConfig } from '../../../../lib/config/load-api-config.js';
import { loadManagerConfig } from '../../../../lib/config/load-manager-config.js';
import { Home } from '../../../../lib/home/home.js';
import { FileTooLargeError, readTrustedFile, UntrustedFileError } from '../../../../lib/home/trusted-file.js';
import { notRoot } from '../../../support/process/service-user.js';

const OTHER = 65_534;

describe('a file that root obeys', () => {
  let home: Home;
  let file: string;

  before(function () {
    if (notRoot === undefined) return;
    console.log(`    (skipped: ${notRoot})`);
    this.skip();
  });
  beforeEach(() => {
    home = new Home(mkdtempSync(join(tmpdir(), 'svc-trusted-')));
    mkdirSync(home.path('etc'));
    file = home.path('etc', 'manager.conf');
    writeFileSync(file, '<manager_config></manager_config>');
  });
  afterEach(() => rmSync(home.root, { recursive: true }));

  const read = () => readTrustedFile(home, 'etc/manager.conf', 1000).toString();

  it('is read where only root could have written it', () => {
    expect(read()).to.include('manager_config');
    // Others may make files of their own beside it.
    chownSync(home.path('etc'), 0, OTHER);
    chmodSync(home.path('etc'), 0o1770);
    chownSync(file, 0, OTHER);
    chmodSync(file, 0o640);
    expect(read()).to.include('manager_config');
  });

  it('is not read when it is larger than it may be', () => {
    writeFileSync(file, 'x'.repeat(1000));
    expect(read()).to.have.length(1000);
    writeFileSync(file, 'x'.repeat(1001));
    expect(read).to.throw(FileTooLargeError, `'${file}' has 1001 bytes`).with.property('size', 1001);
  });

  it('may be that of whoever owns the whole home', () => {
    for (const path of [home.root, home.path('etc'), file]) chownSync(path, OTHER, OTHER);
    chmodSync(home.path('etc'), 0o770);
    chmodSync(file, 0o660);
    expect(read()).to.include('manager_config');
  });

  for (const [what, spoil, reason] of [
    ['belongs to another user', () => chownSync(file, OTHER, 0), /manager\.conf' belongs to user 65534, /],
    ['is a link', () => (rmSync(file), symlinkSync('/etc/hostname', file)), /manager\.conf' is a link, /],
    ['is no file', () => (rmSync(file), mkdirSync(file)), /manager\.conf' is not a regular file, /],
    ['is open to everybody', () => chmodSync(file, 0o666), /can be written by every user, /],
    ['is open to a group', () => (chownSync(file, 0, OTHER), chmodSync(file, 0o660)), /by group 65534, /],
    ['lies in the directory of another', () => chownSync(home.path('etc'), OTHER, 0), /etc' belongs to user 65534, /],
    [
      'lies where others can replace it',
      () => (chownSync(home.path('etc'), 0, OTHER), chmodSync(home.path('etc'), 0o770)),
      /etc' can be written by group 65534, /,
    ],
    [
      'lies behind a link',
      () => {
        mkdirSync(home.path('elsewhere'));
        writeFileSync(home.path('elsewhere', 'manager.conf'), '');
        rmSync(home.path('etc'), { recursive: true });
        symlinkSync('elsewhere', home.path('etc'));
      },
      /etc' is not a directory, /,
    ],
  ] as const) {
    it(`is refused when it ${what}, with the command that mends it`, () => {
      spoil();
      expect(read).to.throw(UntrustedFileError, reason);
      expect(read).to.throw(/: set it right with 'svc-control init --user USER --home \/.*'$/);
    });
  }

  it('that was copied with its rights is mended by them alone, where there is no service user', () => {
    const record = home.path('etc', 'home.json');
    chownSync(file, 0, OTHER);
    chmodSync(file, 0o660);
    for (const [text, command] of [
      ['{"version": 1, "role": "server"}', `chown root: ${file} && chmod go-w ${file}`],
      ['{"version": 1, "role": "server", "user": "u"}', `svc-control init --user USER --home ${home.root}`],
    ] as const) {
      writeFileSync(record, text);
      expect(read).to.throw(`: set it right with '${command}'`);
    }
  });

  it('is refused as main configuration, internal options and api.yaml alike', () => {
    mkdirSync(home.path('api', 'configuration'), { recursive: true });
    for (const [path, load] of [
      ['etc/manager.conf', () => loadManagerConfig(home)],
      ['etc/local_internal_options.conf', () => loadInternalOption(home, 'logcollector.remote_commands')],
      ['api/configuration/api.yaml', () => loadApiConfig(home)],
    ] as const) {
      writeFileSync(home.path(path), '');
      chownSync(home.path(path), OTHER, OTHER);
      expect(load, path).to.throw(/belongs to user 65534/);
    }
  });
});
