import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { blocks, type Field, ignored, list, scalar, type Values } from '../field.js';
import { parseDigits, splitList } from '../units.js';
import { freeText, integer, optionalInteger, optionalText, readPattern, requireText, yesNo } from '../value-fields.js';

const COMMAND_FIELDS = {
  name: optionalText(),
  executable: optionalText(),
  timeout_allowed: yesNo(false),
  extra_args: freeText(),
  expect: ignored(),
};

/** One `<command>` block: a program in active-response/bin. */
export type CommandConfig = Omit<Values<typeof COMMAND_FIELDS>, 'name' | 'executable' | 'expect'> & {
  readonly name: string;
  readonly executable: string;
};

/** `<command>` blocks (daemons-and-config.md 1.2). */
export const COMMAND: Field<readonly CommandConfig[]> = blocks(COMMAND_FIELDS, (raw, block, report) => {
  const { name, executable, timeout_allowed, extra_args } = raw;
  if (name === undefined || executable === undefined) {
    throw report.error(block, 1280, "Missing command options. You must specify a 'name' and 'executable'.");
  }
  if (name.startsWith('!')) {
    throw report.error(block, 1235, `Invalid value for element 'name': ${name}.`);
  }
  if (executable.includes('/') || executable === '.' || executable === '..') {
    // The program is looked up in active-response/bin and nowhere else.
    throw report.error(block, 1235, `Invalid value for element 'executable': ${executable}.`);
  }
  return { name, executable, timeout_allowed, extra_args };
});

/** Where a response runs. */
export type ResponseLocation = 'local' | 'server' | 'defined-agent' | 'all';

const MOST_OFFENDER_STEPS = 5;

const RESPONSE_FIELDS = {
  disabled: yesNo(false),
  command: optionalText(),
  location: optionalText(),
  agent_id: scalar<readonly string[]>([], (element, report) => {
    const ids = splitList(requireText(element, report));
    if (ids.length === 0 || ids.some((id) => !/^\d{1,9}$/.test(id))) {
      throw report.invalidValue(element);
    }
    return ids;
  }),
  level: optionalInteger({ min: 0, max: 20 }),
  rules_id: scalar<readonly number[]>([], (element, report) =>
    requireText(element, report)
      .split(/[\s,]+/)
      .filter((word) => word !== '')
      .map((word) => {
        const id = parseDigits(word);
        if (id === undefined) {
          throw report.invalidValue(element);
        }
        return id;
      }),
  ),
  /** A pattern (OS_Regex) for the raw group string of rules. */
  rules_group: scalar<string | undefined>(undefined, (element, report) => readPattern('osregex', element, report)),
  /** Seconds. */
  timeout: integer(0),
  /** Minutes; undefined when absent. */
  repeated_offenders: scalar<readonly number[] | undefined>(undefined, readOffenders),
  ca_store: list(requireText),
};

type RawResponse = Values<typeof RESPONSE_FIELDS>;

/** One `<active-response>` block as read; `finishActiveResponses` turns it into what the daemons use. */
export type RawActiveResponse = RawResponse & { readonly block: XmlElement };

/** `<active-response>` blocks, not yet checked against the commands. */
export const ACTIVE_RESPONSE: Field<readonly RawActiveResponse[]> = blocks(RESPONSE_FIELDS, (raw, block) => ({
  ...raw,
  block,
}));

/** A response that analysisd binds to rules. */
export type ActiveResponseConfig = {
  readonly command: CommandConfig;
  readonly locations: readonly ResponseLocation[];
  readonly agent_id: readonly string[];
  readonly level: number | undefined;
  readonly rules_id: readonly number[];
  readonly rules_group: string | undefined;
  /** Seconds; 0 for a response that is not undone. */
  readonly timeout: number;
};

/** All `<active-response>` blocks together. */
export type ActiveResponsesConfig = {
  readonly responses: readonly ActiveResponseConfig[];
  /** execd refuses everything: the first `disabled` found in any block says yes. */
  readonly execdDisabled: boolean;
  /** Minutes, from the first block that has them. */
  readonly repeatedOffenders: readonly number[];
  readonly caStores: readonly string[];
};

/**
 * Binds responses to commands (daemons-and-config.md 1.2, rules-and-alerts.md 8.1).
 * @throws ConfigError (1281), (1302), (1303), (1304)
 */
export function finishActiveResponses(
  raw: readonly RawActiveResponse[],
  commands: readonly CommandConfig[],
  report: ConfigReport,
): ActiveResponsesConfig {
  const responses = raw
    .map((response) => finishResponse(response, commands, report))
    .filter((response) => response !== undefined);
  const firstSwitch = raw.find(({ block }) => block.children.some(({ name }) => name === 'disabled'));
  return {
    responses,
    execdDisabled: firstSwitch?.disabled ?? false,
    repeatedOffenders: raw.find(({ repeated_offenders }) => repeated_offenders !== undefined)?.repeated_offenders ?? [],
    caStores: raw.flatMap(({ ca_store }) => ca_store),
  };
}

function finishResponse(
  raw: RawActiveResponse,
  commands: readonly CommandConfig[],
  report: ConfigReport,
): ActiveResponseConfig | undefined {
  const { block } = raw;
  if (raw.disabled) {
    return undefined;
  }
  if (raw.command === undefined || raw.location === undefined) {
    if (block.children.every(({ name }) => ['repeated_offenders', 'disabled', 'ca_store'].includes(name))) {
      return undefined;
    }
    throw report.error(block, 1281, 'Missing options in the active response configuration.');
  }
  const locations = readLocations(raw.location);
  if (locations.length === 0) {
    throw report.error(block, 1302, `Invalid active response location: '${raw.location}'.`);
  }
  const command = commands.find(({ name }) => name === raw.command);
  if (command === undefined) {
    throw report.error(block, 1303, `Invalid command '${raw.command}' in the active response.`);
  }
  if (locations.includes('defined-agent')) {
    if (raw.agent_id.length === 0) {
      throw report.error(block, 1304, 'No agent defined for response.');
    }
    if (raw.agent_id.some((id) => Number(id) === 0)) {
      report.warn(block, '(1306): Invalid agent ID. Use location=server to run AR on the manager.');
      return undefined;
    }
  }
  if (raw.timeout > 0 && !command.timeout_allowed) {
    report.warn(block, `(1305): Timeout not allowed for command: '${command.name}'.`);
  }
  return {
    command,
    locations,
    agent_id: raw.agent_id,
    level: raw.level,
    rules_id: raw.rules_id,
    rules_group: raw.rules_group,
    timeout: command.timeout_allowed ? raw.timeout : 0,
  };
}

/** The text is searched for each word, so several may be combined. */
function readLocations(text: string): ResponseLocation[] {
  const lower = text.toLowerCase();
  const found: ResponseLocation[] = [];
  // `as` and `analysisd` stand for the server; a bare `as` counts only as a word, or `was` would be a location.
  if (/server|analysis|\bas\b/.test(lower)) found.push('server');
  if (lower.includes('local')) found.push('local');
  if (lower.includes('defined-agent')) found.push('defined-agent');
  if (/all|any/.test(lower)) found.push('all');
  return found;
}

function readOffenders(element: XmlElement, report: ConfigReport): readonly number[] {
  const words = splitList(requireText(element, report));
  if (words.length > MOST_OFFENDER_STEPS) {
    report.warn(element, `Only the first ${String(MOST_OFFENDER_STEPS)} values of 'repeated_offenders' are used.`);
  }
  return words.slice(0, MOST_OFFENDER_STEPS).map((word) => {
    const minutes = parseDigits(word);
    if (minutes === undefined || minutes < 1) {
      throw report.invalidValue(element);
    }
    return minutes;
  });
}
