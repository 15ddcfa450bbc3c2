import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import {
  type Field,
  foldChildren,
  group,
  ignored,
  initialValues,
  list,
  optionalGroup,
  scalar,
  type Values,
} from '../field.js';
import { isThisHost, type NatsAddress, parseNatsAddress } from '../nats-address.js';
import { isAddress } from '../network-address.js';
import { splitList } from '../units.js';
import { freeText, integer, oneOf, optionalText, readYesNo, requireText, text, yesNo } from '../value-fields.js';

/** Placeholders and own addresses that cannot be the master's address (daemons-and-config.md 1.2). */
const REFUSED_NODES = new Set(['localhost', 'NODE_IP', '0.0.0.0', '127.0.1.1']);

const HAPROXY_HELPER = optionalGroup({
  haproxy_disabled: yesNo(true),
  haproxy_address: optionalText(),
  haproxy_port: integer(5555, { min: 1024, max: 65_535 }),
  haproxy_protocol: oneOf('http', ['http', 'https']),
  haproxy_user: optionalText(),
  haproxy_password: optionalText(),
  haproxy_backend: text('wazuh_reporting'),
  haproxy_resolver: optionalText(),
  haproxy_cert: optionalText(),
  client_cert: optionalText(),
  client_cert_key: optionalText(),
  client_cert_password: optionalText(),
  /** A comma list, or one child element a node. */
  excluded_nodes: scalar<readonly string[]>([], (element) =>
    element.children.length > 0
      ? element.children.map(({ content }) => content.trim()).filter((name) => name !== '')
      : splitList(element.content),
  ),
  frequency: integer(60, { min: 10 }),
  agent_chunk_size: integer(300, { min: 100 }),
  agent_reconnection_time: integer(5),
  agent_reconnection_stability_time: integer(60, { min: 10 }),
  imbalance_tolerance: scalar(0.1, (element, report) => {
    const value = requireText(element, report);
    if (!/^\d(\.\d{1,9})?$/.test(value) || Number(value) <= 0 || Number(value) > 1) {
      throw report.invalidValue(element);
    }
    return Number(value);
  }),
  /** Minutes. */
  remove_disconnected_node_after: integer(240),
});

/** How the NATS servers of `<nodes>` are reached; paths are relative to the home. */
const NATS = group({
  /** Certificates that theirs are held against. */
  ca: text('etc/cluster/ca.pem'),
  /** Own certificate and its key, where the servers ask for one. */
  certificate: optionalText(),
  certificate_key: optionalText(),
  /** File with the seed of this node's NKey; without it there is no login. */
  credential: text('etc/cluster/node.nk'),
  /** Copies of each stream; without it 3 where there are three servers or more, else 1. */
  replicas: scalar<number | undefined>(undefined, (element, report) => {
    const value = requireText(element, report);
    if (!/^[1-5]$/.test(value)) throw report.invalidValue(element);
    return Number(value);
  }),
});

const MAX_MEGABYTES = 1024 * 1024;
const MAX_HOURS = 24 * 365;

/** The stream of the alerts of all nodes. */
const ALERTS = group({
  /** Whose alerts outputs hand on: those of their own node, or those of all nodes, each output at one node at a time. */
  outputs: oneOf('node', ['node', 'cluster']),
  /** How much of it NATS keeps; in force when the stream is made. */
  megabytes: integer(1024, { min: 1, max: MAX_MEGABYTES }),
  hours: integer(72, { min: 1, max: MAX_HOURS }),
});

const CLUSTER_FIELDS = {
  name: text('wazuh'),
  node_name: text('node01'),
  /** `client` is the old word for worker. */
  node_type: scalar<'master' | 'worker'>('master', (element, report) => {
    const value = requireText(element, report);
    if (value !== 'master' && value !== 'worker' && value !== 'client') {
      throw report.invalidValue(element);
    }
    return value === 'master' ? 'master' : 'worker';
  }),
  key: freeText(),
  port: integer(1516, { min: 1025, max: 65_534 }),
  bind_addr: scalar('0.0.0.0', (element, report) => {
    const value = requireText(element, report);
    if (value !== 'any' && !isAddress(value)) {
      throw report.invalidAddress(element, value);
    }
    return value === 'any' ? '0.0.0.0' : value;
  }),
  nodes: group({ node: list(requireText) }),
  nats: NATS,
  alerts: ALERTS,
  hidden: yesNo(false),
  disabled: scalar(false, readYesNo),
  interval: ignored(),
  haproxy_helper: HAPROXY_HELPER,
};

/** `<cluster>` as read. */
export type ClusterConfig = Values<typeof CLUSTER_FIELDS>;

/** What counts where there is no `<cluster>`: the cluster is off. */
export function clusterDefaults(): ClusterConfig {
  return { ...initialValues(CLUSTER_FIELDS), disabled: true };
}

/**
 * `<cluster>`: the last block counts. Undefined without a block: disabled. Key and nodes are checked only where the
 * cluster is enabled, since the shipped file carries placeholders.
 */
export const CLUSTER: Field<ClusterConfig | undefined> = {
  initial: undefined,
  attributes: [],
  shape: CLUSTER_FIELDS,
  fold(_previous, block, report) {
    const cluster = foldChildren(CLUSTER_FIELDS, initialValues(CLUSTER_FIELDS), block, report);
    if (!cluster.disabled) {
      checkEnabled(cluster, block, report);
    }
    return cluster;
  },
};

function checkEnabled(cluster: ClusterConfig, block: XmlElement, report: ConfigReport): void {
  if (!/^[A-Za-z0-9]{32}$/.test(cluster.key)) {
    // The key is a secret: it is not repeated in the message.
    throw report.error(block, 1235, "Invalid value for element 'key': it must be 32 letters and digits.");
  }
  const elements = block.children.filter(({ name }) => name === 'nodes').flatMap(({ children }) => children);
  const addresses = cluster.nodes.node.map((node) => {
    const element = elements.findLast(({ content }) => content.trim() === node) ?? block;
    const wrong = (why: string) => report.error(element, 1235, `Invalid value for element 'node': ${node}${why}.`);
    return checkedAddress(node, wrong);
  });
  if (addresses.length === 0) {
    throw report.missingValue(block, 'node');
  }
  if (new Set(addresses.map(({ tls }) => tls)).size > 1) {
    const text = "Invalid value for element 'node': either all are connected to by TLS, or all with nats://.";
    throw report.error(block, 1235, text);
  }
  const { certificate, certificate_key } = cluster.nats;
  if ((certificate === undefined) !== (certificate_key === undefined)) {
    throw report.missingValue(block, certificate === undefined ? 'certificate' : 'certificate_key');
  }
}

function checkedAddress(node: string, wrong: (why: string) => Error): NatsAddress {
  if (REFUSED_NODES.has(node)) throw wrong('');
  const address = parseNatsAddress(node);
  if (address === undefined) throw wrong(', which is no tls://HOST:PORT');
  if (!address.tls && !isThisHost(address)) {
    throw wrong(': nats:// is without TLS, which is for servers on this host alone (127.0.0.1, ::1, localhost)');
  }
  return address;
}
