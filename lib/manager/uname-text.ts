import { hostSystem } from './host-system.js';

/** This host as the first line of a keepalive tells it: `<uname> [<name>|<platform>: <version>]` (agents-and-groups.md 4.3). */
export function unameText(): string {
  const { uname, name, platform, version, codename } = hostSystem();
  const release = [version, codename === undefined ? undefined : `(${codename})`].filter((part) => part !== undefined);
  return `${uname} [${name}|${platform}: ${release.join(' ')}]`;
}
