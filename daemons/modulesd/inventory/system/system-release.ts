import { hostname, machine, release, type, version } from 'node:os';
import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';

/** What the kernel says of itself and the host. */
export type KernelFacts = {
  readonly hostname: string;
  readonly machine: string;
  /** `Linux` */
  readonly name: string;
  readonly release: string;
  readonly version: string;
};

/** The system of the host: table `osinfo`. */
export function readSystemRelease(files: HostFiles): InventoryRow[] {
  const text = files.text('/etc/os-release') || files.text('/usr/lib/os-release');
  const name = type();
  return [systemRow(text, { hostname: hostname(), machine: machine(), name, release: release(), version: version() })];
}

/** @param osRelease text of os-release(5); without it the kernel's name stands for the system's */
export function systemRow(osRelease: string, kernel: KernelFacts): InventoryRow {
  const values = releaseValues(osRelease);
  const shown = values.get('VERSION') ?? values.get('VERSION_ID') ?? '';
  const [, major = '', minor = '', patch = ''] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(shown) ?? [];
  const [, inParentheses = ''] = /\(([^()]*)\)/.exec(shown) ?? [];
  return {
    hostname: kernel.hostname,
    architecture: kernel.machine,
    os_name: values.get('NAME') ?? kernel.name,
    os_version: shown,
    os_codename: values.get('VERSION_CODENAME') ?? inParentheses,
    os_major: major,
    os_minor: minor,
    os_patch: patch,
    os_build: values.get('BUILD_ID') ?? '',
    os_platform: values.get('ID') ?? kernel.name.toLowerCase(),
    sysname: kernel.name,
    release: kernel.release,
    version: kernel.version,
    // Of Windows.
    os_release: '',
    os_display_version: '',
  };
}

function releaseValues(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, double, single, plain] = /^([A-Z][A-Z0-9_]*)=(?:"(.*)"|'(.*)'|(.*))$/.exec(line.trim()) ?? [];
    if (name !== undefined) values.set(name, (double ?? single ?? plain ?? '').replace(/\\(["'$`\\])/g, '$1'));
  }
  return values;
}
