import type { FilesRecord } from '../../../lib/cluster/record-kinds.js';
import type { BlobStore } from './blob-store.js';
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  ManifestError,
  manifestId,
  manifestOf,
  sha256Of,
} from './manifest.js';
import { type LocalFile, readLocal } from './scan-set.js';
import type { SetPlace } from './set-place.js';

/** A manifest that takes more than this in a record is a content of its own, bytes; a record has 256 KiB at most. */
const MAX_INLINE_BYTES = 128 * 1024;

/** What a record says of a set: `files`, or `candidate`. */
export type SetRecord = Pick<FilesRecord, 'node' | 'id' | 'files' | 'blob'>;

/** A content that the cluster has not, although a manifest names it; who has it brings it again. */
class MissingContentError extends Error {
  override readonly name = 'MissingContentError';
}

/** Brings files of sets to the cluster and takes them from there. */
export class SetContents {
  readonly #blobs: BlobStore;
  readonly #self: string;

  constructor(blobs: BlobStore, self: string) {
    this.#blobs = blobs;
    this.#self = self;
  }

  /**
   * Brings the contents that the cluster has not.
   * @param files as they are here
   * @param known contents that it has for sure
   * @returns undefined when a file changed meanwhile
   * @throws BusError `cluster_unavailable`; ManifestError for what cannot be shared; the file system's error
   */
  async bring(
    place: SetPlace,
    files: ReadonlyMap<string, LocalFile>,
    known: Manifest | undefined,
  ): Promise<SetRecord | undefined> {
    const manifest = manifestOf(place, [...files.values()]);
    const there = new Set([...(known?.values() ?? [])].map(({ sha256 }) => sha256));
    for (const file of files.values()) {
      if (there.has(file.sha256) || (await this.#blobs.has(file.sha256))) continue;
      const content = await readLocal(place, file);
      if (content === undefined || sha256Of(content) !== file.sha256) return undefined;
      await this.#blobs.put(file.sha256, content);
      there.add(file.sha256);
    }
    const record = { node: this.#self, id: manifestId(manifest) };
    const encoded = encodeManifest(manifest);
    if (encoded.length <= MAX_INLINE_BYTES) return { ...record, files: [...manifest.values()] };
    const blob = sha256Of(encoded);
    if (!(await this.#blobs.has(blob))) await this.#blobs.put(blob, encoded);
    return { ...record, blob };
  }

  /**
   * The manifest of a record.
   * @throws BusError `cluster_unavailable`; MissingContentError; ManifestError when it is not what it says it is
   */
  async manifest(place: SetPlace, { id, files, blob }: SetRecord): Promise<Manifest> {
    const manifest =
      blob === undefined ? manifestOf(place, files ?? []) : decodeManifest(place, await this.#content(place, blob));
    if (manifestId(manifest) !== id) throw new ManifestError(`${place.key}: the manifest is not the one of its record`);
    return manifest;
  }

  /**
   * The content of a path.
   * @throws BusError `cluster_unavailable`; MissingContentError; Error when it is not what its name says
   */
  file(place: SetPlace, path: string, manifest: Manifest): Promise<Buffer> {
    const entry = manifest.get(path);
    if (entry === undefined) throw new ManifestError(`${place.key}: ${path} is not in the manifest`);
    return this.#content(place, entry.sha256, path);
  }

  async #content(place: SetPlace, name: string, path = 'the manifest'): Promise<Buffer> {
    const content = await this.#blobs.get(name);
    if (content === undefined) throw new MissingContentError(`${place.key}: the content of ${path} is missing`);
    if (sha256Of(content) !== name) throw new ManifestError(`${place.key}: the content of ${path} is another one`);
    return content;
  }
}
