import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readLocation } from '../../../lib/engine/predecode/read-location.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestEngine } from '../../support/engine/engine-kit.js';
import { rulesetOf } from '../../support/engine/shared-ruleset.js';
import { sharedData } from '../../support/shared-data.js';

const AGENT = '[001] (web01) any->';

/** What happens in an agent's life, as rules see it (agents-and-groups.md 4.6, 5.3). */
const EVENTS: readonly (readonly [location: string, message: string, rule: number])[] = [
  [`${AGENT}wazuh-agent`, "ossec: Agent started: 'web01->any'.", 501],
  [`${AGENT}wazuh-agent`, "ossec: Agent started: 'web01->any'.", 503],
  [`${AGENT}ossec`, "ossec: Agent started: 'web01->any'.", 501],
  [`${AGENT}wazuh-remoted`, "ossec: Agent stopped: 'web01->any'.", 506],
  [`${AGENT}wazuh-monitord`, "ossec: Agent disconnected: 'web01-any'.", 504],
  ['wazuh-monitord', "ossec: Agent removed: 'web01-any'.", 505],
  ['wazuh-monitord', 'ossec: Manager started.', 502],
  [`${AGENT}wazuh-agent`, "wazuh: Agent buffer: '90%'.", 202],
  [`${AGENT}wazuh-agent`, "wazuh: Agent buffer: 'full'.", 203],
  [`${AGENT}wazuh-agent`, "wazuh: Agent buffer: 'flooded'.", 204],
  [`${AGENT}wazuh-agent`, "wazuh: Agent buffer: 'normal'.", 205],
];

describe('events about agents', () => {
  const shipped = fileURLToPath(new URL('etc/ruleset', productRoot()));
  for (const [name, directory] of [
    ['shipped', shipped],
    ['public', sharedData('ruleset')],
  ] as const) {
    it(`raise the alerts that users know, ${name} ruleset`, function () {
      if (directory === undefined) return this.skip();
      const test = new TestEngine(rulesetOf(directory));
      const seen = EVENTS.map(([location, message]) => {
        const receivedAt = test.now * 1000;
        const { rule, isAlert } = test.engine.process({ ...readLocation(location), queue: '1', message, receivedAt });
        return [location, message, isAlert ? rule?.rule.id : undefined];
      });
      expect(seen).to.deep.equal(EVENTS);
    });
  }
});
