import { createHash } from 'node:crypto';
import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import { isObject } from '../../../../lib/json/is-object.js';
import { known, textOf } from '../host/known.js';
import type { UserHome } from '../host/user-homes.js';
import { extensionRow } from './extension-row.js';

/** Where browsers of this family keep their profiles, below a home. */
const BROWSERS: readonly (readonly [name: string, directory: string])[] = [
  ['chrome', '.config/google-chrome'],
  ['chrome-beta', '.config/google-chrome-beta'],
  ['chrome', '.var/app/com.google.Chrome/config/google-chrome'],
  ['chromium', '.config/chromium'],
  ['chromium', 'snap/chromium/common/chromium'],
  ['brave', '.config/BraveSoftware/Brave-Browser'],
  ['edge', '.config/microsoft-edge'],
  ['opera', '.config/opera'],
  ['vivaldi', '.config/vivaldi'],
];
const MOST_MANIFEST_BYTES = 1024 * 1024;
/** Of the settings of a profile, which have some hundred kilobytes: as JSON they may take thirty times as much memory. */
const MOST_PREFERENCES_BYTES = 8 * 1024 * 1024;
/** Microseconds from 1601 to 1970, from where these browsers count. */
const EPOCH_1601 = 11_644_473_600n;

/** Extensions of the browsers that are made of Chromium. */
export function readChromium(home: UserHome): InventoryRow[] {
  return BROWSERS.flatMap(([browser, directory]) =>
    home.files.names(directory).flatMap((profile) => {
      if (!/^(?:Default|Profile \d{1,6}|Guest Profile)$/.test(profile)) return [];
      return readProfile(home, browser, `${directory}/${profile}`, profile);
    }),
  );
}

function readProfile(home: UserHome, browser: string, path: string, profile: string): InventoryRow[] {
  const extensions = home.files.names(`${path}/Extensions`).filter((id) => /^[a-p]{32}$/.test(id));
  if (extensions.length === 0) return [];
  const settings = ['Secure Preferences', 'Preferences']
    .map((name) => settingsOf(home.files.json(`${path}/${name}`, MOST_PREFERENCES_BYTES), extensions))
    .reduce((all, one) => new Map([...one, ...all]));
  return extensions.flatMap((id) =>
    home.files.names(`${path}/Extensions/${id}`).flatMap((version) => {
      const directory = `${path}/Extensions/${id}/${version}`;
      const bytes = home.files.read(`${directory}/manifest.json`, MOST_MANIFEST_BYTES);
      const manifest = bytes === undefined ? undefined : parsed(bytes);
      if (bytes === undefined || manifest === undefined) return [];
      const messages = messagesOf(home, directory, manifest);
      const columns = chromiumColumns(manifest, messages, settings.get(id));
      return [
        extensionRow({
          ...columns,
          browser_name: browser,
          user_id: String(home.uid),
          package_id: id,
          package_path: `${home.path}/${directory}`,
          browser_profile_name: profile,
          browser_profile_path: `${home.path}/${path}`,
          file_hash_sha256: createHash('sha256').update(bytes).digest('hex'),
        }),
      ];
    }),
  );
}

/** What a manifest and the settings of its profile say. */
export function chromiumColumns(
  manifest: Readonly<Record<string, unknown>>,
  messages: unknown,
  settings: Readonly<Record<string, unknown>> | undefined,
): InventoryRow {
  const { author, background, permissions } = manifest;
  const wanted = Array.isArray(permissions) ? permissions.filter((one) => typeof one === 'string') : [];
  return {
    package_name: known(localised(textOf(manifest['name']), messages)),
    package_version: known(textOf(manifest['version'])),
    package_description: known(localised(textOf(manifest['description']), messages)),
    package_vendor: known(isObject(author) ? textOf(author['email']) : textOf(author)),
    package_reference: known(textOf(manifest['update_url'])),
    package_permissions: known(wanted.join(',')),
    // 1 is on; an extension without settings is one of the browser, which is.
    package_enabled: settings?.['state'] === undefined || settings['state'] === 1 ? 1 : 0,
    package_persistent: isObject(background) && background['persistent'] === true ? 1 : 0,
    package_from_webstore: settings?.['from_webstore'] === true ? 1 : 0,
    package_installed: known(installTime(settings?.['first_install_time'] ?? settings?.['install_time'])),
  };
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Settings of these extensions of a profile, by their ids: a file may have a million others. */
function settingsOf(
  preferences: unknown,
  ids: readonly string[],
): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const extensions = isObject(preferences) ? preferences['extensions'] : undefined;
  const settings = isObject(extensions) ? extensions['settings'] : undefined;
  if (!isObject(settings)) return new Map();
  return new Map(
    ids.flatMap((id) => {
      const value = settings[id];
      return isObject(value) ? [[id, value] as const] : [];
    }),
  );
}

function messagesOf(home: UserHome, directory: string, manifest: Readonly<Record<string, unknown>>): unknown {
  const locale = textOf(manifest['default_locale']);
  if (!/^[A-Za-z]{2,3}(?:_[A-Za-z0-9]{2,8})?$/.test(locale)) return undefined;
  return home.files.json(`${directory}/_locales/${locale}/messages.json`, MOST_MANIFEST_BYTES);
}

/** A text, or what stands for `__MSG_name__` in the messages of the extension. */
function localised(text: string, messages: unknown): string {
  const [, name] = /^__MSG_([\w@]{1,256})__$/.exec(text) ?? [];
  if (name === undefined || !isObject(messages)) return text;
  const entry = Object.entries(messages).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  return (isObject(entry) ? textOf(entry['message']) : '') || text;
}

/** Epoch seconds in digits; empty for what is no time. */
function installTime(value: unknown): string {
  if (typeof value !== 'string' || !/^\d{14,18}$/.test(value)) return '';
  const seconds = BigInt(value) / 1_000_000n - EPOCH_1601;
  return seconds > 0n ? String(seconds) : '';
}
