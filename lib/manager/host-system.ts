import { readFileSync } from 'node:fs';
import { arch, hostname, machine, release, type as systemType, version } from 'node:os';

/** The system of this host in the fields agents report (agents-and-groups.md 4.3); all text, absent when not known. */
export type HostSystem = {
  readonly arch: string;
  readonly codename?: string;
  readonly major?: string;
  readonly minor?: string;
  readonly name: string;
  readonly platform: string;
  /** `Linux |host |6.1.0 |#1 SMP ... |x86_64` */
  readonly uname: string;
  readonly version?: string;
};

/**
 * What this host runs.
 * @param releaseFile in the format of os-release(5); without it the kernel's name stands for the system's
 */
export function hostSystem(releaseFile = '/etc/os-release'): HostSystem {
  const values = readRelease(releaseFile);
  const shown = values.get('VERSION') ?? values.get('VERSION_ID');
  const [, plain, inParentheses] = /^(.*?)(?:\s*\(([^)]*)\))?$/.exec(shown ?? '') ?? [];
  const [major, minor] = (values.get('VERSION_ID') ?? plain ?? '').match(/\d+/g) ?? [];
  const codename = inParentheses ?? values.get('VERSION_CODENAME');
  return {
    arch: machine(),
    ...(codename === undefined || codename === '' ? {} : { codename }),
    ...(major === undefined ? {} : { major }),
    ...(minor === undefined ? {} : { minor }),
    name: values.get('NAME') ?? systemType(),
    platform: values.get('ID') ?? process.platform,
    uname: `${systemType()} |${hostname()} |${release()} |${version()} |${machine() || arch()}`,
    ...(plain === undefined || plain === '' ? {} : { version: plain }),
  };
}

function readRelease(path: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // A container may have none.
    return new Map();
  }
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, quoted, plain] = /^([A-Z_]+)=(?:["'](.*)["']|(.*))$/.exec(line.trim()) ?? [];
    const value = quoted ?? plain;
    if (name !== undefined && value !== undefined) values.set(name, value);
  }
  return values;
}
