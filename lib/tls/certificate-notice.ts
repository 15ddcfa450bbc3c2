import { X509Certificate } from 'node:crypto';

const DAY_MS = 86_400_000;

/** Days before its end from which a certificate is warned of. */
export const WARNING_DAYS = 30;

/** What people have to know of a certificate. */
export type CertificateFacts = {
  readonly subject: string;
  readonly issuer: string;
  readonly selfSigned: boolean;
  /** DNS names and addresses it is for, as OpenSSL writes them. */
  readonly names: readonly string[];
  readonly from: Date;
  readonly end: Date;
};

/** @param pem certificate, or the first of a chain @throws Error when it is none */
export function certificateFacts(pem: string | Buffer): CertificateFacts {
  const certificate = new X509Certificate(pem);
  const oneLine = (name: string) => name.split('\n').join(', ');
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    selfSigned: certificate.subject === certificate.issuer,
    names: (certificate.subjectAltName ?? '').split(', ').filter((name) => name !== ''),
    from: new Date(certificate.validFrom),
    end: new Date(certificate.validTo),
  };
}

/** Whole days until the certificate ends; negative when it has. @param now milliseconds since 1970 */
export function daysLeft({ end }: CertificateFacts, now: number): number {
  return Math.floor((end.getTime() - now) / DAY_MS);
}

/** When it ends, in words: `ends on 2027-11-23, in 364 days`. */
export function endInWords(facts: CertificateFacts, now: number): string {
  const days = daysLeft(facts, now);
  const date = facts.end.toISOString().slice(0, 10);
  if (facts.end.getTime() <= now) return `ended on ${date}`;
  return `ends on ${date}, ${days === 0 ? 'within a day' : `in ${days} ${days === 1 ? 'day' : 'days'}`}`;
}
