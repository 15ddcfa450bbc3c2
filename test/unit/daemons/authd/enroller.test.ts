import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { AdmissionError } from '../../../../daemons/authd/admission-error.js';
import { AgentUpkeep } from '../../../../daemons/authd/agent-upkeep.js';
import { Enroller, type EnrollmentCandidate } from '../../../../daemons/authd/enroller.js';
import { KeyRegistry } from '../../../../daemons/authd/key-registry.js';
import { OwnKeys } from '../../../../daemons/authd/own-keys.js';
import { RegistrationTimes } from '../../../../daemons/authd/registration-times.js';
import { ReplacementGuard } from '../../../../daemons/authd/replacement-guard.js';
import type { AgentFacts } from '../../../../daemons/authd/replacement-rule.js';
import { RequestedGroups } from '../../../../daemons/authd/requested-groups.js';
import { AgentAddress } from '../../../../lib/network/agent-address.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const NOW = 1_700_000_000;
const GONE: AgentFacts = { status: 'disconnected', disconnectedAt: NOW - 7200, registeredAt: NOW - 9000 };
const FORCE: EnrollmentCandidate['force'] = {
  enabled: true,
  key_mismatch: true,
  disconnected_time: { enabled: true, seconds: 3600 },
  after_registration_time: 3600,
};

describe('Enroller', () => {
  let home: TemporaryHome;
  let enroller: Enroller;
  /** Questions to svc-db that are not answered, by agent. */
  let asked: Map<string, (facts: AgentFacts | undefined) => void>;
  let onAsked: () => void;

  beforeEach(async () => {
    home = new TemporaryHome();
    mkdirSync(home.path('queue', 'rids'), { recursive: true });
    const logger = new RecordingLogger();
    asked = new Map();
    onAsked = () => {};
    const registrar = {
      registered: () => {},
      removed: () => {},
      facts: (id: string) =>
        new Promise<AgentFacts | undefined>((resolve) => {
          asked.set(id, resolve);
          onAsked();
        }),
    };
    const registry = new KeyRegistry({
      path: home.path('etc', 'client.keys'),
      lastIdPath: home.path('queue', 'agents-last-id'),
      logger,
    });
    await registry.load();
    const times = new RegistrationTimes(home.path('queue', 'agents-timestamp'), registry, logger);
    const groups = new RequestedGroups(home.path('queue', 'agents-requested-groups'));
    const guard = new ReplacementGuard(() => NOW * 1000);
    const purge = () => false;
    const isNameUsed = (name: string) => registry.byName(name) !== undefined;
    const upkeep = new AgentUpkeep({ home, registrar, times, groups, isNameUsed, logger });
    const keys = new OwnKeys({ registry, times, groups, upkeep });
    enroller = new Enroller({ keys, registrar, times, guard, logger, purge, now: () => NOW });
  });
  afterEach(() => {
    home.remove();
  });

  const candidate = (name: string, ip: string, force = FORCE): EnrollmentCandidate => {
    const address = AgentAddress.parse(ip);
    if (address === undefined) throw new TypeError(ip);
    return { name, address, groups: undefined, keyHash: undefined, source: '192.0.2.9', force };
  };

  it('asks of all agents in the way at once, since an agent waits a second only', async () => {
    const first = await enroller.add(candidate('web01', '192.0.2.1'));
    const second = await enroller.add(candidate('web02', '192.0.2.2'));
    const both = new Promise<void>((resolve) => {
      onAsked = () => {
        if (asked.size === 2) resolve();
      };
    });
    const added = enroller.add(candidate('web01', '192.0.2.2'));
    await both;
    for (const answer of asked.values()) answer(GONE);
    expect([first.id, second.id, (await added).id]).to.deep.equal(['001', '002', '003']);
  });

  it('refuses for the first agent that stays, and asks nobody without force', async () => {
    await enroller.add(candidate('web01', '192.0.2.1'));
    const refusal = await enroller
      .add(candidate('web01', '192.0.2.2', { ...FORCE, enabled: false }))
      .catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(AdmissionError);
    expect((refusal as AdmissionError).code).to.equal('duplicate_name');
    expect(asked.size).to.equal(0);
  });
});
