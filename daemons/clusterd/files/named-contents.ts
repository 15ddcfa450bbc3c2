import type { FileRecords } from './file-records.js';
import type { SetContents, SetRecord } from './set-contents.js';
import { RULESET, type SetPlace } from './set-place.js';

/**
 * All contents that sets in force and the candidate name.
 * @throws BusError, ManifestError, MissingContentError: it is not known then
 */
export async function namedContents(
  records: FileRecords,
  contents: SetContents,
  placeOf: (key: string) => SetPlace | undefined,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const add = async (key: string, record: SetRecord | undefined): Promise<void> => {
    const place = placeOf(key);
    if (place === undefined || record === undefined) return;
    if (record.blob !== undefined) names.add(record.blob);
    for (const { sha256 } of (await contents.manifest(place, record)).values()) names.add(sha256);
  };
  for (const key of records.sets()) await add(key, records.inForce(key)?.record);
  await add(RULESET, records.ruleset().candidate?.value);
  return names;
}
