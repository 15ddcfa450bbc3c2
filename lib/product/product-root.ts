import { existsSync } from 'node:fs';

/**
 * Directory (as a URL with a trailing slash) that holds package.json, bin/, etc/ and dist/: the checkout, or the
 * place the product was installed to.
 * @throws Error when no parent directory of this module has a package.json.
 */
export function productRoot(): URL {
  let directory = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', directory))) {
    const parent = new URL('..', directory);
    if (parent.href === directory.href) throw new Error(`package.json not found above ${import.meta.url}`);
    directory = parent;
  }
  return directory;
}
