import { readConfigurationXml } from '../../lib/config/read-configuration-xml.js';
import { addSharedSections, type RenderedConfiguration } from '../../lib/config/render-configuration.js';

/** Whom blocks of an agent.conf are for, and all that they set. */
export type RenderedAgentConf = {
  readonly filters: Readonly<Record<string, string>>;
  readonly config: RenderedConfiguration;
};

/** Attributes that say whom a block is for, and how their values are read (agents-and-groups.md 7.1). */
const FILTERS = new Set(['os', 'name', 'profile', 'type']);

/**
 * An agent.conf as the API shows it: blocks with equal filters become one, where the first of them stands (rest-api.md
 * 6.3). Elements that are no block are left out.
 * @param file name for errors
 * @throws ConfigError (1226) with the line
 */
export function renderAgentConf(text: string, file: string): RenderedAgentConf[] {
  const blocks = new Map<string, RenderedAgentConf>();
  for (const { name, attributes, children } of readConfigurationXml(text, file)) {
    if (name.toLowerCase() !== 'agent_config') continue;
    const filters: Record<string, string> = {};
    for (const attribute of attributes) {
      if (FILTERS.has(attribute.name)) filters[attribute.name] = attribute.value;
    }
    const key = JSON.stringify(Object.entries(filters).sort());
    const block = blocks.get(key) ?? { filters, config: Object.create(null) as RenderedConfiguration };
    blocks.set(key, block);
    addSharedSections(block.config, children);
  }
  return [...blocks.values()];
}
