/** Path and query of a request target. */
export type RequestTarget = { readonly path: string; readonly rawPath: string; readonly query: URLSearchParams };

/** Takes a request target apart; also the absolute form that proxies send. The path is decoded, once. */
export function parseRequestTarget(target: string): RequestTarget {
  const relative = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = relative.indexOf('?');
  const rawPath = (mark < 0 ? relative : relative.slice(0, mark)) || '/';
  const query = new URLSearchParams(mark < 0 ? '' : relative.slice(mark + 1));
  return { path: decodePath(rawPath), rawPath, query };
}

/** Text that is no valid encoding stays as it is: it then belongs to no path, or fails its pattern. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
