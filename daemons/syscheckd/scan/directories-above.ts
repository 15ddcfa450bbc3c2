/**
 * From the configured path down to the directory a path is in; none for the configured path itself.
 * @param path byte string, at or below `root`
 */
export function directoriesAbove(path: string, root: string): string[] {
  const above: string[] = [];
  const from = root === '/' ? 0 : root.length;
  for (let end = path.indexOf('/', from); end >= 0; end = path.indexOf('/', end + 1)) {
    above.push(end === 0 ? '/' : path.slice(0, end));
  }
  return above;
}
