import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** PEM texts: the authority that servers' certificates are held against, and a certificate of one's own where servers ask for one. */
export type NatsTlsMaterial = { readonly ca: string; readonly cert?: string; readonly key?: string };

/** As the `tls` option of the NATS client, which hands it to Node. */
export type NatsTls = NatsTlsMaterial & {
  readonly checkServerIdentity: (host: string, certificate: PeerCertificate) => Error | undefined;
};

/**
 * TLS to NATS servers, of version 1.2 at least. The client names the host that it connects to only where that is a name: with
 * addresses Node would look for `localhost` in the certificate. There the certificate must name one of the addresses that
 * servers have, whichever: they are one cluster.
 * @param hosts names and addresses of all servers, IPv6 without brackets
 */
export function natsTls(
  hosts: readonly string[],
  material: NatsTlsMaterial,
): NatsTls & { readonly minVersion: 'TLSv1.2' } {
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const names = new Set(hosts.map((host) => host.toLowerCase()));
  return {
    ...material,
    minVersion: 'TLSv1.2',
    checkServerIdentity: (host, certificate) => {
      const failed = checkServerIdentity(host, certificate);
      if (failed === undefined || names.has(host.toLowerCase())) return failed;
      return addresses.some((address) => checkServerIdentity(address, certificate) === undefined) ? undefined : failed;
    },
  };
}
