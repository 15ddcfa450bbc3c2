import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { certificateCommand } from '../../../../bin/control/certificate-command.js';
import { runControl } from '../../../../bin/control/control-command.js';
import { ControlOutput } from '../../../../bin/control/control-output.js';
import { productCatalogue } from '../../../../lib/control/daemon-catalogue.js';
import { ensureSelfSignedCertificate } from '../../../../lib/tls/self-signed-certificate.js';
import { TemporaryHome } from '../../../support/temporary-home.js';
import { testCertificate } from '../../../support/tls/test-certificates.js';

const MADE = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

describe('svc-control certificate', () => {
  let home: TemporaryHome;
  let files: { readonly key: string; readonly certificate: string };

  beforeEach(async () => {
    home = new TemporaryHome();
    mkdirSync(home.path('api', 'configuration', 'ssl'), { recursive: true });
    const ssl = (name: string) => home.path('api', 'configuration', 'ssl', name);
    files = { key: ssl('server.key'), certificate: ssl('server.crt') };
    await ensureSelfSignedCertificate(files, { info: () => {} }, new Date(MADE));
  });
  afterEach(() => home.remove());

  const run = async (days: number, renew = false, json = false) => {
    let text = '';
    const output = new ControlOutput(
      json,
      (line) => (text += line),
      () => {},
    );
    const parts = { home, record: { version: 1, role: 'server' } as const, output, now: () => MADE + days * DAY_MS };
    return { code: await certificateCommand(parts, renew), text };
  };

  it('shows whom it is for and when it ends, and tells by its exit code that it ends soon', async () => {
    const { code, text } = await run(1);
    expect(code).to.equal(0);
    expect(text).to.include(`Certificate  ${files.certificate}\n`);
    expect(text).to.match(/^Subject {6}C=DE, .*CN=security-manager$/m);
    expect(text).to.include('Issuer       itself (self-signed)\n');
    expect(text).to.match(/^Names {8}DNS:localhost, IP Address:127\.0\.0\.1/m);
    expect(text).to.include('Valid        from 2026-01-01, ends on 2027-01-01, in 364 days\n');
    const late = await run(340);
    expect(late.code).to.equal(1);
    expect(late.text).to.match(/\nRenew it with: svc-control certificate --renew\n$/);
    const data = (JSON.parse((await run(1, false, true)).text) as { data: unknown }).data;
    expect(data).to.include({
      self_signed: true,
      days_left: 364,
      valid_to: '2027-01-01T00:00:00.000Z',
      renewed: false,
    });
  });

  it('is a command that is typed, with its option', async () => {
    writeFileSync(home.path('etc', 'home.json'), JSON.stringify({ version: 1, role: 'server' }));
    let text = '';
    const write = (line: string) => (text += line);
    const environment = { catalogue: productCatalogue(), write, writeError: write, terminal: false };
    expect(await runControl(['certificate', '--renew', '--home', home.root], environment), text).to.equal(0);
    expect(text).to.include(`Certificate  ${files.certificate} (new)\n`);
    text = '';
    expect(await runControl(['certificate', '--home', home.root], environment), text).to.equal(0);
    expect(text).to.include(`Certificate  ${files.certificate}\n`);
  });

  it('makes a new one for the same key, which the group may read', async () => {
    const key = readFileSync(files.key, 'utf8');
    const { code, text } = await run(340, true);
    expect(code).to.equal(0);
    expect(text).to.include('ends on 2027-12-07, in 365 days\n');
    expect(text).to.match(
      /\nsvc-apid takes it at its next start\. Clients that know the old one need the new file\.\n$/,
    );
    expect(readFileSync(files.key, 'utf8')).to.equal(key);
    expect(new Date(new X509Certificate(readFileSync(files.certificate)).validTo).getTime()).to.be.above(
      MADE + 700 * DAY_MS,
    );
    expect((statSync(files.certificate).mode & 0o777).toString(8)).to.equal('640');
    expect((statSync(files.key).mode & 0o777).toString(8)).to.equal('400');
  });

  it('leaves what an authority made, and says what is missing', async () => {
    const message = (promise: Promise<unknown>) =>
      promise.then(
        () => undefined,
        (reason: unknown) => (reason as Error).message,
      );
    const issuer = testCertificate({ commonName: 'authority' });
    writeFileSync(files.certificate, testCertificate({ commonName: 'localhost', issuer }).cert);
    expect(await message(run(1, true))).to.match(
      /is from CN=authority: put a new one of it in its place, then reload$/,
    );
    writeFileSync(home.path('api/configuration/api.yaml'), 'https:\n  cert: other.crt\n');
    expect(await message(run(1))).to.match(/other\.crt' is not there yet: svc-apid makes it at its first start$/);
    writeFileSync(home.path('api/configuration/api.yaml'), 'https:\n  enabled: no\n');
    expect(await message(run(1))).to.equal('the API speaks plain HTTP (https.enabled in api/configuration/api.yaml)');
  });

  it('shares one that an earlier version made for its owner alone', async () => {
    chmodSync(files.certificate, 0o400);
    expect(await ensureSelfSignedCertificate(files, { info: () => {} })).to.equal(false);
    expect((statSync(files.certificate).mode & 0o777).toString(8)).to.equal('640');
  });
});
