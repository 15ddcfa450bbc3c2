import { expect } from 'chai';
import { basicCredentials, parseAuthorization } from '../../../../api/auth/authorization-header.js';
import { PasswordHasher, passwordSetter } from '../../../../api/auth/password-hasher.js';
import { ProblemError } from '../../../../api/http/problem-error.js';
import { randomPassword } from '../../../../lib/security/initial-password.js';

const CHEAP = { N: 16, r: 1, p: 1 };
const client = { address: '127.0.0.1' };

describe('password hashes', () => {
  it('are salted, name their cost and fit one password only', async () => {
    const hasher = new PasswordHasher(2, CHEAP);
    const [first, second] = [await hasher.hash('Secret', client), await hasher.hash('Secret', client)];
    expect(first).to.match(/^scrypt\$16\$1\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(first).not.to.equal(second);
    expect(await hasher.verify('Secret', first, client)).to.equal(true);
    expect(await hasher.verify('secret', first, client)).to.equal(false);
    expect(await hasher.verify('', first, client)).to.equal(false);
    expect(await hasher.verify('Secret', undefined, client)).to.equal(false);
    expect(await hasher.verify('x'.repeat(2000), first, client)).to.equal(false);
    for (const broken of ['', 'plain', 'scrypt$16$1$1$', 'md5$16$1$1$YQ$YQ']) {
      expect(await hasher.verify('Secret', broken, client)).to.equal(false);
    }
  });

  it('of another cost stay valid', async () => {
    const old = await new PasswordHasher(1, CHEAP).hash('Secret', client);
    expect(await new PasswordHasher(1, { N: 64, r: 2, p: 2 }).verify('Secret', old, client)).to.equal(true);
  });

  it('are checked a few at a time, and not endlessly many wait', async () => {
    const hasher = new PasswordHasher(2, CHEAP);
    const hash = await new PasswordHasher(1, CHEAP).hash('Secret', client);
    const checks = Array.from({ length: 250 }, () =>
      hasher.verify('Secret', hash, client).catch((error: unknown) => error),
    );
    const results = await Promise.all(checks);
    expect(results.filter((result) => result === true)).to.have.length(202);
    expect(results.filter((result) => result instanceof ProblemError && result.status === 503)).to.have.length(48);
    expect(await hasher.verify('Secret', hash, client), 'places are given back').to.equal(true);
  });
});

describe('a flood of password checks', () => {
  it('waits for itself: another address has its turn next', async () => {
    const hasher = new PasswordHasher(1, CHEAP);
    const hash = await new PasswordHasher(1, CHEAP).hash('Secret', client);
    const order: string[] = [];
    const check = (address: string) =>
      hasher.verify('Secret', hash, { address, ready: () => order.push(address) }).catch((error: unknown) => error);
    const flood = Array.from({ length: 250 }, () => check('192.0.2.1'));
    const users = ['192.0.2.2', '192.0.2.3', '192.0.2.2'].map(check);
    expect(await Promise.all(users)).to.deep.equal([true, true, true]);
    expect(order.slice(0, 6)).to.deep.equal([1, 1, 2, 3, 1, 2].map((number) => `192.0.2.${number}`));
    const results = await Promise.all(flood);
    expect(results.filter((result) => result instanceof ProblemError && result.status === 503)).to.have.length(52);
    expect(await check('192.0.2.1'), 'places are given back').to.equal(true);
  });

  it('and one of passwords that a user sets keeps no login waiting, from the same address neither', async () => {
    const hasher = new PasswordHasher(1, CHEAP);
    const hash = await new PasswordHasher(1, CHEAP).hash('Secret', client);
    const done: string[] = [];
    const { signal } = new AbortController();
    const set = Array.from({ length: 100 }, () =>
      hasher.hash('Another', passwordSetter(100, signal)).then(() => done.push('set')),
    );
    const login = hasher.verify('Secret', hash, client).then((valid) => done.push(`login ${String(valid)}`));
    await login;
    expect(done).to.deep.equal(['set', 'set', 'login true']);
    await Promise.all(set);
  });

  it('costs nothing when nobody waits for the password any more', async () => {
    const hasher = new PasswordHasher(1, CHEAP);
    const abort = new AbortController();
    abort.abort(new Error('too late'));
    const failure: unknown = await hasher.hash('x', passwordSetter(1, abort.signal)).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'too late');
    expect(await hasher.verify('x', undefined, client), 'its place is given back').to.equal(false);
  });

  it('costs nothing when it is called off at its turn', async () => {
    const hasher = new PasswordHasher(1, CHEAP);
    const ready = () => {
      throw new Error('blocked');
    };
    const failure: unknown = await hasher.verify('x', undefined, { ...client, ready }).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'blocked');
    expect(await hasher.verify('x', undefined, client)).to.equal(false);
  });
});

describe('random passwords', () => {
  it('meet the rule for passwords', () => {
    for (let count = 0; count < 200; count += 1) {
      const password = randomPassword();
      expect(password).to.have.length(24);
      expect(password)
        .to.match(/[a-z]/)
        .and.match(/[A-Z]/)
        .and.match(/\d/)
        .and.match(/[^A-Za-z0-9]/);
      expect(password).not.to.match(/[\s:'"\\$`]/);
    }
  });
});

describe('authorization header', () => {
  it('is read whatever the case of its scheme', () => {
    expect(parseAuthorization(undefined)).to.equal(undefined);
    expect(parseAuthorization('  ')).to.equal(undefined);
    expect(parseAuthorization('Bearer')).to.deep.equal({ scheme: 'bearer', value: '' });
    expect(parseAuthorization('BASIC  YTpi')).to.deep.equal({ scheme: 'basic', value: 'YTpi' });
    const credentials = (text: string) =>
      basicCredentials({ scheme: 'basic', value: Buffer.from(text).toString('base64') });
    expect(credentials('user:pass:word')).to.deep.equal({ name: 'user', password: 'pass:word' });
    expect(credentials('üser:pä')).to.deep.equal({ name: 'üser', password: 'pä' });
    expect(credentials('nothing')).to.equal(undefined);
    expect(basicCredentials({ scheme: 'basic', value: 'not base64!' })).to.equal(undefined);
  });
});
