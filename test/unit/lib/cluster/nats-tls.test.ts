import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { natsTls } from '../../../../lib/cluster/nats-tls.js';
import { testCertificate } from '../../../support/tls/test-certificates.js';

const peer = (ips: readonly string[], dns: readonly string[] = []) =>
  new X509Certificate(testCertificate({ commonName: 'n', ips, dns }).cert).toLegacyObject() as never;

describe('TLS to NATS servers', () => {
  const { checkServerIdentity: check, minVersion } = natsTls(['10.0.0.1', '2001:db8::1', 'nats.example.org'], {
    ca: '',
  });

  it('takes a certificate for one of the addresses, where the client does not say which', () => {
    // Without a name Node asks for this one.
    expect(check('localhost', peer(['10.0.0.1']))).to.equal(undefined);
    expect(check('localhost', peer(['2001:db8::1']))).to.equal(undefined);
    expect(check('localhost', peer(['10.0.0.2']))).to.be.an('error');
    expect(check('localhost', peer([], ['nats.example.org']))).to.be.an('error');
    expect(minVersion).to.equal('TLSv1.2');
  });

  it('takes for a named host only a certificate of that name', () => {
    expect(check('nats.example.org', peer([], ['nats.example.org']))).to.equal(undefined);
    expect(check('NATS.example.org', peer(['10.0.0.1'], ['other.example.org']))).to.be.an('error');
  });
});
