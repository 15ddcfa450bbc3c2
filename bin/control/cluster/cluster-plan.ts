import { isIP, isIPv6 } from 'node:net';

/** A host of the cluster as it was named. */
export type ClusterMember = {
  readonly name: string;
  /** Address or host name at which the others reach it. */
  readonly host: string;
  /** Port of clients; the one of other servers is `routePort`. */
  readonly port: number;
  readonly routePort: number;
  /** On the loopback address alone. */
  readonly monitorPort: number;
  /** Whether a NATS server runs there. */
  readonly server: boolean;
  /** Whether a manager runs there. */
  readonly manager: boolean;
};

/** What `svc-control cluster init` makes files of. */
export type ClusterPlan = {
  /** As in `<cluster><name>`. */
  readonly name: string;
  readonly members: readonly ClusterMember[];
  /** Where the files for the NATS server will lie on its host. */
  readonly serverFolder: (member: ClusterMember) => string;
  /** Where it will keep its streams. */
  readonly storeFolder: (member: ClusterMember) => string;
  /** Bytes of streams that a server keeps at most. */
  readonly storeBytes: number;
};

/** More servers answer no faster, and each has to hear of every change. */
const MAX_SERVERS = 7;
const MAX_MEMBERS = 64;
/** Ports of other servers and of the monitoring lie so far above that of clients, as NATS has them: 4222, 6222, 8222. */
const ROUTE_PORT_ABOVE = 2000;
const MONITOR_PORT_ABOVE = 4000;

/** Names of folders and servers are made of it. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/**
 * A member from `NAME=ADDRESS` or `NAME=ADDRESS:PORT`; an IPv6 address with a port stands in brackets.
 * @throws Error that says what is wrong
 */
export function readMember(
  text: string,
  defaultPort: number,
  what: { readonly server: boolean; readonly manager: boolean },
): ClusterMember {
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(equals, 0));
  if (!isMemberName(name)) {
    throw new Error(`'${text}' is not NAME=ADDRESS, with a name of letters, digits, '.', '_' and '-'`);
  }
  const { host, port = defaultPort } = splitAddress(text.slice(equals + 1), text);
  if (port < 1 || port + MONITOR_PORT_ABOVE > 65_535) {
    throw new Error(`'${text}': the port must be 1 to ${65_535 - MONITOR_PORT_ABOVE}`);
  }
  return { name, host, port, routePort: port + ROUTE_PORT_ABOVE, monitorPort: port + MONITOR_PORT_ABOVE, ...what };
}

/** Whether it may be the name of a member or a cluster. */
function isMemberName(name: string): boolean {
  return NAME.test(name);
}

function splitAddress(address: string, text: string): { host: string; port?: number } {
  if (isIPv6(address)) return { host: address };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  const isName = host !== undefined && /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host);
  if (host === undefined || (match?.[1] !== undefined ? !isIPv6(host) : isIP(host) === 0 && !isName)) {
    throw new Error(`'${text}': '${address}' is neither an address nor the name of a host`);
  }
  return { host, ...(match?.[3] === undefined ? {} : { port: Number(match[3]) }) };
}

/** @throws Error that says why these cannot be one cluster */
export function checkMembers(name: string, members: readonly ClusterMember[]): void {
  if (!isMemberName(name)) throw new Error(`'${name}' cannot be the name of a cluster: letters, digits, '.', '_', '-'`);
  if (members.length > MAX_MEMBERS) throw new Error(`a cluster has at most ${MAX_MEMBERS} members`);
  const servers = members.filter(({ server }) => server);
  if (servers.length === 0) throw new Error('there must be at least one --node or --server');
  if (servers.length > MAX_SERVERS) {
    throw new Error(`at most ${MAX_SERVERS} NATS servers: name further managers with --manager`);
  }
  const seen = new Set<string>();
  for (const member of members) {
    // Two names that differ in case alone are one folder on some file systems.
    const lower = member.name.toLowerCase();
    if (lower === ADMIN_FOLDER || seen.has(lower)) throw new Error(`the name '${member.name}' is taken`);
    seen.add(lower);
    if (!member.server) continue;
    for (const port of [member.port, member.routePort, member.monitorPort]) {
      const place = `${member.host} ${port}`;
      if (seen.has(place)) throw new Error(`port ${port} of ${member.host} is taken twice`);
      seen.add(place);
    }
  }
}

/** Folder of what no node is to have. */
export const ADMIN_FOLDER = 'admin';

/** `host:port`, with brackets around IPv6. */
export function hostAndPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What clients connect to. */
export function clientUrls(members: readonly ClusterMember[]): string[] {
  return members.filter(({ server }) => server).map(({ host, port }) => `tls://${hostAndPort(host, port)}`);
}
