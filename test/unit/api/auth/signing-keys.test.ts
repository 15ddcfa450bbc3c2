import { createPublicKey, sign, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SigningKeys } from '../../../../api/auth/signing-keys.js';
import { makeTokenKeyPair } from '../../../../lib/security/token-keys.js';

describe('SigningKeys', () => {
  let directory: string;
  let keys: SigningKeys;
  const path = (name: string): string => join(directory, name);

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-keys-'));
    keys = new SigningKeys(path('private_key.pem'), path('public_key.pem'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  /** Whether what the private key signs is what the public key confirms. */
  function belongTogether(): boolean {
    const { privateKey, publicKey } = keys.current();
    const text = Buffer.from('a token');
    return verify('sha512', text, publicKey, sign('sha512', text, privateKey));
  }

  it('makes a pair where there is none, once', async () => {
    expect(() => keys.current()).to.throw('a key file is missing');
    await keys.ensure();
    const made = keys.current();
    expect(belongTogether()).to.equal(true);
    await keys.ensure();
    expect(keys.current(), 'the same pair').to.equal(made);
  });

  it('completes a pair whose renewal was broken off between its two files', async () => {
    await keys.ensure();
    const older = readFileSync(path('public_key.pem'));
    keys.take(await makeTokenKeyPair());
    writeFileSync(path('public_key.pem'), older);
    await keys.ensure();
    expect(belongTogether()).to.equal(true);
    const own = createPublicKey(readFileSync(path('private_key.pem'))).export({ type: 'spki', format: 'pem' });
    expect(readFileSync(path('public_key.pem'), 'utf8')).to.equal(own);
  });

  it('gives the new pair right after a renewal, whatever the times of the files say', async () => {
    await keys.ensure();
    const { publicKey } = keys.current();
    for (let turn = 0; turn < 3; turn += 1) {
      keys.take(await makeTokenKeyPair());
      expect(keys.current().publicKey.equals(publicKey)).to.equal(false);
      expect(belongTogether()).to.equal(true);
    }
  });

  it('refuses to go on with one file, and forgets the pair it had', async () => {
    await keys.ensure();
    keys.current();
    const { privateKey } = keys.current();
    rmSync(path('private_key.pem'));
    // Files are looked at once a turn of the event loop.
    await nextTurn();
    expect(() => keys.current()).to.throw('a key file is missing');
    expect(() => keys.current(), 'not even the second time').to.throw('a key file is missing');
    await keys.ensure();
    await nextTurn();
    expect(keys.current().privateKey.equals(privateKey)).to.equal(false);
    expect(belongTogether()).to.equal(true);
  });
});
