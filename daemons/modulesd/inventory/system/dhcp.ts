import type { HostFiles } from '../host/host-files.js';
import type { AddressFamily } from './address-family.js';

/** What `network_protocol.dhcp` may say. */
export type Dhcp = 'enabled' | 'disabled' | 'BOOTP' | 'unknown';

/** How an interface gets its address, as far as files of the host tell: interfaces(5), ifcfg files, leases of systemd-networkd. */
export function readDhcp(files: HostFiles, iface: string, family: AddressFamily): Dhcp {
  if (
    family === 'ipv4' &&
    files.text(`/run/systemd/netif/leases/${files.line(`/sys/class/net/${iface}/ifindex`)}`) !== ''
  ) {
    return 'enabled';
  }
  const listed = dhcpOfInterfaces(files.text('/etc/network/interfaces'), iface, family);
  if (listed !== 'unknown') return listed;
  return dhcpOfIfcfg(files.text(`/etc/sysconfig/network-scripts/ifcfg-${iface}`), family);
}

/** What interfaces(5) says of an interface. */
export function dhcpOfInterfaces(text: string, iface: string, family: AddressFamily): Dhcp {
  for (const line of text.split('\n')) {
    const [word, name, kind, method] = line.trim().split(/\s+/);
    if (word !== 'iface' || name !== iface || kind !== (family === 'ipv4' ? 'inet' : 'inet6')) continue;
    if (method === 'dhcp') return 'enabled';
    if (method === 'bootp') return 'BOOTP';
    if (method === 'static' || method === 'manual') return 'disabled';
  }
  return 'unknown';
}

/** What an ifcfg file says. */
export function dhcpOfIfcfg(text: string, family: AddressFamily): Dhcp {
  const name = family === 'ipv4' ? 'BOOTPROTO' : 'DHCPV6C';
  const [, value = ''] = new RegExp(`^${name}=["']?([\\w-]*)["']?\\s*$`, 'm').exec(text) ?? [];
  const word = value.toLowerCase();
  if (word === 'dhcp' || word === 'yes') return 'enabled';
  if (word === 'bootp') return 'BOOTP';
  return word === 'static' || word === 'none' || word === 'no' ? 'disabled' : 'unknown';
}
