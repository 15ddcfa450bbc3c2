import { attributeValue, type XmlElement } from '../xml/xml-element.js';
import { isSharedClientElement, reportNotShared, SHARED_SECTIONS } from './agent-conf.js';
import type { ConfigReport } from './config-report.js';
import { lastContent } from './last-content.js';
import type { SectionName } from './manager-config.js';
import { splitList } from './units.js';

/** The `target` that is no socket. */
const MANAGER_TARGET = 'agent';
const NO_SOCKETS = "'logcollector.remote_sockets' of this host is not 1";

/** What a manager may have done on this host; all of it is off unless the host itself allows it (agents-and-groups.md 7.4). */
export type RemoteConsent = {
  /** `logcollector.remote_commands` */
  readonly localfile: boolean;
  /** `logcollector.remote_sockets`: what is written to a socket of this host comes from root. */
  readonly sockets: boolean;
  /** `wazuh_command.remote_commands` */
  readonly wodle: boolean;
  /** `syscheck/allow_remote_prefilter_cmd` of the host's own configuration. */
  readonly prefilter: boolean;
};

/**
 * One section of agent.conf as this host takes it: whole, without some of its elements, or not at all. What is left out
 * is told.
 * @returns undefined when nothing of it is taken
 */
export function acceptShared(
  name: SectionName,
  block: XmlElement,
  allowed: RemoteConsent,
  report: ConfigReport,
): XmlElement | undefined {
  if (!SHARED_SECTIONS.has(name)) {
    reportNotShared(name, block, report);
    return undefined;
  }
  switch (name) {
    case 'client':
      return { ...block, children: block.children.filter((child) => isSharedClientElement(child.name)) };
    case 'syscheck':
      return withoutPrefilter(block, allowed, report);
    case 'localfile':
      return acceptLocalfile(block, allowed, report);
    case 'socket':
      return acceptSocket(block, allowed, report);
    case 'wodle':
      return acceptWodle(block, allowed, report);
    default:
      return block;
  }
}

function acceptLocalfile(block: XmlElement, allowed: RemoteConsent, report: ConfigReport): XmlElement | undefined {
  const format = lastContent(block, 'log_format');
  if (!allowed.localfile && (format === 'command' || format === 'full_command')) {
    const text = 'Remote commands are not accepted from the manager. Ignoring it on the agent.conf';
    report.warn(block, text, { level: 'error', exact: true });
    return undefined;
  }
  return allowed.sockets ? block : withoutSocketTargets(block, report);
}

function acceptSocket(block: XmlElement, allowed: RemoteConsent, report: ConfigReport): XmlElement | undefined {
  if (allowed.sockets) return block;
  const name = lastContent(block, 'name') ?? '';
  report.warn(block, `Socket '${name}' is not taken from the manager: ${NO_SOCKETS}; it is ignored.`);
  return undefined;
}

/** What the manager wants to be read goes to nobody but the manager; undefined when it was for sockets alone. */
function withoutSocketTargets(block: XmlElement, report: ConfigReport): XmlElement | undefined {
  let forManager = true;
  const children = block.children.map((child) => {
    if (child.name !== 'target') return child;
    const names = splitList(child.content);
    forManager = names.includes(MANAGER_TARGET) || names.length === 0;
    if (names.every((name) => name === MANAGER_TARGET)) return child;
    const left = forManager ? 'they are' : 'the block is';
    report.warn(child, `Sockets as 'target' are not taken from the manager: ${NO_SOCKETS}; ${left} ignored.`);
    return { ...child, content: MANAGER_TARGET };
  });
  return forManager ? { ...block, children } : undefined;
}

function acceptWodle(block: XmlElement, allowed: RemoteConsent, report: ConfigReport): XmlElement | undefined {
  if (allowed.wodle || attributeValue(block, 'name') !== 'command') return block;
  const tag = lastContent(block, 'tag') ?? 'command';
  report.warn(block, `Remote commands are disabled. Ignoring '${tag}'.`, { exact: true });
  return undefined;
}

function withoutPrefilter(block: XmlElement, allowed: RemoteConsent, report: ConfigReport): XmlElement {
  const children = block.children.filter((child) => {
    if (child.name === 'allow_remote_prefilter_cmd') {
      report.warn(child, "'allow_remote_prefilter_cmd' is not taken from the manager; it is ignored.");
      return false;
    }
    if (child.name === 'prefilter_cmd' && !allowed.prefilter) {
      const reason = "'allow_remote_prefilter_cmd' of this host is not 'yes'";
      report.warn(child, `'prefilter_cmd' is not taken from the manager: ${reason}; it is ignored.`);
      return false;
    }
    return true;
  });
  return { ...block, children };
}
