import { createHash, hash } from 'node:crypto';
import { type ManifestFile, manifestFiles, MAX_SET_FILES } from '../../../lib/cluster/record-kinds.js';
import { isPathOf, type SetPlace } from './set-place.js';

/** All files of a set together, bytes: stops a manifest that would fill the disks of all nodes. */
const MAX_SET_BYTES = 512 * 1024 * 1024;

/** Files of a set by path, in the order of the paths. */
export type Manifest = ReadonlyMap<string, ManifestFile>;

/** What cannot be a manifest. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/**
 * A manifest from its files, whoever wrote it down.
 * @throws ManifestError for a path that leads out of the set, or names what no set has; for too much
 */
export function manifestOf(place: SetPlace, files: readonly ManifestFile[]): Manifest {
  const manifest = new Map<string, ManifestFile>();
  let bytes = 0;
  for (const { path, sha256, size } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (!isPathOf(place, path)) throw new ManifestError(`${place.key}: ${JSON.stringify(path)} is no path of the set`);
    if (manifest.has(path)) throw new ManifestError(`${place.key}: ${path} is there twice`);
    manifest.set(path, { path, sha256, size });
    bytes += size;
  }
  if (manifest.size > MAX_SET_FILES) throw new ManifestError(`${place.key}: more than ${String(MAX_SET_FILES)} files`);
  if (bytes > MAX_SET_BYTES) throw new ManifestError(`${place.key}: more than ${String(MAX_SET_BYTES)} bytes`);
  for (const path of manifest.keys()) {
    const folder = foldersOf(path).find((above) => manifest.has(above));
    if (folder !== undefined) throw new ManifestError(`${place.key}: ${folder} is a file and a folder`);
  }
  return manifest;
}

/** Manifests with the same paths and contents have the same. */
export function manifestId(manifest: Manifest): string {
  const sum = createHash('sha256');
  for (const path of [...manifest.keys()].sort()) sum.update(`${path}\0${manifest.get(path)?.sha256 ?? ''}\n`);
  return sum.digest('hex');
}

/** The folders that a path lies in, the nearest last. */
export function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
}

/** A manifest as a content of its own. */
export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(JSON.stringify([...manifest.values()]));
}

/** @throws ManifestError, ZodError, SyntaxError */
export function decodeManifest(place: SetPlace, bytes: Buffer): Manifest {
  return manifestOf(place, manifestFiles.parse(JSON.parse(bytes.toString('utf8'))));
}

export function sha256Of(content: Buffer): string {
  return hash('sha256', content);
}
