import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readOfflineRuleset } from '../../../../../bin/offline/read-offline-ruleset.js';
import { loadRuleset } from '../../../../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../../../../lib/engine/load/mitre-table.js';
import { describePlace } from '../../../../../lib/engine/load/ruleset-error.js';
import { compilePattern } from '../../../../../lib/patterns/compile-pattern.js';
import { productRoot } from '../../../../../lib/product/product-root.js';

const ROOT =
  '<group name="a,">\n<rule id="1" level="0"><category>syslog</category><description>r</description></rule>\n';

describe('patterns that can explode', () => {
  let warnings: string[];
  const silent = (): void => {};
  const diagnostics = {
    debug: silent,
    info: silent,
    error: silent,
    warn: (message: string, place?: { file: string; line: number }) => {
      warnings.push(`${place === undefined ? '' : describePlace(place)}: ${message}`);
    },
  };
  const options = { diagnostics, compilePattern, mitre: MitreTable.empty, logLevel: 3, mailLevel: 12 };
  beforeEach(() => (warnings = []));

  const load = (decoders: string, rules: string) =>
    loadRuleset(
      {
        decoders: [{ path: 'etc/decoders/d.xml', content: decoders }],
        rules: [{ path: 'etc/rules/r.xml', content: `${ROOT}${rules}</group>` }],
        lists: [],
      },
      options,
    );

  it('are named with file, line and rule or decoder, and are loaded', () => {
    const ruleset = load(
      '<decoder name="door">\n<prematch type="pcre2">^(?:\\w+\\s?)+!$</prematch></decoder>',
      '<rule id="100200" level="3">\n<regex type="pcre2">(a+)+b</regex><description>d</description></rule>',
    );
    expect(warnings).to.have.length(2);
    expect(warnings[0]).to.match(/^etc\/decoders\/d\.xml:\d+: The pattern in decoder 'door' can take very long/);
    expect(warnings[1]).to.match(/^etc\/rules\/r\.xml:3.*: The pattern in 'regex' of rule 100200 can take very long/);
    expect(ruleset.rules.byId.has(100200)).to.equal(true);
  });

  it('are none in the shipped ruleset', () => {
    const etc = fileURLToPath(new URL('etc/ruleset', productRoot()));
    loadRuleset(readOfflineRuleset([etc], diagnostics), options);
    expect(warnings).to.deep.equal([]);
  });
});
