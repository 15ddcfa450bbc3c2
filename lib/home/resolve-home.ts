import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { productRoot } from '../product/product-root.js';
import { Home } from './home.js';

/**
 * The home a program works on: `--home`, else `SVC_HOME`, else the directory the product is installed in (its files
 * then lie in `{home}/lib/security-manager`), else `.home` in the checkout.
 */
export function resolveHome(option: string | undefined, environment: NodeJS.ProcessEnv = process.env): Home {
  const given = option ?? environment['SVC_HOME'];
  if (given !== undefined && given !== '') return new Home(given);
  const installed = new URL('../../', productRoot());
  if (existsSync(new URL('etc/home.json', installed))) return new Home(fileURLToPath(installed));
  return new Home(fileURLToPath(new URL('.home', productRoot())));
}
