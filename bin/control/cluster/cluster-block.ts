import { readConfigurationXml } from '../../../lib/config/read-configuration-xml.js';
import type { XmlElement } from '../../../lib/xml/xml-element.js';
import type { NodeCluster } from './node-folder.js';

/** Where `cluster join` puts what a manager logs in with, below the home. */
export const CLUSTER_FOLDER = 'etc/cluster';
export const CA_FILE = `${CLUSTER_FOLDER}/ca.pem`;
export const CREDENTIAL_FILE = `${CLUSTER_FOLDER}/node.nk`;

/**
 * The main configuration with this cluster in it, all else left as it is: the last `<cluster>`, which is the one that counts, is
 * replaced; without one it is appended.
 * @param text of the file, whatever its encoding, as byte string
 * @throws ConfigError for a text that cannot be read
 */
export function withCluster(text: string, file: string, cluster: NodeCluster): string {
  const last = lastCluster(text, file);
  if (last === undefined) {
    const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    return `${before}\n<manager_config>\n  ${clusterBlock(cluster, '  ', NOTHING_KEPT)}\n</manager_config>\n`;
  }
  const indent = /[\t ]*$/.exec(text.slice(0, last.start))?.[0] ?? '';
  const block = clusterBlock(cluster, indent, keptSettings(text, last));
  return text.slice(0, last.start) + block + text.slice(last.end);
}

/**
 * The main configuration with its cluster switched off, all else left as it is.
 * @returns undefined where none is switched on
 * @throws ConfigError for a text that cannot be read
 */
export function withoutCluster(text: string, file: string): string | undefined {
  const last = lastCluster(text, file);
  if (last === undefined) return undefined;
  const switches = last.children.findLast(({ name }) => name === 'disabled');
  if (switches !== undefined) {
    if (switches.content.trim() === 'yes') return undefined;
    return `${text.slice(0, switches.innerStart)}yes${text.slice(switches.innerEnd)}`;
  }
  const space = /\n[\t ]*$/.exec(text.slice(last.innerStart, last.innerEnd))?.[0] ?? '';
  const at = last.innerEnd - space.length;
  const indent = space === '' ? '' : `${space}  `;
  return `${text.slice(0, at)}${indent}<disabled>yes</disabled>${text.slice(at)}`;
}

function lastCluster(text: string, file: string): XmlElement | undefined {
  return readConfigurationXml(text, file)
    .flatMap(({ children }) => children)
    .findLast(({ name }) => name === 'cluster');
}

/** What a person has set beside what `cluster init` says: elements as they are written. */
type KeptSettings = { readonly cluster: readonly string[]; readonly nats: readonly string[] };

const NOTHING_KEPT: KeptSettings = { cluster: [], nats: [] };
/** What joining says itself. */
const OWN_NATS_ELEMENTS = new Set(['ca', 'credential']);

function keptSettings(text: string, block: XmlElement): KeptSettings {
  const written = ({ start, end }: XmlElement): string => text.slice(start, end);
  const named = (name: string) => block.children.filter((child) => child.name === name);
  return {
    cluster: named('alerts').map(written),
    nats: named('nats')
      .flatMap(({ children }) => children)
      .filter(({ name }) => !OWN_NATS_ELEMENTS.has(name))
      .map(written),
  };
}

/** @param indent of the line that it begins in */
function clusterBlock({ cluster, node, key, urls }: NodeCluster, indent: string, kept: KeptSettings): string {
  const lines = [
    '<cluster>',
    `  <name>${cluster}</name>`,
    `  <node_name>${node}</node_name>`,
    `  <key>${key}</key>`,
    '  <nodes>',
    ...urls.map((url) => `    <node>${url}</node>`),
    '  </nodes>',
    '  <nats>',
    `    <ca>${CA_FILE}</ca>`,
    `    <credential>${CREDENTIAL_FILE}</credential>`,
    ...kept.nats.map((element) => `    ${element}`),
    '  </nats>',
    ...kept.cluster.map((element) => `  ${element}`),
    '  <disabled>no</disabled>',
    '</cluster>',
  ];
  return lines.join(`\n${indent}`);
}
