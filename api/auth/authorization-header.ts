/** What a client sent in `Authorization`. */
export type AuthorizationHeader = { readonly scheme: string; readonly value: string };

export type BasicCredentials = { readonly name: string; readonly password: string };

/** @returns undefined when absent; an empty value when there is only a scheme. The scheme is lower-cased. */
export function parseAuthorization(header: string | undefined): AuthorizationHeader | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const blank = text.search(/\s/);
  if (blank < 0) return { scheme: text.toLowerCase(), value: '' };
  return { scheme: text.slice(0, blank).toLowerCase(), value: text.slice(blank).trim() };
}

/** Name and password of HTTP Basic (RFC 7617, UTF-8); undefined when the header is anything else. */
export function basicCredentials(header: AuthorizationHeader | undefined): BasicCredentials | undefined {
  if (header?.scheme !== 'basic' || !/^[A-Za-z0-9+/]+={0,2}$/.test(header.value)) return undefined;
  const text = Buffer.from(header.value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
