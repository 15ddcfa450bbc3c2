/** What the first line of a keepalive tells of an agent's system (agents-and-groups.md 4.3); absent where it does not. */
export type AgentOs = {
  readonly name?: string;
  readonly platform?: string;
  readonly version?: string;
  readonly codename?: string;
  readonly major?: string;
  readonly minor?: string;
  readonly build?: string;
  readonly arch?: string;
  readonly uname?: string;
};

/** Architectures, in the order in which they are looked for. */
const ARCHITECTURES = [
  ...['x86_64', 'i386', 'i686', 'sparc', 'amd64', 'i86pc', 'ia64', 'AIX', 'armv6', 'armv7', 'aarch64', 'arm64'],
];
const WINDOWS_VERSION = ' [Ver: ';

/** Reads the text before the version of the agent. */
export function parseUname(uname: string): AgentOs {
  const windows = uname.indexOf(WINDOWS_VERSION);
  return present(windows < 0 ? parseUnix(uname) : parseWindows(uname, windows));
}

type AgentOsDraft = { [field in keyof AgentOs]: string | undefined };

function parseWindows(uname: string, at: number): AgentOsDraft {
  const name = uname.slice(0, at);
  const rest = uname.slice(at + WINDOWS_VERSION.length);
  const end = rest.indexOf(']');
  const version = end < 0 ? rest : rest.slice(0, end);
  const [major, minor, ...build] = version.split('.');
  const bar = uname.lastIndexOf('|');
  const arch = bar < 0 ? undefined : uname.slice(bar + 1).split(' ', 1)[0];
  return { name, platform: 'windows', version, major, minor, build: build.join('.'), arch, uname: name };
}

function parseUnix(uname: string): AgentOsDraft {
  const open = uname.indexOf(' [');
  const arch = ARCHITECTURES.find((word) => uname.includes(word));
  if (open < 0) return { arch, uname };
  const close = uname.lastIndexOf(']');
  const inside = uname.slice(open + 2, close > open ? close : undefined);
  const bar = inside.indexOf('|');
  const colon = inside.indexOf(': ', Math.max(0, bar));
  const name = bar < 0 ? inside : inside.slice(0, bar);
  const platform = bar < 0 ? undefined : inside.slice(bar + 1, colon < 0 ? undefined : colon);
  const release = colon < 0 ? undefined : splitCodename(inside.slice(colon + 2));
  return { name, platform, ...release, arch, uname: uname.slice(0, open) };
}

/** `22.04.4 LTS (Jammy Jellyfish)`; a SUSE release is `15-SP6`. */
function splitCodename(text: string): AgentOsDraft {
  const open = text.lastIndexOf(' (');
  const named = open >= 0 && text.endsWith(')');
  const version = named ? text.slice(0, open) : text;
  const numbers = /^(\d+)(?:(?:\.|-SP)(\d+))?/.exec(version);
  return { version, codename: named ? text.slice(open + 2, -1) : undefined, major: numbers?.[1], minor: numbers?.[2] };
}

function present(draft: AgentOsDraft): AgentOs {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined && value !== ''));
}
