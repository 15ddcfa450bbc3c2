import { isIPv6 } from 'node:net';
import {
  adminPermissions,
  MAX_NATS_PAYLOAD,
  nodePermissions,
  type SubjectPermissions,
} from '../../../lib/cluster/cluster-subjects.js';
import { type ClusterMember, type ClusterPlan, hostAndPort } from './cluster-plan.js';

/** Who may log in, by the public keys of their NKeys; and what servers prove to each other beside their certificates. */
export type ServerLogins = {
  /** By name of the node. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly admin: string;
  readonly system: string;
  readonly routePassword: string;
};

/** Files that lie beside the configuration. */
export const SERVER_FILES = { certificate: 'server.pem', key: 'server-key.pem', ca: 'ca.pem' } as const;

/** Nobody else than managers connects, each a few times; stops one credential from taking all descriptors. */
const MAX_CONNECTIONS = 1000;
/** svc-clusterd of a node needs some ten; stops one credential from filling the servers' memory with them. */
const MAX_CONSUMERS = 2000;
const MAX_STREAMS = 8;
const MAX_MEMORY = 256 * 1024 * 1024;

/**
 * Text of `nats-server.conf` for the server of one member (daemons-and-config.md 10.9): clients and other servers by TLS, of version
 * 1.2 at least, which is what nats-server has without being told; logins by NKey; one account for the cluster, whose users
 * may use only the subjects that they need.
 */
export function natsServerConfig(plan: ClusterPlan, member: ClusterMember, logins: ServerLogins): string {
  const file = (name: string) => quoted(`${plan.serverFolder(member)}/${name}`);
  const tls = [
    `cert_file: ${file(SERVER_FILES.certificate)}`,
    `key_file: ${file(SERVER_FILES.key)}`,
    `ca_file: ${file(SERVER_FILES.ca)}`,
  ];
  return `# NATS server of '${member.name}' in the cluster '${plan.name}', made by svc-control cluster init.
server_name: ${quoted(member.name)}
listen: ${quoted(hostAndPort(listenAddress(member.host), member.port))}
# State of the server, for this host alone: http://127.0.0.1:${member.monitorPort}/healthz
http: ${quoted(`127.0.0.1:${member.monitorPort}`)}

max_payload: ${MAX_NATS_PAYLOAD}
max_connections: ${MAX_CONNECTIONS}
# A peer that stands still is given up after this, twice missed.
ping_interval: "5s"
ping_max: 2
write_deadline: "10s"

tls {
  ${tls.join('\n  ')}
  timeout: 5
}

jetstream {
  store_dir: ${quoted(plan.storeFolder(member))}
  max_mem: ${MAX_MEMORY}
  max_file: ${plan.storeBytes}
}

${routesBlock(plan, member, logins, tls)}accounts {
  MANAGERS {
    jetstream { max_streams: ${MAX_STREAMS}, max_consumers: ${MAX_CONSUMERS} }
    users: [
${users(plan, logins)}
    ]
  }
  # Looks after servers, as when one is gone for good: no node has its key.
  SYSTEM {
    users: [ { nkey: ${quoted(logins.system)} } ]
  }
}
system_account: SYSTEM
`;
}

function routesBlock(plan: ClusterPlan, member: ClusterMember, logins: ServerLogins, tls: readonly string[]): string {
  const others = plan.members.filter(({ server, name }) => server && name !== member.name);
  // nats-server waits for others for ever where it is told of a cluster and not of any.
  if (others.length === 0) return '';
  const login = `routes:${logins.routePassword}`;
  const urls = others.map(({ host, routePort }) => quoted(`nats-route://${login}@${hostAndPort(host, routePort)}`));
  return `cluster {
  name: ${quoted(plan.name)}
  listen: ${quoted(hostAndPort(listenAddress(member.host), member.routePort))}
  # Clients have the addresses of all servers in their own configuration.
  no_advertise: true
  authorization { user: "routes", password: ${quoted(logins.routePassword)}, timeout: 5 }
  tls {
    ${tls.join('\n    ')}
    # Another server has a certificate of the same authority.
    verify: true
    timeout: 5
  }
  routes: [
    ${urls.join('\n    ')}
  ]
}

`;
}

function users(plan: ClusterPlan, logins: ServerLogins): string {
  const managers = plan.members.filter(({ manager }) => manager);
  const texts = managers.flatMap(({ name }) => {
    const nkey = logins.nodes[name];
    return nkey === undefined ? [] : [user(name, nkey, nodePermissions(plan.name, name))];
  });
  return [...texts, user('admin', logins.admin, adminPermissions(plan.name))].join('\n');
}

function user(name: string, nkey: string, { publish, subscribe }: SubjectPermissions): string {
  const allow = (subjects: readonly string[]) => subjects.map((subject) => `\n            ${quoted(subject)}`).join('');
  return `      # ${name}
      {
        nkey: ${quoted(nkey)}
        permissions {
          publish { allow: [${allow(publish)}
          ] }
          subscribe { allow: [${allow(subscribe)}
          ] }
        }
      }`;
}

/** Other hosts reach a server at any of its addresses, unless it was named by one that only this host has. */
function listenAddress(host: string): string {
  if (host === 'localhost' || /^127\./.test(host)) return '127.0.0.1';
  if (host === '::1') return '::1';
  return isIPv6(host) ? '::' : '0.0.0.0';
}

/** Nothing in it is read as a variable or an escape. @throws Error for what cannot be written */
function quoted(text: string): string {
  if (/["\\\n\r]/.test(text)) throw new Error(`'${text}' cannot be written into the configuration of a NATS server`);
  return `"${text}"`;
}
