import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { apidContract } from '../../../lib/bus/contracts/apid.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { httpRequest, type TestResponse } from '../../support/api/http-request.js';
import { basic } from '../../support/api/test-api.js';
import { productProgram } from '../../support/daemon/product-program.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

/** The launcher in bin/, as users call it. */
const PROGRAM = productProgram('svc-apid');

describe('svc-apid', () => {
  let home: TemporaryHome;
  let program: TestProgram | undefined;

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('api', 'configuration', 'security'), { recursive: true });
    configure('host: ["127.0.0.1"]\nport: 0\n');
    writeFileSync(
      home.path('etc', 'manager.conf'),
      '<manager_config><global><logall>no</logall></global></manager_config>\n',
    );
  });
  afterEach(async () => {
    program?.signal('SIGKILL');
    await program?.ended;
    program = undefined;
    home.remove();
  });

  const configure = (text: string) => writeFileSync(home.path('api', 'configuration', 'api.yaml'), text);
  const launch = (...args: string[]) => {
    program = new TestProgram(PROGRAM, ['--home', home.root, '-f', ...args]);
    return program;
  };
  const start = async (): Promise<number> => {
    launch();
    const address = await eventually('svc-apid running', async () => {
      const status = (await readDaemonStatus(home, ['svc-apid'])).get('svc-apid');
      return status?.state === 'running' ? status.addresses?.['api'] : undefined;
    });
    expect(address).to.include({ protocol: 'https', address: '127.0.0.1' });
    return address.port ?? 0;
  };
  const request = (
    port: number,
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<TestResponse> => httpRequest({ port, tls: true, method, path, headers });
  const login = async (port: number) => {
    const password = readFileSync(
      home.path('api', 'configuration', 'security', 'initial-admin-password'),
      'utf8',
    ).trim();
    const answer = await request(
      port,
      '/security/user/authenticate?raw=true',
      { authorization: basic('admin', password) },
      'POST',
    );
    expect(answer.status).to.equal(200);
    return { authorization: `Bearer ${answer.text}` };
  };

  it('makes what is missing, answers over HTTPS and stops cleanly', async () => {
    const port = await start();
    for (const [path, mode] of [
      ['ssl/server.key', 0o400],
      ['ssl/server.crt', 0o640],
      ['security/private_key.pem', 0o640],
      ['security/public_key.pem', 0o640],
      ['security/initial-admin-password', 0o600],
      ['security/initial-wui-password', 0o600],
      ['security/rbac/data.mdb', 0o640],
    ] as const) {
      expect(statSync(home.path('api', 'configuration', path)).mode & 0o777, path).to.equal(mode);
    }
    const headers = await login(port);
    const status = (await request(port, '/manager/status', headers)).json() as { data: { affected_items: object[] } };
    expect(status.data.affected_items[0]).to.include({ 'svc-apid': 'running', 'svc-analysisd': 'stopped' });
    const section = await request(port, '/manager/configuration?section=global', headers);
    expect(section.json()).to.have.nested.property('data.affected_items[0].global.logall', 'no');
    const pretty = await request(port, '/?pretty=true', headers);
    expect(pretty.text).to.include('\n      "api_version": "4.14.7"');

    const client = new RequestClient({ contract: apidContract, path: home.socket('svc-apid') });
    expect(await client.call('ping', {})).to.include({ daemon: 'svc-apid', pid: program?.pid });
    expect(await client.call('stats', {})).to.have.nested.property('requests.2xx', 4);
    expect(await client.call('config', { section: 'api' })).to.have.nested.property('access.max_login_attempts', 50);
    expect(await client.call('reload', {})).to.deep.equal({ restartNeeded: [] });
    client.close();

    program?.signal('SIGTERM');
    const ended = await program?.ended;
    expect(ended?.code).to.equal(0);
    const log = readFileSync(home.path('logs', 'api.log'), 'utf8');
    expect(log)
      .to.match(/INFO: Listening on 127\.0\.0\.1:\d+\.\n/)
      .and.match(/INFO: Shutdown svc-apid server\.\n$/);
    expect(statSync(home.path('logs', 'api.log')).mode & 0o777).to.equal(0o660);
  });

  it('keeps users, keys and logouts over kill -9', async () => {
    const headers = await login(await start());
    const port = (await readDaemonStatus(home)).get('svc-apid')?.addresses?.['api']?.port ?? 0;
    await request(port, '/security/user/authenticate', headers, 'DELETE');
    program?.signal('SIGKILL');
    await program?.ended;
    const again = await start();
    const refused = await request(again, '/', headers);
    expect(refused.json()).to.deep.equal({ title: 'Unauthorized', detail: 'Invalid token' });
    await eventually('a new login', async () => (await request(again, '/', await login(again))).status === 200);
  });

  it('checks its configuration with -t, and does not start with a broken one', async () => {
    expect(await launch('-t').ended).to.include({ code: 0, stdout: '', stderr: '' });
    configure('port: 0\nuse_only_authd: true\nhttps:\n  ssl_protocol: tlsv1\n');
    const warned = await launch('-t').ended;
    expect(warned.code).to.equal(0);
    expect(warned.stderr).to.include("Key 'use_only_authd' is old and has no effect.");
    expect(warned.stderr).to.include('The TLS version tlsv1 is deprecated: TLS 1.2 and 1.3 are used.');
    configure('port: 0\nlogs:\n  level: loud\n');
    const checked = await launch('-t').ended;
    expect(checked.code).to.equal(1);
    expect(checked.stderr).to.match(/Configuration not valid\. ERROR: 2000 - .*api\.yaml.*logs\.level.*line 3/);
    const started = await launch().ended;
    expect(started.code).to.equal(1);
    expect(started.stderr).to.match(/CRITICAL: 2000 - .*logs\.level/);
    configure('port: 0\nunknown_key: 1\n');
    expect((await launch('-t').ended).stderr).to.match(/2000 - .*'unknown_key' is not known/);
  });

  it('says when its port is taken or its store is damaged', async () => {
    const port = await start();
    const other = new TemporaryHome();
    try {
      mkdirSync(other.path('api', 'configuration', 'security', 'rbac'), { recursive: true });
      writeFileSync(other.path('api', 'configuration', 'api.yaml'), `host: ["127.0.0.1"]\nport: ${port}\n`);
      const second = await new TestProgram(PROGRAM, ['--home', other.root, '-f']).ended;
      expect(second.code).to.equal(1);
      expect(second.stderr).to.include(
        'CRITICAL: 2010 - Error while attempting to bind on address: address already in use.',
      );
      writeFileSync(other.path('api', 'configuration', 'security', 'rbac', 'data.mdb'), 'rubbish '.repeat(4096));
      const third = await new TestProgram(PROGRAM, ['--home', other.root, '-f']).ended;
      expect(third.code).to.equal(1);
      expect(third.stderr).to.match(/CRITICAL: 2012 - Error while attempting to check RBAC database integrity/);
    } finally {
      other.remove();
    }
  });

  it('reads its settings and certificate again on SIGHUP', async () => {
    const port = await start();
    expect((await request(port, '/docs')).status).to.equal(200);
    configure('host: ["127.0.0.1"]\nport: 0\ndocs:\n  enabled: no\nauthentication_pool_size: 5\n');
    program?.signal('SIGHUP');
    await eventually('no more docs', async () => (await request(port, '/docs')).status === 404);
    expect(program?.stderr).to.match(/take effect after a restart: authentication_pool_size/);
    configure('port: [');
    program?.signal('SIGHUP');
    await eventually('a refused reload', () => program?.stderr.includes('Reload refused'));
    expect((await request(port, '/')).status).to.equal(401);
  });

  it('reads the certificate before it says the warnings of a reload', async () => {
    configure('host: ["127.0.0.1"]\nport: 0\nuse_only_authd: true\nhttps:\n  ssl_protocol: tlsv1\n');
    const port = await start();
    const OLD_KEY = "Key 'use_only_authd' is old and has no effect.";
    const OLD_TLS = 'The TLS version tlsv1 is deprecated';
    const reload = async (end: string): Promise<string> => {
      const from = program?.stderr.length ?? 0;
      const said = () => program?.stderr.slice(from) ?? '';
      program?.signal('SIGHUP');
      await eventually(end, () => said().includes(end));
      return said();
    };
    expect(program?.stderr).to.match(new RegExp(`${OLD_KEY}[^]*${OLD_TLS}[^]*The API's certificate`));
    const taken = await reload('Configuration reloaded.');
    expect(taken)
      .to.match(new RegExp(`The API's certificate[^]*${OLD_KEY}`))
      .and.not.to.include(OLD_TLS);
    writeFileSync(home.path('api', 'configuration', 'ssl', 'server.crt'), 'no certificate');
    const refused = await reload('Reload refused');
    expect(refused).not.to.include('use_only_authd').and.not.to.include("The API's certificate");
    expect((await request(port, '/')).status).to.equal(401);
  });
});
