import { WhiteList } from '../../../lib/config/white-list.js';
import { toByteString } from '../../../lib/engine/byte-string.js';
import type { Diagnostics, EngineEvent } from '../../../lib/engine/event.js';
import type { EventOutcome } from '../../../lib/engine/outcome.js';
import type { CompiledRule } from '../../../lib/engine/rules/ruleset.js';
import { bindResponses, type BoundResponses } from './bind-responses.js';
import type { RespondingSettings, ResponseSettings } from './response-settings.js';

const USER_NAME = /^[a-zA-Z._0-9@?-]*$/;
const ADDRESS = /^[a-zA-Z.:_0-9-]*$/;
/** Fields of Windows events in which the programs of responses look for an address (daemons-and-config.md 5.4). */
const WINDOWS_ADDRESSES: readonly string[] = ['win.eventdata.ipAddress', 'win.eventdata.destinationIp'];

/**
 * Decides about active responses (rules-and-alerts.md 8): which ones the alert of an event sets off, and whether they may
 * run. A decision is a line of the stream of responses; svc-execd carries it out.
 */
export class Responses {
  readonly #bound: BoundResponses;
  readonly #whiteList: WhiteList;
  readonly #diagnostics: Diagnostics;

  constructor(rules: readonly CompiledRule[], { responses, whiteList }: RespondingSettings, diagnostics: Diagnostics) {
    this.#bound = bindResponses(rules, responses);
    this.#whiteList = new WhiteList(whiteList);
    this.#diagnostics = diagnostics;
  }

  /** What an event sets off, in the order of the configuration; undefined when it is nothing, as it is for nearly all. */
  triggered({ responds, rule, event }: EventOutcome): readonly ResponseSettings[] | undefined {
    if (!responds || rule === undefined) return undefined;
    const bound = this.#bound.get(rule.ordinal);
    return bound !== undefined && this.#mayRunAgainst(event) ? bound : undefined;
  }

  #mayRunAgainst(event: EngineEvent): boolean {
    const { dstuser, srcip } = event;
    if (dstuser !== undefined && !USER_NAME.test(dstuser)) {
      this.#diagnostics.warn(`(1272): Invalid username '${shown(dstuser)}'. Possible logging attack.`);
      return false;
    }
    if (srcip !== undefined && !ADDRESS.test(srcip)) {
      this.#diagnostics.warn(`(1271): Invalid IP Address '${shown(srcip)}'. Possible logging attack.`);
      return false;
    }
    if (srcip !== undefined && this.#whiteList.contains(srcip)) return false;
    return !event.fieldNames.some(
      (name, i) => WINDOWS_ADDRESSES.includes(name) && this.#whiteList.contains(event.fieldValues[i] ?? ''),
    );
  }
}

/**
 * The line that tells of a decision, a byte string.
 * @param alertJson of the same event (rules-and-alerts.md 7)
 */
export function decisionLine(response: ResponseSettings, { event, rule }: EventOutcome, alertJson: string): string {
  const { name, command, timeout, locations, agents, extraArgs } = response;
  const decision = {
    response: name,
    command,
    timeout,
    locations,
    agents: [...new Set([...(locations.includes('local') ? [event.agentId] : []), ...agents])],
    extra_args: extraArgs,
    rule: String(rule?.rule.id),
  };
  return `${toByteString(JSON.stringify(decision)).slice(0, -1)},"alert":${alertJson}}\n`;
}

/** Bytes of a name that a warning shows. */
const MAX_SHOWN = 256;

function shown(text: string): string {
  return text.slice(0, MAX_SHOWN);
}
