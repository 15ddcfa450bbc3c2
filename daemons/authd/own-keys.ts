import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import { describeError } from '../../lib/log/describe-error.js';
import { AdmissionError } from './admission-error.js';
import type { AgentChange, AgentDecision, AgentKeys, KeyView } from './agent-keys.js';
import type { AgentUpkeep } from './agent-upkeep.js';
import type { KeyRegistry } from './key-registry.js';
import type { RegistrationTimes } from './registration-times.js';
import type { RequestedGroups } from './requested-groups.js';

export type OwnKeysParts = {
  readonly registry: KeyRegistry;
  readonly times: Pick<RegistrationTimes, 'unanswered'>;
  readonly groups: Pick<RequestedGroups, 'set' | 'done'>;
  readonly upkeep: Pick<AgentUpkeep, 'came' | 'went'>;
};

/** The agents of a manager that works by itself: its key file is all there is. */
export class OwnKeys implements AgentKeys {
  /** All or none: the file is written as a whole. */
  readonly mostRemoved = Infinity;

  constructor(private readonly parts: OwnKeysParts) {}

  byId(id: string): AgentKey | undefined {
    return this.parts.registry.byId(id);
  }

  byName(name: string): AgentKey | undefined {
    return this.parts.registry.byName(name);
  }

  byAddress(ip: string): AgentKey | undefined {
    return this.parts.registry.byAddress(ip);
  }

  nextId(): string {
    return this.parts.registry.nextId();
  }

  /** Its folder was looked for when it was asked for. */
  hasGroup(): boolean {
    return true;
  }

  unanswered(id: string): boolean {
    return this.parts.times.unanswered(id);
  }

  async decide<T>(decide: (keys: KeyView) => AgentDecision<T>): Promise<T> {
    const { change, result } = decide(this);
    if (change !== undefined) await this.#make(change);
    return result;
  }

  async #make({ remove, add, purge }: AgentChange): Promise<void> {
    const { registry, groups, upkeep } = this.parts;
    if (add?.groups !== undefined) groups.set(add.agent.id, add.groups);
    try {
      await registry.change({
        remove: remove.map(({ id }) => id),
        add: add === undefined ? [] : [add.agent],
        purge,
      });
    } catch (error) {
      if (add !== undefined) groups.done(add.agent.id);
      throw new AdmissionError('write_failed', describeError(error), { cause: error });
    }
    const gone = remove.filter(({ id }) => id !== add?.agent.id);
    if (add === undefined) upkeep.went(gone);
    else upkeep.came(add, gone);
  }
}
