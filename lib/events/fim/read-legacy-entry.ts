import { readLegacyFim, readLegacySum, readRegistryKey } from './legacy-fim.js';
import { type FimChange, wholeNumber } from './read-entry.js';

/**
 * Reads an event in the text form of agents before 3.11 (integrity-and-inventory.md 4.5); the sum stands for the checksum.
 * @param seconds when it was received
 * @returns undefined when it is malformed
 */
export function readLegacyEvent(message: Uint8Array, seconds: number): FimChange | undefined {
  const read = readLegacyFim(Buffer.from(message.buffer, message.byteOffset, message.length).toString('latin1'));
  if (read === undefined) return undefined;
  if (read.kind === 'scan') return { kind: 'scan', mark: read.mark, time: seconds };
  const registry = readRegistryKey(read.path);
  const component = registry === undefined ? 'fim_file' : 'fim_registry_key';
  const path = Buffer.from(read.path, 'latin1');
  if (read.sum === undefined) return { kind: 'deleted', component, path };
  const sum = readLegacySum(read.sum);
  const text = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : Buffer.from(value, 'latin1').toString('utf8');
  return {
    kind: 'seen',
    component,
    path,
    columns: {
      checksum: text(read.sum) ?? '',
      date: seconds,
      type: component === 'fim_file' ? 'file' : 'registry_key',
      file: component === 'fim_file' ? undefined : path.toString('utf8'),
      arch: registry?.arch,
      size: wholeNumber(sum.size),
      perm: text(sum.perm),
      uid: text(sum.uid),
      gid: text(sum.gid),
      md5: text(sum.md5),
      sha1: text(sum.sha1),
      sha256: text(sum.sha256),
      uname: text(sum.uname),
      gname: text(sum.gname),
      attributes: text(sum.win_attributes),
      symbolicPath: text(read.extra.symbolic_path),
      mtime: wholeNumber(sum.mtime),
      inode: wholeNumber(sum.inode),
    },
  };
}
