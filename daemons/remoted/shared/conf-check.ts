import { hash } from 'node:crypto';
import { checkAgentConf } from '../../../lib/config/agent-conf.js';
import type { ConfCheck } from './build-group.js';

/** Contents found good that are remembered: many groups have the same one, and most changes are to other files. */
const MAX_REMEMBERED = 4096;

/** Says why an agent.conf is not distributed: file, line and reason (product.md 3, rule 6). */
export function confCheck(): ConfCheck {
  const good = new Set<string>();
  return (content, file) => {
    const md5 = hash('md5', content, 'base64');
    if (good.has(md5)) return undefined;
    const failure = checkAgentConf(content.toString('utf8'), file);
    if (failure !== undefined) return `${failure.error.message}: ${failure.check} remote configuration is corrupted.`;
    if (good.size >= MAX_REMEMBERED) good.clear();
    good.add(md5);
    return undefined;
  };
}
