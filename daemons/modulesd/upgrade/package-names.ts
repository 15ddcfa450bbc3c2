import { isWindows, type UpgradableAgent } from './upgradable-agent.js';

/** Systems that packages are not made for. */
const UNSUPPORTED = ['sunos', 'solaris', 'aix', 'hp-ux', 'hpux', 'bsd', 'freebsd', 'openbsd', 'netbsd'];

/** Linux systems whose packages are of Debian's kind; the others have rpm. */
const DEB_PLATFORMS = ['debian', 'ubuntu', 'raspbian', 'linuxmint', 'kali', 'pop', 'parrot', 'devuan', 'neon', 'zorin'];

/** What packages call an architecture that the system calls otherwise. */
const DEB_ARCHES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  i686: 'i386',
  i586: 'i386',
  armv7l: 'armhf',
  armv6l: 'armhf',
  ppc64le: 'ppc64el',
};
const RPM_ARCHES: Readonly<Record<string, string>> = {
  amd64: 'x86_64',
  arm64: 'aarch64',
  i686: 'i386',
  i586: 'i386',
  armv7l: 'armv7hl',
};
const MACOS_ARCHES: Readonly<Record<string, string>> = { x86_64: 'intel64', aarch64: 'arm64' };

/**
 * Names that the package of a release may have for an agent, as of Wazuh 4.x (agents-and-groups.md 4.5): today's first,
 * then those of earlier releases.
 * @param version `v4.14.7`
 * @param type overrides what the agent's system has
 * @returns undefined for a system that there are no packages for, or that is not known
 */
export function packageNames(
  agent: UpgradableAgent,
  version: string,
  type?: 'rpm' | 'deb',
): readonly string[] | undefined {
  const { platform, arch } = agent;
  if (platform === undefined || UNSUPPORTED.includes(platform)) return undefined;
  if (isWindows(agent)) return [`wazuh_agent_${version}_windows.wpk`];
  // It becomes part of a path.
  if (arch === undefined || !/^[a-z0-9_]{1,32}$/.test(arch)) return undefined;
  if (platform === 'darwin') {
    const chosen = MACOS_ARCHES[arch] ?? arch;
    return [`wazuh_agent_${version}_macos_${chosen}.pkg.wpk`, `wazuh_agent_${version}_macos_${arch}.wpk`];
  }
  const chosen = type ?? (DEB_PLATFORMS.includes(platform) ? 'deb' : 'rpm');
  const named = (chosen === 'deb' ? DEB_ARCHES : RPM_ARCHES)[arch] ?? arch;
  const names = [
    `wazuh_agent_${version}_linux_${named}.${chosen}.wpk`,
    `wazuh_agent_${version}_linux_${arch}.${chosen}.wpk`,
    `wazuh_agent_${version}_linux_${arch}.wpk`,
  ];
  return [...new Set(names)];
}
