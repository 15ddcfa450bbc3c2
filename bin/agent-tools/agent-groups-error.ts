import { BusError } from '../../lib/bus/bus-error.js';
import { GroupError } from '../../lib/groups/group-error.js';

/** Texts by the numbers that the API has for them, too (rest-api.md 5.2). */
const TEXTS = {
  1017: 'Some daemons are not ready yet',
  1701: 'Agent does not exist',
  1703: 'Action not available for Manager (agent 000)',
  1710: 'The group does not exist',
  1711: 'The group already exists',
  1712: 'Default group is not deletable',
  1713: 'Invalid group ID. Some IDs are restricted for internal purposes',
  1722: 'Incorrect format for group_id',
  1734: 'Error removing agent from group',
  1737: 'Maximum number of groups per multigroup is 128',
  1745: "Agent only belongs to 'default' and it cannot be unassigned from this group.",
  1751: 'Could not assign agent to group',
} as const;
export type AgentGroupsErrorNumber = keyof typeof TEXTS;

/** What svc-db and the folders of groups refuse. */
const NUMBERS: ReadonlyMap<string, AgentGroupsErrorNumber> = new Map([
  ['unavailable', 1017],
  ['unknown_group', 1710],
  ['group_exists', 1711],
  ['default_group', 1712],
  ['reserved_name', 1713],
  ['taken_by_file', 1713],
  ['invalid_name', 1722],
]);

/** Why an agent keeps its groups. */
const MEMBERSHIP_NUMBERS: ReadonlyMap<string, AgentGroupsErrorNumber> = new Map([
  ['unknown_agent', 1701],
  ['manager', 1703],
  ['not_member', 1734],
  ['too_many_groups', 1737],
  ['only_default', 1745],
  ['already_member', 1751],
]);

/** What was not done; the message is what is shown behind the number. */
export class AgentGroupsError extends Error {
  override readonly name = 'AgentGroupsError';

  constructor(
    readonly number: AgentGroupsErrorNumber,
    detail?: string,
    options?: ErrorOptions,
  ) {
    super(detail === undefined ? TEXTS[number] : `${TEXTS[number]}: ${detail}`, options);
  }
}

/** The error of a number for one of svc-db or of the folders; any other as it is. */
export function numberedError(error: unknown): unknown {
  if (!(error instanceof BusError || error instanceof GroupError)) return error;
  const number = NUMBERS.get(error.code);
  if (number === undefined) return error;
  return new AgentGroupsError(number, number === 1017 ? error.message : undefined, { cause: error });
}

/** The error for a code of `agents.membership`. */
export function membershipError(code: string, message: string): Error {
  const number = MEMBERSHIP_NUMBERS.get(code);
  return number === undefined ? new Error(message) : new AgentGroupsError(number);
}
