import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { UserHome } from '../host/user-homes.js';
import { readChromium } from './chromium.js';
import { readFirefox } from './firefox.js';

/** Extensions of the browsers of users: table `browser_extensions`. */
export function readBrowserExtensions(homes: readonly UserHome[]): InventoryRow[] {
  return homes.flatMap((home) => [...readChromium(home), ...readFirefox(home)]);
}
