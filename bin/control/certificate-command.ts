import { readFileSync } from 'node:fs';
import { loadApiConfig } from '../../lib/config/load-api-config.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { isErrno } from '../../lib/files/is-errno.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import { dropPrivileges } from '../../lib/process/drop-privileges.js';
import { certificateFacts, daysLeft, endInWords, WARNING_DAYS } from '../../lib/tls/certificate-notice.js';
import { renewSelfSignedCertificate } from '../../lib/tls/self-signed-certificate.js';
import type { ControlOutput } from './control-output.js';
import { liveProcess } from './supervisor/live-process.js';

/** What the command works on. */
export type CertificateParts = {
  readonly home: Home;
  readonly record: HomeRecord;
  readonly output: ControlOutput;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/**
 * `svc-control certificate [--renew]`: shows the certificate of the API (rest-api.md 1.1), or makes a new one for its key.
 * Root does it as the service user, whose files they are.
 * @returns 0; 1 for one that ends within 30 days, so that a script can tell
 * @throws Error with one clear line
 */
export async function certificateCommand(parts: CertificateParts, renew: boolean): Promise<0 | 1> {
  const { home, record, output, now } = parts;
  if (record.role !== 'server') throw new Error('an agent has no API, and so no certificate');
  const { https } = loadApiConfig(home).config;
  if (!https.enabled) throw new Error('the API speaks plain HTTP (https.enabled in api/configuration/api.yaml)');
  dropPrivileges('svc-apid', record, { user: undefined, group: undefined });
  const ssl = (name: string) => home.path('api', 'configuration', 'ssl', name);
  const files = { key: ssl(https.key), certificate: ssl(https.cert) };
  let facts = read(files.certificate);
  if (renew) {
    if (!facts.selfSigned) {
      throw new Error(`'${files.certificate}' is from ${facts.issuer}: put a new one of it in its place, then reload`);
    }
    await renewSelfSignedCertificate(files, new Date(now())).catch((error: unknown) => {
      throw new Error(`no certificate can be made for '${files.key}': ${describeError(error)}`, { cause: error });
    });
    facts = read(files.certificate);
  }
  const days = daysLeft(facts, now());
  const running = liveProcess(new RunFiles(home, 'svc-apid')) !== undefined;
  output.line(`Certificate  ${files.certificate}${renew ? ' (new)' : ''}`);
  output.line(`Subject      ${facts.subject}`);
  output.line(`Issuer       ${facts.selfSigned ? 'itself (self-signed)' : facts.issuer}`);
  output.line(`Names        ${facts.names.join(', ')}`);
  output.line(`Valid        from ${facts.from.toISOString().slice(0, 10)}, ${endInWords(facts, now())}`);
  if (renew) {
    const how = running
      ? 'svc-apid takes it with "svc-control reload svc-apid".'
      : 'svc-apid takes it at its next start.';
    output.line(`${how} Clients that know the old one need the new file.`);
  } else if (days <= WARNING_DAYS) {
    output.line(facts.selfSigned ? 'Renew it with: svc-control certificate --renew' : 'Put a new one in its place.');
  }
  output.document({
    error: 0,
    data: {
      path: files.certificate,
      subject: facts.subject,
      issuer: facts.issuer,
      self_signed: facts.selfSigned,
      names: facts.names,
      valid_from: facts.from.toISOString(),
      valid_to: facts.end.toISOString(),
      days_left: days,
      renewed: renew,
      reload_needed: renew && running,
    },
  });
  return days <= WARNING_DAYS ? 1 : 0;
}

function read(path: string): ReturnType<typeof certificateFacts> {
  try {
    return certificateFacts(readFileSync(path));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      throw new Error(`'${path}' is not there yet: svc-apid makes it at its first start`, { cause: error });
    }
    throw new Error(`'${path}' cannot be used: ${describeError(error)}`, { cause: error });
  }
}
