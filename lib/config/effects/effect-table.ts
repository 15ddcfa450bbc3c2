import type { HomeRole } from '../../home/home-record.js';
import type { DaemonName } from '../../product/daemon-names.js';
import { attributeValue, type XmlElement } from '../../xml/xml-element.js';
import type { SectionName } from '../manager-config.js';
import { AGENT_EFFECTS, onAgent, onManager } from './agent-effects.js';
import { each, later, never, part, section, type SectionEffects, switchedOff, works } from './effect.js';
import { HOST_EFFECTS, WODLE_EFFECTS } from './host-effects.js';
import { MANAGER_EFFECTS } from './manager-effects.js';

type EffectTable = Readonly<Record<Exclude<SectionName, 'wodle'>, SectionEffects>>;

const MANAGER_TABLE: EffectTable = {
  ...MANAGER_EFFECTS,
  ...HOST_EFFECTS,
  client: onManager(AGENT_EFFECTS.client),
  client_buffer: onManager(AGENT_EFFECTS.client_buffer),
  anti_tampering: onManager(AGENT_EFFECTS.anti_tampering),
};

const AGENT_TABLE: EffectTable = {
  ...(Object.fromEntries(
    Object.entries<SectionEffects>(MANAGER_EFFECTS).map(([name, effects]) => [name, onAgent(effects)]),
  ) as Record<keyof typeof MANAGER_EFFECTS, SectionEffects>),
  'active-response': section('svc-agentd', {
    ...each(works, 'disabled', 'repeated_offenders'),
    ...each(
      never('managers bind responses to rules'),
      'command',
      'location',
      'agent_id',
      'level',
      'rules_id',
      'rules_group',
    ),
    ...each(part, 'timeout', 'ca_store'),
  }),
  'agent-upgrade': {
    ...MANAGER_EFFECTS['agent-upgrade'],
    block: later('this agent is not upgraded by its manager', switchedOff),
  },
  ...HOST_EFFECTS,
  ...AGENT_EFFECTS,
};

/** Daemons of an agent that read sections; the first speaks of those that nobody reads. */
const AGENT_OWNERS: readonly DaemonName[] = ['svc-agentd', 'svc-logcollector', 'svc-syscheckd', 'svc-modulesd'];

/** Names of modules in `<wodle name="...">` that the table has. */
export const WODLE_NAMES: readonly string[] = Object.keys(WODLE_EFFECTS);

/**
 * What this version makes of a section, in a home of this role. Every section of daemons-and-config.md 1.1 is there.
 * @param block tells modules of `<wodle>` apart
 */
export function effectsOf(role: HomeRole, name: SectionName, block?: XmlElement): SectionEffects {
  const table = role === 'agent' ? AGENT_TABLE : MANAGER_TABLE;
  const found = name === 'wodle' ? wodle(block) : table[name];
  return role === 'agent' && !AGENT_OWNERS.includes(found.owner) ? { ...found, owner: 'svc-agentd' } : found;
}

/** The daemon that speaks of a section in `-t`. */
export function ownerOf(role: HomeRole, name: SectionName): DaemonName {
  return effectsOf(role, name).owner;
}

function wodle(block: XmlElement | undefined): SectionEffects {
  const name = block === undefined ? undefined : attributeValue(block, 'name');
  const known = name !== undefined && Object.hasOwn(WODLE_EFFECTS, name) ? WODLE_EFFECTS[name] : undefined;
  // A name that nobody knows is an error where the section is read.
  return known ?? section('svc-modulesd', {});
}
