import { expect } from 'chai';
import fc from 'fast-check';
import { dhcpOfIfcfg, dhcpOfInterfaces, readDhcp } from '../../../../../../daemons/modulesd/inventory/system/dhcp.js';
import { interfaceRows } from '../../../../../../daemons/modulesd/inventory/system/interfaces.js';
import {
  addressRows,
  type InterfaceAddress,
  protocolRows,
} from '../../../../../../daemons/modulesd/inventory/system/network.js';
import { parseIpv6Routes, parseRoutes } from '../../../../../../daemons/modulesd/inventory/system/routes.js';
import { FakeRoot } from '../../../../../support/modulesd/fake-root.js';

const ROUTES = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
wlan0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
`;
const ZERO = '0'.repeat(32);
const ROUTES6 = `${ZERO} 00 ${ZERO} 00 fd000000000000000000000000000001 00000400 00000001 00000000 00450003     eth0
${ZERO} 00 ${ZERO} 00 ${ZERO} ffffffff 00000001 00000000 00200200       lo
fe800000000000000000000000000000 40 ${ZERO} 00 ${ZERO} 00000100 00000001 00000000 00000001     eth0
`;

describe('network of a host', () => {
  const addresses: InterfaceAddress[] = [
    { iface: 'eth0', family: 'ipv4', address: '192.0.2.2', netmask: '255.255.255.0' },
    { iface: 'eth0', family: 'ipv4', address: '192.0.2.3', netmask: '255.255.255.255' },
    { iface: 'eth0', family: 'ipv6', address: 'fe80::1', netmask: 'ffff:ffff:ffff:ffff::' },
  ];

  it('has ways out', () => {
    expect(parseRoutes(ROUTES)).to.deep.equal([
      { iface: 'eth0', gateway: '192.0.2.1', metric: '100' },
      { iface: 'wlan0', gateway: '192.168.2.1', metric: '600' },
    ]);
    expect(parseIpv6Routes(ROUTES6)).to.deep.equal([{ iface: 'eth0', gateway: 'fd00::1', metric: '1024' }]);
  });

  it('has protocols and addresses', () => {
    const routes = { ipv4: parseRoutes(ROUTES), ipv6: [] };
    expect(protocolRows(addresses, routes, () => 'enabled')).to.deep.equal([
      { iface: 'eth0', type: 'ipv4', gateway: '192.0.2.1', dhcp: 'enabled', metric: '100' },
      { iface: 'eth0', type: 'ipv6', gateway: ' ', dhcp: 'enabled', metric: ' ' },
    ]);
    expect(addressRows(addresses).map(({ proto, broadcast }) => [proto, broadcast])).to.deep.equal([
      ...[
        [0, '192.0.2.255'],
        [0, ' '],
        [1, ' '],
      ],
    ]);
  });

  it('tells where addresses come from', () => {
    const root = new FakeRoot();
    try {
      root.write('/etc/network/interfaces', 'auto eth0\niface eth0 inet dhcp\niface eth0 inet6 static\n');
      expect(readDhcp(root.files(), 'eth0', 'ipv4')).to.equal('enabled');
      expect(readDhcp(root.files(), 'eth0', 'ipv6')).to.equal('disabled');
      expect(readDhcp(root.files(), 'eth1', 'ipv4')).to.equal('unknown');
      root.write('/sys/class/net/eth1/ifindex', '3\n');
      root.write('/run/systemd/netif/leases/3', 'ADDRESS=1\n');
      expect(readDhcp(root.files(), 'eth1', 'ipv4')).to.equal('enabled');
    } finally {
      root.remove();
    }
    expect(dhcpOfIfcfg('DEVICE=eth0\nBOOTPROTO="bootp"\n', 'ipv4')).to.equal('BOOTP');
    expect(dhcpOfIfcfg('BOOTPROTO=none\nDHCPV6C=yes\n', 'ipv6')).to.equal('enabled');
  });

  it('has interfaces, but for that of the host itself', () => {
    const root = new FakeRoot();
    try {
      const net = (name: string, file: string, text: string) =>
        root.write(`/sys/class/net/${name}/${file}`, `${text}\n`);
      net('lo', 'type', '772');
      net('eth0', 'type', '1');
      net('eth0', 'operstate', 'up');
      net('eth0', 'mtu', '1400');
      net('eth0', 'address', '02:fc:00:00:00:01');
      net('eth0', 'statistics/rx_bytes', '9007199254740991');
      root.write('/sys/class/net/bonding_masters', 'bond0');
      expect(interfaceRows(root.files())).to.deep.equal([
        {
          ...{ name: 'eth0', adapter: ' ', type: 'ethernet', state: 'up', mtu: 1400, mac: '02:fc:00:00:00:01' },
          ...{ tx_packets: 0, rx_packets: 0, tx_bytes: 0, rx_bytes: 9_007_199_254_740_991, tx_errors: 0, rx_errors: 0 },
          ...{ tx_dropped: 0, rx_dropped: 0 },
        },
      ]);
      expect(root.notes).to.deep.equal([]);
    } finally {
      root.remove();
    }
  });

  it('survives any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ maxLength: 8 }), (text, iface) => {
        parseRoutes(text);
        parseIpv6Routes(text);
        dhcpOfInterfaces(text, iface, 'ipv4');
        dhcpOfIfcfg(text, 'ipv6');
      }),
    );
  });
});
