import { availableParallelism } from 'node:os';
import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { type Field, group, list, scalar, type Values } from '../field.js';
import { parseDigits } from '../units.js';
import { clamp, clampedInteger, readDuration, requireText, yesNo } from '../value-fields.js';

/** A directory of rule or decoder files. */
export type RulesetDirectorySetting = {
  /** Relative to the home, or absolute. */
  readonly path: string;
  /** OS_Regex on `<path>/<file>`. */
  readonly pattern: string;
};

const DEFAULT_PATTERN = '.xml$';

/** `<ruleset>`: all elements repeat and add up (daemons-and-config.md 1.2). */
const RULESET_FIELDS = {
  rule_dir: list(readDirectory, ['pattern']),
  rule_include: list(requireText),
  rule_exclude: list(requireText),
  decoder_dir: list(readDirectory, ['pattern']),
  decoder_include: list(requireText),
  decoder_exclude: list(requireText),
  /** CDB lists: paths without extension, relative to the home. */
  list: list(requireText),
};

/** `<ruleset>` as read. */
export type RulesetConfig = Values<typeof RULESET_FIELDS>;
/** Reads `<ruleset>` blocks; blocks add up. */
export const RULESET: Field<RulesetConfig> = group(RULESET_FIELDS);

/** Puts in the shipped directories where the configuration names none (decoding.md 4.1, rules-and-alerts.md 1.1). */
export function withDefaultDirectories(ruleset: RulesetConfig): RulesetConfig {
  const { rule_dir, decoder_dir } = ruleset;
  return {
    ...ruleset,
    rule_dir: rule_dir.length > 0 ? rule_dir : [{ path: 'ruleset/rules', pattern: DEFAULT_PATTERN }],
    decoder_dir: decoder_dir.length > 0 ? decoder_dir : [{ path: 'ruleset/decoders', pattern: DEFAULT_PATTERN }],
  };
}

/** Limits of logtest; larger values are clamped with a warning. */
const MOST_THREADS = 128;
const MOST_SESSIONS = 500;
const MOST_SESSION_SECONDS = 31_536_000;

/** `<rule_test>`: the logtest service. */
export const RULE_TEST = group({
  enabled: yesNo(true),
  threads: scalar(1, (element, report) => {
    if (requireText(element, report) === 'auto') {
      return Math.min(availableParallelism(), MOST_THREADS);
    }
    const threads = parseDigits(element.content);
    if (threads === undefined || threads < 1) {
      throw report.invalidValue(element);
    }
    return clamp(threads, MOST_THREADS, element, report);
  }),
  max_sessions: clampedInteger(64, { min: 1, max: MOST_SESSIONS }),
  /** Seconds. */
  session_timeout: scalar(900, (element, report) =>
    clamp(readDuration(element, report, { min: 1 }), MOST_SESSION_SECONDS, element, report),
  ),
});

function readDirectory(element: XmlElement, report: ConfigReport): RulesetDirectorySetting {
  const path = requireText(element, report);
  const unknown = element.attributes.find(({ name }) => name !== 'pattern');
  if (unknown !== undefined) {
    // The reference then has no pattern at all and loads nothing: better said.
    throw report.invalidAttribute(element, unknown.name);
  }
  return { path, pattern: element.attributes[0]?.value ?? DEFAULT_PATTERN };
}
