import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { parseNatsAddress } from '../../../lib/config/nats-address.js';
import { readRunFile } from '../../../lib/files/read-run-file.js';
import { describeError } from '../../../lib/log/describe-error.js';

/** What is in the folder of a member for its manager, below it. */
export const NODE_FILES = { cluster: 'cluster.json', ca: 'ca.pem', credential: 'node.nk', server: 'server' } as const;

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, 'is no name');

/** `cluster.json`: what a manager is told of its cluster. */
const nodeClusterSchema = z.strictObject({
  version: z.literal(1),
  cluster: name,
  node: name,
  key: z.string().regex(/^[A-Za-z0-9]{32}$/, 'must be 32 letters and digits'),
  urls: z.array(z.string().refine((url) => parseNatsAddress(url)?.tls === true, 'is no tls://HOST:PORT')).min(1),
  nodes: z.array(z.strictObject({ name, host: z.string() })),
});
export type NodeCluster = z.output<typeof nodeClusterSchema>;

/** A member's folder, read. */
export type NodeFolder = { readonly cluster: NodeCluster; readonly ca: string; readonly credential: string };

/** The seed of a user's NKey. */
const SEED = /^SU[A-Z2-7]{56}$/;

/** @throws Error that names the file and says what is wrong with it; secrets are not repeated */
export function readNodeFolder(folder: string): NodeFolder {
  const read = (file: string): string => {
    try {
      return readRunFile(join(folder, file)).text;
    } catch (error) {
      const hint = 'a folder that svc-control cluster init made for a manager has it';
      throw new Error(`'${join(folder, file)}' cannot be read: ${describeError(error)} (${hint})`, { cause: error });
    }
  };
  const wrong = (file: string, why: string) => new Error(`'${join(folder, file)}': ${why}`);
  const cluster = readCluster(read(NODE_FILES.cluster), (why) => wrong(NODE_FILES.cluster, why));
  const credential = read(NODE_FILES.credential).trim();
  if (!SEED.test(credential)) throw wrong(NODE_FILES.credential, 'it is no seed of an NKey of a user');
  const ca = read(NODE_FILES.ca);
  try {
    if (!new X509Certificate(ca).ca) throw new Error('it is no certificate of an authority');
  } catch (error) {
    throw wrong(NODE_FILES.ca, describeError(error));
  }
  return { cluster, ca, credential };
}

function readCluster(text: string, wrong: (why: string) => Error): NodeCluster {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong('it is no JSON');
  }
  const parsed = nodeClusterSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw wrong(`${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}
