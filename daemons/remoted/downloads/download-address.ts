import { MAX_ADDRESS_CHARS } from './download-limits.js';

/** An address of files.yml that is not fetched. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

/**
 * The address of a file.
 * @param base what a relative one is taken from, for redirects
 * @throws AddressError when it is too long, no address, or of another kind than http and https
 */
export function parseAddress(text: string, base?: URL): URL {
  if (text.length > MAX_ADDRESS_CHARS) {
    throw new AddressError(`the address is longer than ${String(MAX_ADDRESS_CHARS)} characters`);
  }
  if (!URL.canParse(text, base?.href)) throw new AddressError('not a valid address');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AddressError(`the address begins with '${url.protocol}', only http: and https: are allowed`);
  }
  url.hash = '';
  return url;
}

/** An address as the log may show it: without the user and the password it may hold. */
export function shownAddress(text: string): string {
  // What is no address, or one of another kind, may hold a password all the same.
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text.replace(/^.*@/s, '***@');
  const url = new URL(text);
  if (url.username === '' && url.password === '') return text;
  url.username = '***';
  url.password = '';
  return url.href;
}

/** Value of the header `authorization` for an address with a user, undefined without one. */
export function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/** A percent sign that begins no code stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
