import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import type { GroupFolders } from '../../lib/groups/group-folders.js';
import type { Logger } from '../../lib/log/logger.js';
import { AgentAddress } from '../../lib/network/agent-address.js';
import { AdmissionError, type RefusalCode } from './admission-error.js';
import type { Enroller } from './enroller.js';
import { groupListProblem, groupNames, missingGroup } from './group-list.js';
import type { ForceRules } from './replacement-rule.js';

/** An agent that a local program wants to add. */
export type LocalCandidate = {
  readonly name: string;
  readonly ip: string;
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  /** Names with commas between them. */
  readonly groups?: string | undefined;
  readonly keyHash?: string | undefined;
  /** The configured rules when absent. */
  readonly force?: ForceRules | undefined;
};

export type LocalErrorCode = RefusalCode | 'bad_ip' | 'bad_groups';

/** A local request that was refused. */
export class LocalRequestError extends Error {
  override readonly name = 'LocalRequestError';

  constructor(
    readonly code: LocalErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Adds and removes agents for local programs, over the bus or the local socket (agents-and-groups.md 2.6). */
export class LocalAgents {
  constructor(
    private readonly enroller: Enroller,
    private readonly groups: GroupFolders,
    private readonly force: () => ForceRules,
    private readonly logger: Logger,
  ) {}

  /** @param isWanted whether somebody still waits for it @throws LocalRequestError */
  async add(candidate: LocalCandidate, isWanted?: () => boolean): Promise<AgentKey> {
    const { name, ip, id, key, groups, keyHash } = candidate;
    const names = groups === undefined ? undefined : groupNames(groups);
    if (groups !== undefined && names !== undefined) {
      const problem = groupListProblem(groups) ?? (await missingGroup(this.groups, names));
      if (problem !== undefined) throw new LocalRequestError('bad_groups', problem);
    }
    const address = AgentAddress.parse(ip);
    if (address === undefined) throw new LocalRequestError('bad_ip', `Invalid IP: ${ip}`);
    const agent = await asLocal(() =>
      this.enroller.add(
        {
          name,
          address,
          groups: names,
          keyHash,
          source: undefined,
          force: candidate.force ?? this.force(),
          ...(id === undefined ? {} : { id }),
          ...(key === undefined ? {} : { rawKey: key }),
        },
        isWanted,
      ),
    );
    this.logger.info(`Agent key generated for agent '${name}' (requested locally)`);
    return agent;
  }

  /** @returns the removed ones @throws LocalRequestError */
  async remove(ids: readonly string[], purge: boolean, isWanted?: () => boolean): Promise<AgentKey[]> {
    const agents = await asLocal(() => this.enroller.remove(ids, purge, isWanted));
    for (const { id, name } of agents) this.logger.info(`Agent '${id}' (${name}) deleted (requested locally)`);
    return agents;
  }
}

async function asLocal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AdmissionError) throw new LocalRequestError(error.code, error.message, { cause: error });
    throw error;
  }
}
