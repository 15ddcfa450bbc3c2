import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Home } from '../../../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../../../lib/home/home-record.js';
import { resolveHome } from '../../../../lib/home/resolve-home.js';
import { describeError } from '../../../../lib/log/describe-error.js';

describe('home record', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-record-'));
    mkdirSync(join(directory, 'etc'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const read = (text?: string) => {
    if (text !== undefined) writeFileSync(join(directory, 'etc', 'home.json'), text);
    return readHomeRecord(new Home(directory));
  };

  it('is read with role and owner', () => {
    expect(read('{"version":1,"role":"agent"}')).to.deep.equal({ version: 1, role: 'agent' });
    expect(read('{"version":1,"role":"server","user":"svc","group":"svc","uid":7,"gid":8}').uid).to.equal(7);
  });

  for (const [what, text, message] of [
    ['a directory without one', undefined, /is not a home \(make one with: svc-control init --home /],
    ['broken JSON', '{', /home\.json' is not valid JSON/],
    ['too many bytes', ' '.repeat(20_000), /^the home cannot be read: '[^']*home\.json' has 20000 bytes$/],
    ['another role', '{"version":1,"role":"boss"}', /home\.json': role: /],
    ['an unknown member', '{"version":1,"role":"server","x":1}', /home\.json': /],
    ['a record of a later version', '{"version":2,"role":"server"}', /home\.json': version: /],
  ] as const) {
    it(`refuses ${what} with one line`, () => {
      expect(() => read(text))
        .to.throw(HomeError, message)
        .with.property('message')
        .that.does.not.include('\n');
    });
  }

  it('refuses a path in which a socket could not be bound', () => {
    const longest = (length: number) => new Home(`/${'x'.repeat(length - 1)}`);
    // '/var/run/svc-logcollector.sock' takes 30 of the 107 bytes.
    expect(() => readHomeRecord(longest(77))).to.throw(HomeError, /is not a home/);
    expect(() => readHomeRecord(longest(78))).to.throw(
      HomeError,
      /too long for a home: .* 108 bytes, the limit is 107/,
    );
  });
});

describe('resolveHome', () => {
  it('takes the option, then SVC_HOME, then the place of the product', () => {
    expect(resolveHome('/a', { SVC_HOME: '/b' }).root).to.equal('/a');
    expect(resolveHome(undefined, { SVC_HOME: '/b' }).root).to.equal('/b');
    expect(resolveHome(undefined, { SVC_HOME: '' }).root).to.match(/\/\.home$/);
  });
});

describe('describeError', () => {
  it('puts system errors in words', () => {
    const error = (members: object) => Object.assign(new Error('raw'), members);
    expect(describeError(error({ code: 'EADDRINUSE', address: '::', port: 1514 }))).to.equal(
      ':: port 1514 is already in use by another process',
    );
    expect(describeError(error({ code: 'EACCES', path: '/x' }))).to.equal('/x: permission denied');
    expect(describeError(error({ code: 'ENOSPC', path: '/x' }))).to.equal('/x: no space left on device');
    expect(describeError(new Error('one\ntwo'))).to.equal('one');
    expect(describeError('text')).to.equal('text');
  });
});
