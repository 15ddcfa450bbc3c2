import type { XmlElement } from '../xml/xml-element.js';
import { lastContent } from './last-content.js';
import type { SectionBlocks } from './section-blocks.js';

/** Whether alerts are handed on: what does that reads alerts.json, so it is written whatever `<jsonout_output>` says. */
export function hasAlertConsumers(blocks: SectionBlocks): boolean {
  const all = (name: 'syslog_output' | 'integration' | 'reports' | 'indexer'): readonly XmlElement[] =>
    (blocks.get(name) ?? []).map(({ element }) => element);
  return (
    all('syslog_output').length > 0 ||
    all('integration').length > 0 ||
    all('reports').length > 0 ||
    indexesAlerts(all('indexer').at(-1)) ||
    isMailOn(blocks)
  );
}

/** `<enabled>yes` and `<options><alerts>yes`; the last section counts. */
function indexesAlerts(block: XmlElement | undefined): boolean {
  const options = block?.children.findLast(({ name }) => name === 'options');
  return block !== undefined && isYes(block, 'enabled') && options !== undefined && isYes(options, 'alerts');
}

function isYes(parent: XmlElement, name: string): boolean {
  return lastContent(parent, name)?.trim() === 'yes';
}

/** `<email_notification>yes`, the last one that is written. */
function isMailOn(blocks: SectionBlocks): boolean {
  const children = (blocks.get('global') ?? []).flatMap(({ element }) => element.children);
  return children.findLast(({ name }) => name === 'email_notification')?.content.trim() === 'yes';
}
