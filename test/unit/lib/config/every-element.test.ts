import { expect } from 'chai';
import type { Effect, ElementEffects, ElementGroup } from '../../../../lib/config/effects/effect.js';
import { effectsOf } from '../../../../lib/config/effects/effect-table.js';
import { findNoEffect } from '../../../../lib/config/effects/find-no-effect.js';
import { SECTION_NAMES, type SectionName } from '../../../../lib/config/manager-config.js';
import { readConfigurationXml } from '../../../../lib/config/read-configuration-xml.js';
import { sectionBlocks } from '../../../../lib/config/section-blocks.js';
import { SPECIFIED_ELEMENTS } from '../../../support/config/specified-elements.js';

const FILE = 'etc/manager.conf';
const ELEMENT_LINE = 4;
/** A value that no element of the table takes for one that asks for nothing. */
const ASKING = 'asking';

/**
 * Elements that only say more about something beside them, or that whoever reads them tells of: nothing is said of them here. A
 * new one needs its reason in the table of effects.
 */
const SILENT = new Set([
  'active-response/ca_store',
  'command/expect',
  'global/cti-url',
  'global/email_log_source',
  'localfile/query',
  'localfile/reconnect_time',
  ...['restart_audit', 'audit_key', 'startup_healthcheck', 'queue_size', 'provider'].map(
    (name) => `syscheck/whodata/${name}`,
  ),
]);

/** What is told only beside other sections: effects.test.ts has these. */
const BESIDE_OTHERS = new Set(['global/jsonout_output', 'indexer/options/fim_states']);

/** The elements of a section with their paths, those inside others included. */
function* walk(effects: ElementEffects, path: readonly string[]): Generator<readonly [readonly string[], Effect]> {
  for (const [name, effect] of Object.entries<Effect | ElementGroup>(effects)) {
    if (effect.kind === 'group') yield* walk(effect.elements, [...path, name]);
    else yield [[...path, name], effect];
  }
}

function findings(section: SectionName, path: readonly string[], beside: string) {
  const inner = path.reduceRight((text, name) => `<${name}>${text}</${name}>`, ASKING);
  const text = `<manager_config>\n<${section}>${beside}\n\n${inner}</${section}>\n</manager_config>`;
  return findNoEffect(sectionBlocks(readConfigurationXml(text, FILE), FILE), 'server');
}

describe('every section and element of the specification', () => {
  for (const section of SECTION_NAMES.filter((name) => name !== 'wodle')) {
    it(`is effective, or told with file and line: ${section}`, () => {
      const { block, elements } = effectsOf('server', section);
      if ('note' in block) {
        const [found] = findings(section, [], '<enabled>yes</enabled>');
        expect(found).to.include({ file: FILE, line: 2, what: section, note: block.note });
        return;
      }
      if (elements === 'any') throw new Error('nobody reads what is in it, and nothing is told');
      for (const [path, effect] of walk(elements, [])) {
        const what = [section, ...path].join('/');
        if (BESIDE_OTHERS.has(what)) continue;
        const found = ['', '<connection>syslog</connection>'].flatMap((beside) => findings(section, path, beside));
        if ('note' in effect) {
          expect(found[0], what).to.include({ file: FILE, line: ELEMENT_LINE, what, note: effect.note });
        } else {
          expect(found, what).to.deep.equal([]);
          const specified = SPECIFIED_ELEMENTS[section]?.some((name) => path.join('/').startsWith(name)) === true;
          if (effect.kind === 'part' && specified) expect([...SILENT], what).to.include(what);
        }
      }
    });
  }
});
