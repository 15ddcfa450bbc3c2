import { CONTROL_HEADER } from './control-text.js';

/** What a keepalive tells (agents-and-groups.md 4.3). */
export type Keepalive = {
  /** Text before the version, for `parseUname`. */
  readonly uname?: string | undefined;
  /** Such as `Wazuh v4.14.7`. */
  readonly version?: string | undefined;
  /** MD5 of the agent's etc/shared/agent.conf. */
  readonly configSum?: string | undefined;
  /** MD5 of the agent's merged.mg; `x` when it has none. */
  readonly mergedSum?: string | undefined;
  /** Local address of the agent's socket. */
  readonly agentIp?: string | undefined;
  /** Values by key, keys with their prefix and quotes: `"site"`, `!"hidden"`, `#"_system"`. */
  readonly labels: ReadonlyMap<string, string>;
};

/** A label to send. Names of the system's begin with `_`. */
export type AgentLabel = { readonly key: string; readonly value: string; readonly hidden?: boolean };

const AGENT_IP_KEY = '#"_agent_ip"';
/** Bytes that labels may take. */
const MAX_LABEL_BYTES = 63_488;
const LABELS_LEFT_OUT = 'Not all labels are being shown in this message';
const BETWEEN_VERSION = ' - ';
const BETWEEN_SUM = ' / ';
const MERGED_NAME = 'merged.m';

/**
 * Reads a keepalive. Unknown lines count for nothing, nor does what follows the last line feed: old agents put noise
 * there.
 * @param text after the header
 */
export function parseKeepalive(text: string): Keepalive {
  const labels = new Map<string, string>();
  let identity: Pick<Keepalive, 'uname' | 'version' | 'configSum'> | undefined;
  let mergedSum: string | undefined;
  const end = text.lastIndexOf('\n');
  for (const line of end < 0 ? [] : text.slice(0, end).split('\n')) {
    if (/^[#!"]/.test(line)) addLabel(labels, line);
    else if (line.includes(BETWEEN_VERSION)) identity ??= splitIdentity(line);
    else mergedSum ??= sumOf(line);
  }
  const agentIp = labels.get(AGENT_IP_KEY);
  labels.delete(AGENT_IP_KEY);
  return { ...identity, mergedSum, agentIp: agentIp === '' ? undefined : agentIp, labels };
}

/** `prefix"key":value`; a line without a closed key is none. The name of a key may hold anything but `":`. */
function addLabel(labels: Map<string, string>, line: string): void {
  const open = line.indexOf('"');
  const close = line.indexOf('":', open + 1);
  // Prefixes are `#`, `!` and `#!`.
  if (open < 0 || open > 2 || close < 0) return;
  labels.set(line.slice(0, close + 1), line.slice(close + 2));
}

function splitIdentity(line: string): Pick<Keepalive, 'uname' | 'version' | 'configSum'> {
  const at = line.lastIndexOf(BETWEEN_VERSION);
  const right = line.slice(at + BETWEEN_VERSION.length);
  const slash = right.indexOf(BETWEEN_SUM);
  return {
    uname: line.slice(0, at),
    version: slash < 0 ? right : right.slice(0, slash),
    configSum: slash < 0 ? undefined : right.slice(slash + BETWEEN_SUM.length),
  };
}

function sumOf(line: string): string | undefined {
  const space = line.indexOf(' ');
  return space > 0 && line.startsWith(MERGED_NAME, space + 1) ? line.slice(0, space) : undefined;
}

/** Names of labels as events carry them: without quotes, hidden ones with `!` before them (rules-and-alerts.md 7.3). */
export function labelNames(labels: ReadonlyMap<string, string>): Map<string, string> {
  const named = new Map<string, string>();
  for (const [key, value] of labels) {
    const open = key.indexOf('"');
    const hidden = key.slice(0, open).includes('!') ? '!' : '';
    named.set(hidden + key.slice(open + 1, -1), value);
  }
  return named;
}

/** Builds a keepalive as an agent sends it, with its header. Line feeds in values become spaces. */
export function buildKeepalive(keepalive: Omit<Keepalive, 'labels'>, labels: readonly AgentLabel[]): string {
  const { uname = '', version = '', configSum, mergedSum = 'x', agentIp } = keepalive;
  const sum = configSum === undefined ? '' : BETWEEN_SUM + configSum;
  const identity = oneLine(uname) + BETWEEN_VERSION + oneLine(version) + sum;
  const address = agentIp === undefined ? '' : `${AGENT_IP_KEY}:${agentIp}`;
  return `${CONTROL_HEADER}${identity}\n${labelLines(labels)}${mergedSum} merged.mg\n${address}\n`;
}

function labelLines(labels: readonly AgentLabel[]): string {
  let lines = '';
  let bytes = 0;
  for (const { key, value, hidden } of labels) {
    const line = `${key.startsWith('_') ? '#' : ''}${hidden === true ? '!' : ''}"${oneLine(key)}":${oneLine(value)}\n`;
    bytes += Buffer.byteLength(line);
    if (bytes > MAX_LABEL_BYTES) return `${lines}${LABELS_LEFT_OUT}\n`;
    lines += line;
  }
  return lines;
}

function oneLine(text: string): string {
  return text.replaceAll('\n', ' ');
}
