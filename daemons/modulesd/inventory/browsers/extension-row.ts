import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { UNKNOWN } from '../host/known.js';

/** A row of table `browser_extensions` of which nothing is known. */
const NOTHING_KNOWN: InventoryRow = {
  browser_name: UNKNOWN,
  user_id: UNKNOWN,
  package_name: UNKNOWN,
  package_id: UNKNOWN,
  package_version: UNKNOWN,
  package_description: UNKNOWN,
  package_vendor: UNKNOWN,
  package_build_version: UNKNOWN,
  package_path: UNKNOWN,
  browser_profile_name: UNKNOWN,
  browser_profile_path: UNKNOWN,
  package_reference: UNKNOWN,
  package_permissions: UNKNOWN,
  package_type: 'extension',
  package_enabled: 0,
  package_visible: 0,
  package_autoupdate: 0,
  package_persistent: 0,
  package_from_webstore: 0,
  // The profile that it stands in has it.
  browser_profile_referenced: 1,
  package_installed: UNKNOWN,
  file_hash_sha256: UNKNOWN,
};

/** A row with what is known of an extension. */
export function extensionRow(columns: InventoryRow): InventoryRow {
  return { ...NOTHING_KNOWN, ...columns };
}
