import { expect } from 'chai';
import { type AgentFacts, type ForceRules, judgeReplacement } from '../../../../daemons/authd/replacement-rule.js';

const NOW = 1_800_000_000;
const HASH = 'e16d73574b34ca713f79a430d2c0d7cd4be963de';
const AGENT = { id: '005', name: 'web01', keyHash: HASH };
const DEFAULTS: ForceRules = {
  enabled: true,
  key_mismatch: true,
  disconnected_time: { enabled: true, seconds: 3600 },
  after_registration_time: 3600,
};
/** Disconnected and registered long ago. */
const GONE: AgentFacts = { status: 'disconnected', disconnectedAt: NOW - 7200, registeredAt: NOW - 90_000 };

const OFF = "Agent '005' won't be removed because the force option is disabled.";
const UNKNOWN = "Failed to get agent-info for agent '005'";
const CONNECTED = "Agent '005' can't be replaced since it is not disconnected.";
const TOO_SHORT = "Agent '005' has not been disconnected long enough to be replaced.";
const TOO_YOUNG = "Agent '005' doesn't comply with the registration time to be removed.";
const SAME_KEY = "Agent '005' key already exists on the manager.";
const REPLACED = "Removing old agent 'web01' (id '005').";

const CASES: readonly {
  readonly what: string;
  readonly rules?: Partial<ForceRules>;
  readonly facts?: Partial<AgentFacts> | 'unknown';
  readonly hash?: string;
  readonly reason: string;
}[] = [
  { what: 'an old disconnected agent', reason: REPLACED },
  { what: 'anything while force is off', rules: { enabled: false }, reason: OFF },
  { what: 'anything while force is off, known or not', rules: { enabled: false }, facts: 'unknown', reason: OFF },
  { what: 'an agent that svc-db does not know', facts: 'unknown', reason: UNKNOWN },
  { what: 'an active agent', facts: { status: 'active', disconnectedAt: 0 }, reason: CONNECTED },
  { what: 'a pending agent', facts: { status: 'pending', disconnectedAt: 0 }, reason: CONNECTED },
  { what: 'a disconnected agent without its time', facts: { disconnectedAt: 0 }, reason: CONNECTED },
  { what: 'an agent disconnected a second too short', facts: { disconnectedAt: NOW - 3599 }, reason: TOO_SHORT },
  { what: 'an agent disconnected just long enough', facts: { disconnectedAt: NOW - 3600 }, reason: REPLACED },
  {
    what: 'an active agent without the test of disconnection',
    rules: { disconnected_time: { enabled: false, seconds: 3600 } },
    facts: { status: 'active', disconnectedAt: 0 },
    reason: REPLACED,
  },
  { what: 'an agent that never connected', facts: { status: 'never_connected', disconnectedAt: 0 }, reason: REPLACED },
  { what: 'an agent registered a second too late', facts: { registeredAt: NOW - 3599 }, reason: TOO_YOUNG },
  { what: 'an agent registered just early enough', facts: { registeredAt: NOW - 3600 }, reason: REPLACED },
  {
    what: 'a new agent without the test of registration',
    rules: { after_registration_time: 0 },
    facts: { registeredAt: NOW },
    reason: REPLACED,
  },
  { what: 'an agent whose key the caller has', hash: HASH, reason: SAME_KEY },
  { what: 'an agent of another key', hash: HASH.replace('e', 'f'), reason: REPLACED },
  { what: 'the same key without that test', rules: { key_mismatch: false }, hash: HASH, reason: REPLACED },
];

describe('judgeReplacement', () => {
  for (const { what, rules, facts, hash, reason } of CASES) {
    it(`judges ${what}`, () => {
      const known = facts === 'unknown' ? undefined : { ...GONE, ...facts };
      expect(judgeReplacement(AGENT, known, { ...DEFAULTS, ...rules }, hash, NOW)).to.deep.equal({
        replace: reason === REPLACED,
        reason,
      });
    });
  }
});
