import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { initHome } from '../../../../../bin/control/home/init-home.js';
import { hostLogSection } from '../../../../../bin/control/host-log-section.js';
import { loadInternalOptions } from '../../../../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../../../../lib/config/load-manager-config.js';
import { Home } from '../../../../../lib/home/home.js';
import { HomeError } from '../../../../../lib/home/home-record.js';

/** Every path below a directory with its mode, size and time of change. */
function tree(root: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode, size, mtimeMs, ino } = statSync(path);
    result[path] = [mode.toString(8), entry.isFile() ? size : 0, mtimeMs, ino].join(' ');
  }
  return result;
}

describe('initHome', () => {
  let parent: string;
  let home: Home;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'svc-init-'));
    home = new Home(join(parent, 'home'));
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const mode = (...path: string[]) => (statSync(home.path(...path)).mode & 0o7777).toString(8);
  const text = (...path: string[]) => readFileSync(home.path(...path), 'utf8');

  it('makes directories and files with the modes of the layout, whatever the umask', async () => {
    const before = process.umask(0o077);
    try {
      await initHome(home, { role: 'server' });
    } finally {
      process.umask(before);
    }
    for (const [path, expected] of [
      ['', '750'],
      ['etc', '1770'],
      ['etc/manager.conf', '640'],
      ['etc/internal_options.conf', '640'],
      ['etc/client.keys', '640'],
      ['etc/rules/local_rules.xml', '660'],
      ['ruleset/rules', '750'],
      ['logs', '770'],
      ['logs/alerts', '750'],
      ['queue/sockets', '770'],
      ['queue', '1770'],
      ['queue/fim/db', '750'],
      ['queue/diff/file', '700'],
      ['var/run', '1770'],
      ['tmp', '1770'],
      ['api/configuration/security', '770'],
      ['api/configuration/api.yaml', '640'],
      ['api/configuration/ssl/server.key', '400'],
      ['etc/sslmanager.key', '640'],
      ['etc/sslmanager.cert', '640'],
      ['api/configuration/ssl/server.crt', '640'],
      ['api/configuration/security/private_key.pem', '640'],
      ['api/configuration/security/initial-admin-password', '600'],
      ['api/configuration/security/initial-wui-password', '600'],
    ] as const) {
      expect(mode(path), path).to.equal(expected);
    }
  });

  it('makes keys, certificate and passwords that fit their purpose', async () => {
    await initHome(home, { role: 'server' });
    const certificate = new X509Certificate(text('api/configuration/ssl/server.crt'));
    expect(certificate.checkPrivateKey(createPrivateKey(text('api/configuration/ssl/server.key')))).to.equal(true);
    expect(certificate.checkHost('localhost')).to.equal('localhost');
    expect(certificate.checkIP('127.0.0.1')).to.equal('127.0.0.1');
    expect(certificate.checkIP('::1')).to.not.equal(undefined);
    const enrollment = new X509Certificate(text('etc/sslmanager.cert'));
    expect(enrollment.checkPrivateKey(createPrivateKey(text('etc/sslmanager.key')))).to.equal(true);
    expect(enrollment.ca).to.equal(true);
    expect(enrollment.verify(enrollment.publicKey)).to.equal(true);
    const publicKey = createPublicKey(text('api/configuration/security/public_key.pem'));
    expect(publicKey.asymmetricKeyDetails?.namedCurve).to.equal('secp521r1');
    const passwords = ['admin', 'wui'].map((user) =>
      text(`api/configuration/security/initial-${user}-password`).trim(),
    );
    expect(passwords[0]).to.not.equal(passwords[1]);
    for (const password of passwords) {
      expect(password).to.match(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^A-Za-z0-9])\S{24}$/);
    }
  });

  it('makes the certificate of enrolment for a key that is there', async () => {
    await initHome(home, { role: 'server' });
    const key = text('etc/sslmanager.key');
    rmSync(home.path('etc/sslmanager.cert'));
    await initHome(home, { role: 'server' });
    expect(text('etc/sslmanager.key')).to.equal(key);
    expect(new X509Certificate(text('etc/sslmanager.cert')).checkPrivateKey(createPrivateKey(key))).to.equal(true);
  });

  it('makes a configuration that loads', async () => {
    await initHome(home, { role: 'server' });
    expect(loadManagerConfig(home).remote).to.have.length(1);
    expect(loadInternalOptions(home).get('monitord.day_wait')).to.equal(10);
    const agent = new Home(join(parent, 'agent'));
    await initHome(agent, { role: 'agent' });
    expect(loadManagerConfig(agent).file).to.equal('etc/manager.conf');
    expect(existsSync(agent.path('api'))).to.equal(false);
    expect(readdirSync(agent.path('ruleset', 'sca'))).to.include('debian.yml');
    expect(readdirSync(home.path('ruleset', 'sca'))).to.include('debian.yml');
    expect(existsSync(agent.path('ruleset', 'rules'))).to.equal(false);
    expect(JSON.parse(readFileSync(agent.path('etc', 'home.json'), 'utf8'))).to.deep.equal({
      version: 1,
      role: 'agent',
    });
  });

  it('changes nothing when it is run again, also when users have changed things', async () => {
    expect(await initHome(home, { role: 'server' })).to.not.deep.equal([]);
    writeFileSync(home.path('etc', 'manager.conf'), '<manager_config></manager_config>');
    writeFileSync(home.path('ruleset', 'rules', 'mine.xml'), '<group name="x"></group>');
    const before = tree(home.root);
    expect(await initHome(home, { role: 'server' })).to.deep.equal([]);
    expect(tree(home.root)).to.deep.equal(before);
  });

  it('takes up an interrupted run', async () => {
    await initHome(home, { role: 'server' });
    rmSync(home.path('api'), { recursive: true });
    rmSync(home.path('etc', 'client.keys'));
    const made = await initHome(home, { role: 'server' });
    expect(made).to.include('etc/client.keys').and.to.include('api/configuration/ssl/server.key');
  });

  it('makes no first password once the users exist', async () => {
    await initHome(home, { role: 'server' });
    rmSync(home.path('api/configuration/security/initial-admin-password'));
    mkdirSync(home.path('api/configuration/security/rbac'));
    expect(await initHome(home, { role: 'server' })).to.deep.equal([]);
  });

  it('ships the ruleset once, and again only when asked to', async () => {
    const templates = join(parent, 'templates');
    for (const directory of ['ruleset/rules', 'ruleset/lists/amazon', 'api', 'shared/default', 'rootcheck']) {
      mkdirSync(join(templates, directory), { recursive: true });
    }
    for (const file of [
      ...['manager.conf', 'internal_options.conf', 'local_internal_options.conf', 'local_rules.xml'],
      ...['local_decoder.xml', 'shared/default/agent.conf', 'api/api.yaml'],
      ...['ruleset/rules/1.xml', 'ruleset/lists/amazon/events'],
      ...['rootcheck/rootkit_files.txt', 'rootcheck/rootkit_trojans.txt'],
    ]) {
      writeFileSync(join(templates, file), `first ${file}`);
    }
    await initHome(home, { role: 'server', templates });
    expect(text('ruleset/rules/1.xml')).to.equal('first ruleset/rules/1.xml');
    expect(mode('ruleset/lists/amazon/events')).to.equal('640');
    writeFileSync(join(templates, 'ruleset/rules/1.xml'), 'second');
    writeFileSync(home.path('ruleset', 'rules', 'old.xml'), '');
    expect(await initHome(home, { role: 'server', templates })).to.deep.equal([]);
    await initHome(home, { role: 'server', templates, updateRuleset: true });
    expect(text('ruleset/rules/1.xml')).to.equal('second');
    expect(existsSync(home.path('ruleset', 'rules', 'old.xml'))).to.equal(false);
    expect(text('etc/rules/local_rules.xml'), 'the users own rules stay').to.equal('first local_rules.xml');
  });

  async function refusal(action: Promise<unknown>): Promise<string> {
    const error: unknown = await action.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(HomeError);
    return (error as HomeError).message;
  }

  it('does not scatter a home over a directory that holds other files', async () => {
    mkdirSync(home.root);
    writeFileSync(home.path('passwd'), '');
    expect(await refusal(initHome(home, { role: 'server' }))).to.match(/holds other files \('passwd'\)/);
    expect(readdirSync(home.root)).to.deep.equal(['passwd']);
    writeFileSync(join(parent, 'file'), '');
    expect(await refusal(initHome(new Home(join(parent, 'file')), { role: 'server' }))).to.match(/is not a directory/);
  });

  it('accepts a directory that was prepared with files of a home', async () => {
    mkdirSync(home.path('api', 'configuration'), { recursive: true });
    writeFileSync(home.path('api', 'configuration', 'api.yaml'), 'port: 0\n');
    await initHome(home, { role: 'server' });
    expect(text('api/configuration/api.yaml')).to.equal('port: 0\n');
  });

  it('keeps the role of a home', async () => {
    await initHome(home, { role: 'server' });
    expect(await refusal(initHome(home, { role: 'agent' }))).to.match(/is a home for role 'server' already/);
  });

  it('refuses a path that is too long for sockets before it makes anything', async () => {
    const long = new Home(join(parent, 'x'.repeat(100)));
    expect(await refusal(initHome(long, { role: 'server' }))).to.match(/the limit is 107/);
    expect(existsSync(long.root)).to.equal(false);
  });
});

describe('hostLogSection', () => {
  it('follows the journal only where no text log is', () => {
    const host = (...paths: string[]) => hostLogSection((path) => paths.includes(path));
    const journal = ['/run/systemd/journal/socket', '/usr/bin/journalctl'];
    expect(host(...journal)).to.include('<log_format>journald</log_format>');
    expect(host(...journal, '/var/log/syslog')).to.equal('');
    expect(host('/usr/bin/journalctl')).to.equal('');
  });
});
