import { chmodSync, mkdtempSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { type ApiSession, SessionError, SessionStore } from '../../../../bin/api/session-store.js';
import { ApiUsageError } from '../../../../bin/api/usage-error.js';
import { removeTree } from '../../../support/remove-tree.js';

const SESSION: ApiSession = {
  version: 1,
  user: 'maria',
  token: 'a.b.c',
  api: { kind: 'url', url: 'https://manager1:55000', trust: { kind: 'certificate', fingerprint: 'AA:BB' } },
  initial: false,
};

describe('logins that svc-api keeps', () => {
  let state: string;
  let store: SessionStore;
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), 'svc-api-'));
    store = new SessionStore('default', { XDG_STATE_HOME: state });
  });
  afterEach(() => {
    removeTree(state);
  });

  it('are for their user alone', () => {
    expect(store.read()).to.equal(undefined);
    store.write(SESSION);
    expect(store.read()).to.deep.equal(SESSION);
    expect(statSync(store.path).mode & 0o777).to.equal(0o600);
    expect(statSync(dirname(store.path)).mode & 0o777).to.equal(0o700);
    store.remove();
    expect(store.read()).to.equal(undefined);
  });

  it('lie below the home of the user where nothing else is said', () => {
    const path = join(state, '.local/state/security-manager/api-sessions/default.json');
    expect(new SessionStore('default', { HOME: state }).path).to.equal(path);
    // The specification of these directories has relative paths ignored.
    expect(new SessionStore('default', { HOME: state, XDG_STATE_HOME: 'here' }).path).to.equal(path);
  });

  it('are refused when others could have read or written them', () => {
    for (const mode of [0o640, 0o604, 0o620]) {
      store.write(SESSION);
      chmodSync(store.path, mode);
      expect(() => store.read(), mode.toString(8)).to.throw(SessionError, 'can be read or written by others');
    }
    store.write(SESSION);
    renameSync(store.path, join(state, 'elsewhere'));
    symlinkSync(join(state, 'elsewhere'), store.path);
    expect(() => store.read()).to.throw(SessionError, 'is a link');
  });

  it('are refused when they are damaged', () => {
    store.write(SESSION);
    for (const text of ['', '{', '{"version":2}', readFileSync(store.path, 'utf8').replace('"url"', '"nowhere"')]) {
      writeFileSync(store.path, text, { mode: 0o600 });
      expect(() => store.read(), text).to.throw(SessionError, 'is damaged');
    }
  });

  it('have names that lead nowhere else', () => {
    for (const name of ['', '.', '..', '../x', 'a/b', '-x', 'x'.repeat(65)]) {
      expect(() => new SessionStore(name, {}), name).to.throw(ApiUsageError, 'no name of a session');
    }
  });
});
