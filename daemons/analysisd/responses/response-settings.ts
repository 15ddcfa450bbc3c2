import type { ActiveResponseConfig, ResponseLocation } from '../../../lib/config/sections/active-response.js';

/** An `<active-response>` block, as plain data: what is decided goes by it, in a replay, too. */
export type ResponseSettings = {
  /** Command and time-out, such as `host-deny600`: what executors know it by. */
  readonly name: string;
  readonly command: string;
  /** Seconds; 0 = it is not undone. */
  readonly timeout: number;
  readonly locations: readonly ResponseLocation[];
  /** Of `defined-agent`, three digits or more. */
  readonly agents: readonly string[];
  readonly extraArgs: readonly string[];
  readonly level: number | undefined;
  /** A pattern (OS_Regex) for the raw group string of rules. */
  readonly rulesGroup: string | undefined;
  readonly rulesId: readonly number[];
};

/** What decides about active responses: the blocks in their order, and whom none is run against. */
export type RespondingSettings = {
  readonly responses: readonly ResponseSettings[];
  /** `<white_list>` as written. */
  readonly whiteList: readonly string[];
};

/** What of the configuration decides about active responses (rules-and-alerts.md 8.1). */
export function respondingOf(
  responses: readonly ActiveResponseConfig[],
  whiteList: readonly string[],
): RespondingSettings {
  return {
    responses: responses.map((response) => ({
      name: `${response.command.name}${String(response.timeout)}`,
      command: response.command.name,
      timeout: response.timeout,
      locations: response.locations,
      agents: response.agent_id.map((id) => id.padStart(3, '0')),
      extraArgs: response.command.extra_args.split(/\s+/).filter((word) => word !== ''),
      level: response.level,
      rulesGroup: response.rules_group,
      rulesId: response.rules_id,
    })),
    whiteList,
  };
}
