import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { basic, TEST_PASSWORD, TestApi } from '../../support/api/test-api.js';

const LOGIN = '/security/user/authenticate';

describe('login and tokens', () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await new TestApi().start();
  });
  afterEach(() => api.remove());

  const post = (authorization?: string, path = LOGIN) =>
    api.request('POST', path, authorization === undefined ? {} : { headers: { authorization } });
  const withToken = (token: string, path = '/') =>
    api.request('GET', path, { headers: { authorization: `Bearer ${token}` } });
  const detail = async (token: string) => ((await withToken(token)).json() as { detail?: string }).detail;

  it('gives a token for name and password', async () => {
    const answer = await post(basic('admin', TEST_PASSWORD));
    expect(answer.status).to.equal(200);
    const { data, error } = answer.json() as { data: { token: string }; error: number };
    expect(error).to.equal(0);
    const decoded = jwt.decode(data.token, { complete: true });
    const nbf = Math.floor(api.now / 1000);
    expect(decoded?.header).to.deep.equal({ alg: 'ES512', typ: 'JWT' });
    expect(decoded?.payload).to.deep.equal({
      iss: 'security-manager',
      aud: 'Security Manager API REST',
      nbf,
      exp: nbf + 900,
      sub: 'admin',
      run_as: false,
      rbac_roles: [1],
      rbac_mode: 'white',
      revision: 0,
    });
    expect((await withToken(data.token)).status).to.equal(200);
  });

  it('gives the bare token with raw=true, and knows the old form', async () => {
    const raw = await post(basic('admin', TEST_PASSWORD), `${LOGIN}?raw=true`);
    expect(raw.headers['content-type']).to.equal('text/plain');
    expect(raw.text).to.match(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(raw.headers).not.to.have.property('deprecated');
    const old = await api.request('GET', LOGIN, { headers: { authorization: basic('admin', TEST_PASSWORD) } });
    expect(old.status).to.equal(200);
    expect(old.headers['deprecated']).to.equal('true');
    expect(old.headers['link']).to.equal(`<${LOGIN}>; rel="Deprecated"`);
    const pretty = await post(basic('admin', TEST_PASSWORD), `${LOGIN}?pretty=true`);
    expect(pretty.status).to.equal(400);
    expect((pretty.json() as { detail: string }).detail).to.equal('Extra query parameter(s) pretty not in spec');
  });

  it('ignores a body', async () => {
    const headers = { authorization: basic('admin', TEST_PASSWORD), 'content-type': 'application/json' };
    expect((await api.request('POST', LOGIN, { headers, body: '{"a": broken' })).status).to.equal(200);
  });

  it('refuses every failure in the same words', async () => {
    for (const authorization of [
      undefined,
      'Basic',
      'Basic !!!',
      `Basic ${Buffer.from('nocolon').toString('base64')}`,
      basic('admin', 'wrong'),
      basic('nobody', TEST_PASSWORD),
      basic('__proto__', TEST_PASSWORD),
      `Bearer ${TEST_PASSWORD}`,
      basic('admin', 'x'.repeat(5000)),
    ]) {
      const answer = await post(authorization);
      expect(answer.status).to.equal(401);
      expect(answer.text).to.equal('{"title": "Unauthorized", "detail": "Invalid credentials"}');
    }
  });

  it('lets the second built-in user in with its own password', async () => {
    const file = api.home.path('api', 'configuration', 'security', 'initial-wui-password');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const password = readFileSync(file, 'utf8').trim();
    expect(password)
      .to.match(/[a-z]/)
      .and.match(/[A-Z]/)
      .and.match(/\d/)
      .and.match(/[^A-Za-z0-9]/);
    expect((await post(basic('wazuh-wui', password))).status).to.equal(200);
  });

  it('refuses expired, foreign and tampered tokens', async () => {
    const token = await api.login();
    const issued = api.now;
    api.now = issued + 899_000;
    expect((await withToken(token)).status).to.equal(200);
    api.now = issued + 900_000;
    expect(await detail(token)).to.equal('Invalid token');
    api.now = issued - 1000;
    expect(await detail(token)).to.equal('Invalid token');
    api.now = issued;
    const [head = '', body = '', signature = ''] = token.split('.');
    expect(await detail([head, body, signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))].join('.'))).to.equal(
      'Invalid token',
    );
  });

  /** Path of a file of the key pair that signs tokens. */
  const keyFile = (name: string) => api.home.path('api', 'configuration', 'security', `${name}_key.pem`);
  /** A token that nobody's library helped to make. */
  const handmade = (alg: string, claims: object, sign: (input: string) => string) => {
    const input = [{ alg, typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${input}.${sign(input)}`;
  };

  it('takes no unsigned token, and none whose secret is the public key', async () => {
    const claims = jwt.decode(await api.login()) as object;
    expect(await detail(handmade('none', claims, () => ''))).to.equal('Invalid token');
    const pem = readFileSync(keyFile('public'), 'utf8');
    const key = createPublicKey(pem);
    const secrets = [pem, pem.trim(), pem.replace(/-----.*-----|\n/g, ''), key.export({ type: 'spki', format: 'der' })];
    for (const hash of ['256', '384', '512']) {
      for (const secret of secrets) {
        const confused = handmade(`HS${hash}`, claims, (input) =>
          createHmac(`sha${hash}`, secret).update(input).digest('base64url'),
        );
        expect(await detail(confused), hash).to.equal('Invalid token');
      }
    }
  });

  it('takes no other algorithm, whatever key the files hold', async () => {
    const claims = jwt.decode(await api.login()) as object;
    const pairs = [
      ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
      ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
      ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
      ['ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ] as const;
    for (const [algorithm, { privateKey, publicKey }] of pairs) {
      await api.stop();
      writeFileSync(keyFile('private'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
      writeFileSync(keyFile('public'), publicKey.export({ type: 'spki', format: 'pem' }));
      await api.open();
      const token = jwt.sign(claims, privateKey, { algorithm, noTimestamp: true });
      expect(await detail(token), algorithm).to.equal(algorithm === 'ES512' ? undefined : 'Invalid token');
    }
  });

  it('takes no token that its own key signed for another purpose', async () => {
    const claims = jwt.decode(await api.login()) as Record<string, unknown>;
    const signed = (changed: Record<string, unknown>) =>
      jwt.sign(JSON.stringify({ ...claims, ...changed }), readFileSync(keyFile('private')), { algorithm: 'ES512' });
    expect((await withToken(signed({}))).status).to.equal(200);
    for (const changed of [
      { aud: undefined },
      { aud: 'Another API' },
      { aud: [] },
      { iss: undefined },
      { iss: 'another-manager' },
      { exp: undefined },
      { nbf: undefined },
      { sub: undefined },
      { sub: 1 },
      { run_as: 'false' },
      { rbac_roles: ['1'] },
      { rbac_roles: 1 },
      { rbac_mode: 'grey' },
      { revision: undefined },
    ]) {
      expect(await detail(signed(changed)), JSON.stringify(changed)).to.equal('Invalid token');
    }
  });

  it('logs out: every token of the user before is refused, and a new one of the same second is good', async () => {
    const first = await api.login();
    const headers = { authorization: `Bearer ${first}` };
    const answer = await api.request('DELETE', LOGIN, { headers });
    expect(answer.text).to.equal('{"message": "User admin was successfully logged out", "error": 0}');
    expect(await detail(first)).to.equal('Invalid token');
    const second = await api.login();
    expect((await withToken(second)).status).to.equal(200);
    await api.request('DELETE', LOGIN, { headers: { authorization: `Bearer ${second}` } });
    expect(await detail(second)).to.equal('Invalid token');
    expect((await withToken(await api.login())).status).to.equal(200);
  });

  it('locks nobody out when the clock is set back after a logout, and lets no old token live again', async () => {
    const old = await api.login();
    await api.request('DELETE', LOGIN, { headers: { authorization: `Bearer ${old}` } });
    const issued = api.now;
    api.now = issued - 3_600_000;
    const fresh = await api.login();
    expect((await withToken(fresh)).status).to.equal(200);
    await api.request('DELETE', LOGIN, { headers: { authorization: `Bearer ${fresh}` } });
    api.now = issued;
    expect(await detail(old)).to.equal('Invalid token');
    expect((await withToken(await api.login())).status).to.equal(200);
  });

  it('remembers a logout over a restart', async () => {
    const token = await api.login();
    await api.request('DELETE', LOGIN, { headers: { authorization: `Bearer ${token}` } });
    await api.stop();
    await api.open();
    expect(await detail(token)).to.equal('Invalid token');
    expect((await withToken(await api.login())).status).to.equal(200);
  });

  it('says "Token expired" when the security settings changed', async () => {
    const token = await api.login();
    const file = api.home.path('api', 'configuration', 'security', 'security.yaml');
    writeFileSync(file, 'auth_token_exp_timeout: 60\n');
    expect(await detail(token)).to.equal('Token expired');
    const short = await api.login();
    expect((await withToken(short)).status).to.equal(200);
    writeFileSync(file, 'auth_token_exp_timeout: 60\nrbac_mode: black\n');
    expect(await detail(short)).to.equal('Token expired');
    const black = await api.login();
    writeFileSync(file, 'rbac_mode: purple\n');
    expect((await withToken(black)).status, 'a file that is not valid changes nothing').to.equal(200);
    expect(api.logger.lines.join('\n')).to.match(/error: 4021 - .*security\.yaml.*rbac_mode/);
  });

  it('notices a changed key pair', async () => {
    const token = await api.login();
    await api.stop();
    for (const name of ['private_key.pem', 'public_key.pem']) {
      const path = api.home.path('api', 'configuration', 'security', name);
      expect(statSync(path).mode & 0o777).to.equal(0o640);
      rmSync(path);
    }
    await api.open();
    expect(await detail(token)).to.equal('Invalid token');
    expect((await withToken(await api.login())).status).to.equal(200);
  });

  it('notices a key pair that is exchanged while it runs, also for a token it has checked before', async () => {
    const token = await api.login();
    expect((await withToken(token)).status).to.equal(200);
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' });
    writeFileSync(keyFile('private'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(keyFile('public'), publicKey.export({ type: 'spki', format: 'pem' }));
    expect(await detail(token)).to.equal('Invalid token');
    const fresh = await api.login();
    for (let count = 0; count < 2; count += 1) expect((await withToken(fresh)).status).to.equal(200);
    api.now += 900_000;
    expect(await detail(fresh), 'expired since it was checked').to.equal('Invalid token');
  });

  it('checks name and password of a run_as login first', async () => {
    expect((await post(basic('admin', 'wrong'), `${LOGIN}/run_as`)).status).to.equal(401);
    const headers = { authorization: basic('admin', TEST_PASSWORD), 'content-type': 'application/json' };
    const large = await api.request('POST', `${LOGIN}/run_as`, {
      headers,
      body: JSON.stringify({ a: 'x'.repeat(8200) }),
    });
    expect(large.status).to.equal(413);
    expect(large.json()).to.deep.equal({
      title: 'Request Entity Too Large',
      detail: 'Auth context payload exceeds the maximum allowed size of 8192 bytes.',
      error: 413,
    });
    const empty = await api.request('POST', `${LOGIN}/run_as`, { headers });
    expect((empty.json() as { detail: string }).detail).to.equal('Request body must not be empty');
  });
});

describe('limits', () => {
  let api: TestApi;
  afterEach(() => api.remove());

  it('admits so many requests a minute, then 429', async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 50, blockSeconds: 300, maxRequestsPerMinute: 5 } });
    for (let count = 1; count <= 5; count += 1) expect((await api.request('GET', '/')).status).to.equal(401);
    const refused = await api.request('GET', '/');
    expect(refused.status).to.equal(429);
    expect(refused.headers['retry-after']).to.equal('60');
    expect(refused.json()).to.deep.equal({
      title: 'Too Many Requests',
      detail: 'Maximum number of requests per minute reached',
      remediation: 'The limit is access.max_request_per_minute in api/configuration/api.yaml.',
      error: 6001,
    });
    expect((await api.request('GET', '/nothing')).status, 'unknown paths do not count').to.equal(404);
    api.elapsed += 60_001;
    for (let count = 1; count <= 6; count += 1) expect((await api.request('GET', '/')).status).to.equal(401);
    expect((await api.request('GET', '/')).status).to.equal(429);
  });

  it('counts logins among the requests of users', async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 50, blockSeconds: 300, maxRequestsPerMinute: 5 } });
    for (let count = 1; count <= 4; count += 1) expect((await api.call('GET', '/')).status).to.equal(200);
    expect((await api.call('GET', '/')).json()).to.include({ error: 6001 });
    const login = await api.request('POST', LOGIN, { headers: { authorization: basic('admin', TEST_PASSWORD) } });
    expect(login.status).to.equal(429);
  });

  it('admits 30 requests a minute on /events', async () => {
    api = await new TestApi().start();
    for (let count = 1; count <= 30; count += 1) expect((await api.call('POST', '/events', 'x')).status).to.equal(400);
    const refused = await api.call('POST', '/events', 'x');
    expect(refused.status).to.equal(429);
    expect(refused.text).to.equal(
      '{"title": "Too Many Requests", "detail": "Maximum number of requests per minute reached", ' +
        '"remediation": null, "error": 6005}',
    );
    expect((await api.call('GET', '/')).status).to.equal(200);
  });

  it('has no limit at all with 0', async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 50, blockSeconds: 300, maxRequestsPerMinute: 0 } });
    for (let count = 1; count <= 40; count += 1) expect((await api.request('POST', '/events')).status).to.equal(401);
  });

  it('blocks an address after 50 wrong passwords, for 300 s after the first', async () => {
    api = await new TestApi().start();
    const wrong = () => api.request('POST', LOGIN, { headers: { authorization: basic('admin', 'wrong') } });
    const right = () => api.request('POST', LOGIN, { headers: { authorization: basic('admin', TEST_PASSWORD) } });
    const first = api.elapsed;
    const token = await api.login();
    for (let count = 1; count <= 49; count += 1) expect((await wrong()).status).to.equal(401);
    expect((await right()).status, 'not blocked yet').to.equal(200);
    expect((await wrong()).status).to.equal(401);
    for (let count = 51; count <= 60; count += 1) expect((await wrong()).status).to.equal(403);
    const blocked = await right();
    expect(blocked.json()).to.deep.equal({
      title: 'Permission Denied',
      detail: 'Limit of login attempts reached. The current IP has been blocked due to a high number of login attempts',
      error: 6000,
    });
    const other = await api.request('GET', '/', { headers: { authorization: `Bearer ${token}` } });
    expect(other.status, 'other paths are not affected').to.equal(200);
    expect(api.logger.lines).to.include('warn: IP blocked due to exceeded number of logins attempts: 127.0.0.1');
    api.elapsed = first + 300_000;
    expect((await right()).status).to.equal(200);
  });
});
