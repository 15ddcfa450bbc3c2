import { expect } from 'chai';
import fc from 'fast-check';
import { hardwareRow } from '../../../../../../daemons/modulesd/inventory/system/hardware.js';
import { systemRow } from '../../../../../../daemons/modulesd/inventory/system/system-release.js';
import { inventoryTable } from '../../../../../../lib/events/inventory/inventory-tables.js';
import { rowChecksum } from '../../../../../../lib/events/inventory/row-marks.js';

const PROCESSOR = 'processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2596.992\n\n';
const CPU = PROCESSOR + PROCESSOR.replace(': 0', ': 1');
const KERNEL = { hostname: 'vm', machine: 'x86_64', name: 'Linux', release: '6.1', version: '#1 SMP' };

describe('hardware and system of a host', () => {
  // agent-transcript.md 9: what a real agent sent.
  it('is told as real agents tell it', () => {
    const memory = 'MemTotal:       24684096 kB\nMemFree:        1 kB\nMemAvailable:   24211316 kB\n';
    const row = hardwareRow(CPU, memory, '');
    expect(rowChecksum(row, inventoryTable('hwinfo') ?? { columns: [] })).to.equal(
      'a5895d4e5ef14163e90d0b8787db505e9ab92115',
    );
    expect(hardwareRow(CPU, memory.replace('24211316', '24166940'), 'SN')).to.include({
      ram_usage: 3,
      board_serial: 'SN',
    });
    expect(hardwareRow('Hardware : BCM2835\n', 'MemTotal: 10 kB\nMemFree: 5 kB\n', '')).to.include({
      ...{ cpu_name: 'BCM2835', cpu_cores: 0, cpu_mhz: 0, ram_free: 5, ram_usage: 50 },
    });
  });

  it('has versions as systems write them', () => {
    const parts = (text: string) => {
      const { os_version, os_major, os_minor, os_patch, os_codename, os_name, os_platform } = systemRow(text, KERNEL);
      return [os_name, os_platform, os_version, os_major, os_minor, os_patch, os_codename].join('|');
    };
    expect(parts('NAME="Debian GNU/Linux"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n')).to.equal(
      'Debian GNU/Linux|debian|12 (bookworm)|12|||bookworm',
    );
    expect(parts("NAME=Ubuntu\nVERSION='22.04.3 LTS (Jammy Jellyfish)'\nVERSION_CODENAME=jammy\nID=ubuntu\n")).to.equal(
      'Ubuntu|ubuntu|22.04.3 LTS (Jammy Jellyfish)|22|04|3|jammy',
    );
    expect(parts('NAME="Fedora Linux"\nVERSION="40 (Server Edition)"\nID=fedora\nVERSION_CODENAME=""\n')).to.equal(
      'Fedora Linux|fedora|40 (Server Edition)|40|||',
    );
    expect(parts('')).to.equal('Linux|linux|||||');
  });

  it('survives any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        hardwareRow(text, text, text);
        systemRow(text, KERNEL);
      }),
    );
  });
});
