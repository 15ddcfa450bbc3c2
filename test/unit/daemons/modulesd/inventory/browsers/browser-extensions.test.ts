import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { readBrowserExtensions } from '../../../../../../daemons/modulesd/inventory/browsers/browser-extensions.js';
import { chromiumColumns } from '../../../../../../daemons/modulesd/inventory/browsers/chromium.js';
import { firefoxColumns } from '../../../../../../daemons/modulesd/inventory/browsers/firefox.js';
import { userHomes } from '../../../../../../daemons/modulesd/inventory/host/user-homes.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import type { InventoryRow } from '../../../../../../lib/events/inventory/row-marks.js';
import { isObject } from '../../../../../../lib/json/is-object.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const ID = 'abcdefghijklmnopabcdefghijklmnop';
const PROFILE = '/home/ann/.config/google-chrome/Default';
const VERSION = `${PROFILE}/Extensions/${ID}/1.2_0`;

describe('extensions of browsers', () => {
  let root: FakeRoot;
  beforeEach(() => (root = new FakeRoot()));
  afterEach(() => root.remove());

  function read(): InventoryRow[] {
    const files = root.files();
    const ann = { name: 'ann', uid: 1000, gid: 1000, fullName: '', home: '/home/ann', shell: '' };
    return readBrowserExtensions(userHomes(files, { users: [ann] }));
  }

  it('of one home do not take the room of others', () => {
    const addons = Array.from({ length: 3000 }, (_none, index) => ({ id: String(index) }));
    for (const profile of ['a', 'b', 'c']) {
      root.write(`/home/ann/.mozilla/firefox/${profile}/extensions.json`, JSON.stringify({ addons }));
    }
    expect(read()).to.have.length(5000);
    expect(root.notes).to.deep.equal([{ kind: 'too_many', count: 2, first: '/home/ann/.mozilla/firefox/b' }]);
  });

  it('are those of Chrome and its like', () => {
    const manifest = JSON.stringify({
      ...{ name: '__MSG_appName__', version: '1.2', default_locale: 'en', permissions: ['tabs', { x: 1 }, 'storage'] },
      ...{ update_url: 'https://x/crx', background: { persistent: true }, author: { email: 'a@b' } },
    });
    root.write(`${VERSION}/manifest.json`, manifest);
    root.write(`${VERSION}/_locales/en/messages.json`, '{"appname":{"message":"Blocker"}}');
    root.write(`${PROFILE}/Preferences`, `{"extensions":{"settings":{"${ID}":{"state":1,"from_webstore":false}}}}`);
    root.write(
      `${PROFILE}/Secure Preferences`,
      `{"extensions":{"settings":{"${ID}":{"state":0,"from_webstore":true,"first_install_time":"13344473600000000"}}}}`,
    );
    root.write('/home/ann/.config/google-chrome/System Profile/Extensions/x/1/manifest.json', manifest);
    const [row, ...others] = read();
    expect(others).to.deep.equal([]);
    expect(row).to.include({
      ...{ browser_name: 'chrome', user_id: '1000', package_name: 'Blocker', package_id: ID, package_version: '1.2' },
      ...{
        package_path: VERSION,
        browser_profile_name: 'Default',
        browser_profile_path: PROFILE,
        package_vendor: 'a@b',
      },
      ...{ package_permissions: 'tabs,storage', package_reference: 'https://x/crx', package_enabled: 0 },
      ...{ package_from_webstore: 1, package_persistent: 1, package_installed: '1700000000', package_description: ' ' },
      file_hash_sha256: createHash('sha256').update(manifest).digest('hex'),
    });
    const columns = inventoryTable('browser_extensions')?.columns.map(({ name }) => name);
    expect(Object.keys(row ?? {})).to.have.members(columns ?? []);
  });

  it('are those that Firefox lists', () => {
    const addon = {
      ...{ id: 'u@x', version: '9', type: 'extension', active: true, visible: true, installDate: 1_700_000_000_123 },
      ...{ defaultLocale: { name: 'Shield', creator: 'X' }, userPermissions: { permissions: ['tabs'] } },
    };
    root.write(
      '/home/ann/.mozilla/firefox/p.default/extensions.json',
      JSON.stringify({ addons: [addon, 3, null, {}] }),
    );
    root.write('/home/ann/.mozilla/firefox/profiles.ini', '[Profile0]\n');
    expect(read()).to.have.length(1);
    expect(read()[0]).to.include({
      ...{ browser_name: 'firefox', package_name: 'Shield', package_id: 'u@x', package_installed: '1700000000' },
      ...{ browser_profile_name: 'p.default', package_enabled: 1, package_autoupdate: 1, package_permissions: 'tabs' },
    });
    expect(root.notes).to.deep.equal([]);
  });

  it('are not what lies elsewhere, and nobody waits for a pipe', () => {
    root.write('/secret/extensions.json', '{"addons":[{"id":"secret"}]}');
    root.link('/home/ann/.mozilla/firefox/a', root.at('/secret'));
    mkdirSync(root.at('/home/ann/.mozilla/firefox/b'));
    root.link('/home/ann/.mozilla/firefox/b/extensions.json', root.at('/secret/extensions.json'));
    mkdirSync(root.at('/home/ann/.mozilla/firefox/c'));
    execFileSync('mkfifo', [root.at('/home/ann/.mozilla/firefox/c/extensions.json')]);
    root.write('/home/ann/.mozilla/firefox/d/extensions.json', `${'['.repeat(200_000)}`);
    root.write(`${VERSION}/manifest.json`, '{"default_locale":"../../x","name":"__MSG_a__"}');
    expect(read().map(({ package_name: name }) => name)).to.deep.equal(['__MSG_a__']);
    expect(root.notes.map(({ kind, count }) => `${kind} ${String(count)}`)).to.deep.equal(['malformed 1']);
  });

  it('survive any document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (value, other, third) => {
        firefoxColumns(value);
        firefoxColumns({ id: 'x', defaultLocale: value, userPermissions: other, installDate: third, version: value });
        const object = { name: '__MSG_x__', version: value, permissions: other, background: third, author: value };
        const row = chromiumColumns(object, value, isObject(other) ? other : undefined);
        for (const column of Object.values(row)) expect(['string', 'number']).to.include(typeof column);
      }),
    );
  });
});
