import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { isObject } from '../../../../lib/json/is-object.js';
import { known, textOf } from '../host/known.js';
import type { UserHome } from '../host/user-homes.js';
import { extensionRow } from './extension-row.js';

/** Where Firefox keeps its profiles, below a home. */
const DIRECTORIES = [
  '.mozilla/firefox',
  'snap/firefox/common/.mozilla/firefox',
  '.var/app/org.mozilla.firefox/.mozilla/firefox',
];
/** Of a list of extensions: as JSON it may take thirty times as much memory. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Of one home: people have some ten. A file of a few bytes each must not take the room of others in the table. */
const MOST_ADDONS = 5000;

/** Extensions of Firefox, which it lists itself in each profile. */
export function readFirefox(home: UserHome): InventoryRow[] {
  let room = MOST_ADDONS;
  return DIRECTORIES.flatMap((directory) =>
    home.files.names(directory).flatMap((profile) => {
      const path = `${directory}/${profile}`;
      const document = home.files.json(`${path}/extensions.json`, MOST_BYTES);
      const addons = isObject(document) && Array.isArray(document['addons']) ? document['addons'] : [];
      if (addons.length > room) home.files.notes.add('too_many', `${home.path}/${path}`);
      const looked = addons.slice(0, room);
      room -= looked.length;
      return looked.flatMap((addon: unknown) => {
        const columns = firefoxColumns(addon);
        if (columns === undefined) return [];
        return [
          extensionRow({
            ...columns,
            browser_name: 'firefox',
            user_id: String(home.uid),
            browser_profile_name: profile,
            browser_profile_path: `${home.path}/${path}`,
          }),
        ];
      });
    }),
  );
}

/** What the list says of an extension; undefined for what is none. */
export function firefoxColumns(addon: unknown): InventoryRow | undefined {
  if (!isObject(addon) || textOf(addon['id']) === '') return undefined;
  const { defaultLocale, installDate, userPermissions } = addon;
  const locale = isObject(defaultLocale) ? defaultLocale : {};
  const permissions = isObject(userPermissions) ? userPermissions['permissions'] : undefined;
  const wanted = Array.isArray(permissions) ? permissions.filter((one) => typeof one === 'string') : [];
  const hasTime = typeof installDate === 'number' && Number.isFinite(installDate) && installDate > 0;
  return {
    package_name: known(textOf(locale['name']) || textOf(addon['name']) || textOf(addon['id'])),
    package_id: textOf(addon['id']),
    package_version: known(textOf(addon['version'])),
    package_description: known(textOf(locale['description'])),
    package_vendor: known(textOf(locale['creator'])),
    package_path: known(textOf(addon['path'])),
    package_reference: known(textOf(addon['sourceURI'])),
    package_permissions: known(wanted.join(',')),
    package_type: known(textOf(addon['type'])),
    package_enabled: addon['active'] === true ? 1 : 0,
    package_visible: addon['visible'] === true ? 1 : 0,
    package_autoupdate: addon['applyBackgroundUpdates'] === 0 ? 0 : 1,
    package_installed: hasTime ? String(Math.floor(installDate / 1000)) : known(undefined),
  };
}
