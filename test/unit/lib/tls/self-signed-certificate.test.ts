import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureSelfSignedCertificate } from '../../../../lib/tls/self-signed-certificate.js';

describe('ensureSelfSignedCertificate', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('makes a key and a certificate that belong together, once', async () => {
    const files = { key: join(directory, 'ssl', 'server.key'), certificate: join(directory, 'ssl', 'server.crt') };
    const lines: string[] = [];
    const logger = { info: (line: string) => void lines.push(line) };
    const now = new Date('2026-01-02T03:04:05Z');

    expect(await ensureSelfSignedCertificate(files, logger, now)).to.equal(true);

    const certificate = new X509Certificate(readFileSync(files.certificate));
    const key = createPrivateKey(readFileSync(files.key));
    expect(certificate.checkPrivateKey(key)).to.equal(true);
    expect(key.asymmetricKeyDetails).to.include({ modulusLength: 2048, publicExponent: 65537n });
    expect(certificate.subjectAltName).to.match(/^DNS:localhost, IP Address:127\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1/);
    expect(new Date(certificate.validFrom).toISOString()).to.equal('2026-01-02T03:04:05.000Z');
    expect(new Date(certificate.validTo).toISOString()).to.equal('2027-01-02T03:04:05.000Z');
    expect(certificate.verify(certificate.publicKey)).to.equal(true);
    expect(statSync(files.key).mode & 0o777).to.equal(0o400);
    expect(statSync(files.certificate).mode & 0o777).to.equal(0o640);
    expect(lines).to.have.length(3);

    const before = readFileSync(files.key, 'utf8');
    expect(await ensureSelfSignedCertificate(files, logger, now)).to.equal(false);
    expect(readFileSync(files.key, 'utf8')).to.equal(before);
  });

  it('makes both anew when one is missing', async () => {
    const files = { key: join(directory, 'server.key'), certificate: join(directory, 'server.crt') };
    await ensureSelfSignedCertificate(files, { info: () => {} });
    unlinkSync(files.key);
    expect(await ensureSelfSignedCertificate(files, { info: () => {} })).to.equal(true);
    const certificate = new X509Certificate(readFileSync(files.certificate));
    expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key)))).to.equal(true);
  });
});
