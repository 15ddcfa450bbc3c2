import { X509Certificate } from 'node:crypto';
import { loadApiConfig } from '../../lib/config/load-api-config.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import { isErrno } from '../../lib/files/is-errno.js';
import { readFileBelow } from '../../lib/files/read-below.js';
import type { Home } from '../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import { type ApiTrust, SessionError } from './session-store.js';

/** User of the initial password (rest-api.md 2.5). */
export const INITIAL_USER = 'admin';
const INITIAL_PASSWORD = 'api/configuration/security/initial-admin-password';
const MAX_PASSWORD_BYTES = 1024;
const MAX_CERTIFICATE_BYTES = 262_144;

/** Where the API is, and how it is recognised. */
export type ApiEndpoint = {
  readonly url: URL;
  readonly trust: ApiTrust;
  /** Its home, where that is on this host. */
  readonly home?: Home;
};

/**
 * The API of a manager on this host: address, port and certificate as its home has them.
 * @throws SessionError when there is no manager here, or this user may not look into its home
 */
export function homeEndpoint(home: Home): ApiEndpoint {
  const elsewhere = 'For an API on another host: svc-api login --url https://HOST:55000';
  try {
    if (readHomeRecord(home).role !== 'server') throw new SessionError(`this host has an agent, no API. ${elsewhere}`);
    const { https, host: hosts, port: configured } = loadApiConfig(home).config;
    const record = readRunRecord(new RunFiles(home, 'svc-apid').record());
    const bound = record?.addresses['api'];
    const host = reachable(bound?.address ?? hosts[0] ?? '127.0.0.1');
    const url = new URL(`${https.enabled ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}`);
    url.port = String(bound?.port ?? configured);
    if (!https.enabled) return { url, trust: { kind: 'loopback' }, home };
    const pem = readFileBelow(home.root, `api/configuration/ssl/${https.cert}`, MAX_CERTIFICATE_BYTES);
    return { url, trust: { kind: 'certificate', fingerprint: new X509Certificate(pem).fingerprint256 }, home };
  } catch (error) {
    if (error instanceof HomeError) throw new SessionError(`${error.message}. ${elsewhere}`);
    if (isErrno(error, 'EACCES', 'EPERM')) {
      throw new SessionError(
        `this user may not look into '${home.root}': name the API: svc-api login --url https://localhost:55000`,
      );
    }
    if (isErrno(error, 'ENOENT')) {
      throw new SessionError(`'${home.root}' has no certificate yet: svc-apid makes it at its first start`);
    }
    if (error instanceof SessionError) throw error;
    throw new SessionError(`the API of '${home.root}' is not known: ${describeError(error)}`);
  }
}

/**
 * The password that the first user was given, while its file is there and this user may read it. No link is followed: root
 * would send what a link of the service user leads to.
 */
export function initialPassword(home: Home): string | undefined {
  try {
    const text = readFileBelow(home.root, INITIAL_PASSWORD, MAX_PASSWORD_BYTES).toString('utf8');
    return text.replace(/\r?\n$/, '') || undefined;
  } catch {
    return undefined;
  }
}

/** What listens everywhere is reached on the loopback address. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}
