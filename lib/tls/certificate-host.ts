import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { normalizeAddress } from '../network/agent-address.js';

/**
 * Whether a certificate was made for the host it came from, agent or manager (agents-and-groups.md 2.1): first the
 * alternative names, then every common name.
 * @param address IPv4 or IPv6, or a host name
 */
export function certificateNames(certificate: X509Certificate, address: string): boolean {
  if (isIP(address) !== 0 && certificate.checkIP(address) !== undefined) return true;
  const names = [...alternativeDnsNames(certificate.subjectAltName), ...commonNames(certificate.subject)];
  return names.some((name) => sameLabels(name, address) || sameAddress(name, address));
}

/**
 * DNS names of the text Node makes of the extension. A name with unusual characters is put in quotes there, so that it
 * cannot look like two: no such name is the one of a host.
 */
function alternativeDnsNames(text: string | undefined): string[] {
  return (text ?? '').split(', ').flatMap((entry) => /^DNS:([^"]+)$/.exec(entry)?.[1] ?? []);
}

/** Lines `CN=name`; a value over several lines or with an escape is no name of a host. */
function commonNames(subject: string): string[] {
  return subject.split('\n').flatMap((line) => /^CN=([^\\"]+)$/.exec(line)?.[1] ?? []);
}

/** IPv6 addresses can be written in many ways. */
function sameAddress(name: string, address: string): boolean {
  return isIP(name) !== 0 && isIP(address) !== 0 && normalizeAddress(name) === normalizeAddress(address);
}

/** Label by label without regard to case; `*` stands for the first label as a whole. */
function sameLabels(pattern: string, name: string): boolean {
  const labels = name.toLowerCase().split('.');
  const patterns = pattern.toLowerCase().split('.');
  return (
    labels.length === patterns.length &&
    patterns.every((label, at) => label === labels[at] || (at === 0 && label === '*' && labels[at] !== ''))
  );
}
