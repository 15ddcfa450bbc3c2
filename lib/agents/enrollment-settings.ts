import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { isAgentName } from '../agentlink/agent-identity.js';
import { enrollmentKeyHash } from '../agentlink/agent-key.js';
import { ClientKeysFile } from '../agentlink/client-keys-file.js';
import { ifPresentSync } from '../files/if-present.js';
import type { Home } from '../home/home.js';
import { describeError } from '../log/describe-error.js';
import { COMPATIBILITY_VERSION } from '../product/version.js';
import { tlsVersions } from '../tls/tls-versions.js';
import { EnrollmentError, type EnrollmentRequest } from './enrollment-client.js';

/** Port of enrolment (agents-and-groups.md 2.1). */
export const ENROLLMENT_PORT = 1515;
/** Ciphers offered unless told otherwise. */
export const ENROLLMENT_CIPHERS = 'HIGH:!ADH:!EXP:!MD5:!RC4:!3DES:!CAMELLIA:@STRENGTH';
/** File whose first line is the password, when it is there. */
export const PASSWORD_FILE = 'etc/authd.pass';
/** First line of the password file that is looked at (2.2). */
const MAX_PASSWORD_BYTES = 4095;

/** How an agent presents itself; what is absent has its default. Files are paths, relative ones below the home. */
export type EnrollmentIdentity = {
  readonly name?: string | undefined;
  readonly groups?: string | undefined;
  readonly address?: string | undefined;
  readonly useSourceIp?: boolean | undefined;
  readonly password?: string | undefined;
  readonly passwordFile: string;
};

/** Files and versions of the channel. */
export type EnrollmentTls = {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly ciphers: string;
  readonly anyVersion: boolean;
};

/** The request of this home: with the hash of its key when it has one (2.7). @throws EnrollmentError; KeyFileError */
export async function enrollmentRequest(home: Home, identity: EnrollmentIdentity): Promise<EnrollmentRequest> {
  const name = identity.name ?? defaultAgentName(hostname());
  if (!isAgentName(name)) throw new EnrollmentError(`Invalid agent name: '${name}'.`);
  if (identity.address !== undefined && identity.useSourceIp === true) {
    throw new EnrollmentError('An address and the address of the connection exclude each other.');
  }
  const { agents } = await new ClientKeysFile(home.path('etc', 'client.keys')).read();
  const [own] = agents;
  return {
    name,
    version: `v${COMPATIBILITY_VERSION}`,
    groups: identity.groups,
    address: identity.useSourceIp === true ? 'src' : identity.address,
    password: identity.password ?? readPassword(home, identity.passwordFile),
    keyHash: own === undefined ? undefined : enrollmentKeyHash(own.id, own.name, own.rawKey),
  };
}

/** Options of the channel, with the files read. @throws EnrollmentError naming the file */
export function enrollmentTls(home: Home, tls: EnrollmentTls): ConnectionOptions {
  const { ca, certificate, key } = tls;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new EnrollmentError('A certificate of the agent and its key belong together.');
  }
  const read = (file: string): Buffer => {
    try {
      return readFileSync(isAbsolute(file) ? file : home.path(file));
    } catch (error) {
      throw new EnrollmentError(`Unable to read '${file}': ${describeError(error)}`, { cause: error });
    }
  };
  return {
    ...tlsVersions(tls.ciphers, tls.anyVersion),
    ...(ca === undefined ? {} : { ca: read(ca) }),
    ...(certificate === undefined || key === undefined ? {} : { cert: read(certificate), key: read(key) }),
  };
}

/** A host's name as an agent's: invalid characters are left out (2.7). */
export function defaultAgentName(host: string): string {
  return host.replace(/[^A-Za-z0-9_.-]/g, '').replace(/^\.+/, '');
}

/** The first line of the file; undefined without a file. @throws EnrollmentError */
function readPassword(home: Home, file: string): string | undefined {
  const path = isAbsolute(file) ? file : home.path(file);
  let text: string | undefined;
  try {
    text = ifPresentSync(() => readFileSync(path, 'latin1'));
  } catch (error) {
    throw new EnrollmentError(`Unable to read '${file}': ${describeError(error)}`, { cause: error });
  }
  if (text === undefined) return undefined;
  const line = (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
  if (line === '' || line.length > MAX_PASSWORD_BYTES) {
    throw new EnrollmentError(`The first line of '${file}' is no password: 1 to ${MAX_PASSWORD_BYTES} bytes are.`);
  }
  return line;
}
