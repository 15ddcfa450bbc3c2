import { expect } from 'chai';
import { packageNames } from '../../../../daemons/modulesd/upgrade/package-names.js';
import { planUpgrade } from '../../../../daemons/modulesd/upgrade/plan-upgrade.js';
import { upgradableAgent } from '../../../../daemons/modulesd/upgrade/upgradable-agent.js';
import type { WantedPackage } from '../../../../lib/bus/contracts/modulesd.js';

const UBUNTU = {
  id: '001',
  status: 'active',
  version: 'Wazuh v4.13.0',
  os: { platform: 'ubuntu', arch: 'x86_64' },
};

describe('what an agent is sent', () => {
  const of = (platform: string, arch: string) => upgradableAgent({ ...UBUNTU, os: { platform, arch } });
  const names = (platform: string, arch: string, type?: 'rpm' | 'deb') =>
    packageNames(of(platform, arch), 'v4.14.0', type)?.map((name) => name.replace('wazuh_agent_v4.14.0_', ''));

  it('has the names of its system', () => {
    expect(names('ubuntu', 'x86_64')).to.deep.equal([
      'linux_amd64.deb.wpk',
      'linux_x86_64.deb.wpk',
      'linux_x86_64.wpk',
    ]);
    expect(names('rhel', 'x86_64')).to.deep.equal(['linux_x86_64.rpm.wpk', 'linux_x86_64.wpk']);
    expect(names('rhel', 'aarch64', 'deb')?.[0]).to.equal('linux_arm64.deb.wpk');
    expect(names('debian', 'i686', 'rpm')?.[0]).to.equal('linux_i386.rpm.wpk');
    expect(names('windows', '')).to.deep.equal(['windows.wpk']);
    expect(names('darwin', 'arm64')?.[0]).to.equal('macos_arm64.pkg.wpk');
    expect(names('darwin', 'x86_64')?.[0]).to.equal('macos_intel64.pkg.wpk');
    for (const [platform, arch] of [
      ['solaris', 'i86pc'],
      ['ubuntu', ''],
      ['', 'x86_64'],
      ['ubuntu', '../../etc'],
    ] as const) {
      expect(names(platform, arch), `${platform} ${arch}`).to.equal(undefined);
    }
  });

  const plan = (
    agent: Record<string, unknown>,
    wanted: Partial<WantedPackage> = {},
    there: (name: string) => boolean = () => true,
  ) =>
    planUpgrade(upgradableAgent({ ...UBUNTU, ...agent }), {
      wanted: { kind: 'release', force: false, ...wanted } as WantedPackage,
      managerVersion: [4, 14, 7],
      hasPackage: there,
    });

  it('is the package of the version that was asked for, or of the manager', async () => {
    const path = 'wazuh_agent_v4.14.7_linux_amd64.deb.wpk';
    expect(await plan({})).to.deep.equal({ path, installer: 'upgrade.sh', version: 'v4.14.7' });
    expect(await plan({}, { version: 'v4.13.1' })).to.deep.include({ version: 'v4.13.1' });
    expect(await plan({ os: { platform: 'windows' } })).to.deep.include({ installer: 'upgrade.bat' });
    const old = await plan({}, {}, (name) => !name.includes('.deb'));
    expect(old).to.deep.include({ path: 'wazuh_agent_v4.14.7_linux_x86_64.wpk' });
    expect(await plan({ version: 'Wazuh v4.14.7' }, { force: true })).to.deep.include({ path });
    // A package of one's own is sent whatever the version is.
    const own = { kind: 'file', path: 'own.wpk' } as const;
    expect(await plan({ version: 'Wazuh v4.20.0' }, own)).to.deep.equal({ path: 'own.wpk', installer: 'upgrade.sh' });
  });

  it('is nothing where it cannot be', async () => {
    const code = async (...given: Parameters<typeof plan>) => {
      const planned = await plan(...given);
      return 'code' in planned ? planned.code : planned.path;
    };
    expect(await code({ id: '000' })).to.equal(1817);
    expect(await code({ status: 'disconnected' })).to.equal(1818);
    expect(await code({ os: { platform: 'aix', arch: 'powerpc' } })).to.equal(1819);
    expect(await code({ version: 'Wazuh v2.1.1' })).to.equal(1821);
    expect(await code({ version: 'OSSEC HIDS v4.2.0' })).to.equal(1821);
    expect(await code({ version: undefined })).to.equal(1821);
    expect(await code({ version: 'Wazuh v4.14.7' })).to.equal(1822);
    expect(await code({ version: 'Wazuh v4.13.10' }, { version: 'v4.13.9' })).to.equal(1822);
    expect(await code({}, {}, () => false)).to.equal(1825);
  });
});
