/**
 * A place in the console. It is the fragment of the URL: no server that a link leads to learns it, and one page is all that ours
 * has to know. What is searched for goes to the API, whose log has it.
 */
export type Place = { readonly path: readonly string[]; readonly params: URLSearchParams };

/** Reads `#/agents/001?tab=files`; anything else is the first page. */
export function readPlace(hash: string): Place {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''));
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    params: new URLSearchParams(query),
  };
}

/** The fragment of a place, such as `#/agents/001?tab=files`; parameters that are undefined or empty are left out. */
export function hrefOf(path: readonly string[], params: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined && value !== '') query.set(name, value);
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return `#/${path.map(encodeURIComponent).join('/')}${search}`;
}

function split(text: string): string[] {
  const at = text.indexOf('?');
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
