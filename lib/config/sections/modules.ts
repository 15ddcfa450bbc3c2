import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import {
  append,
  attributed,
  type Field,
  foldChildren,
  group,
  initialValues,
  lastBlock,
  list,
  optionalGroup,
  scalar,
  type Shape,
  type Values,
} from '../field.js';
import { agreeSchedule, type Schedule, scheduleFields } from '../schedule.js';
import {
  duration,
  integer,
  oneOf,
  optionalText,
  readWebAddress,
  readYesNo,
  readYesNoAttribute,
  requireText,
  text,
  webAddress,
  yesNo,
} from '../value-fields.js';

const DAY = 86_400;

/** A policy file; `enabled="no"` switches it off, also a shipped one. */
export type ScaPolicy = { readonly path: string; readonly enabled: boolean };

const SCA_FIELDS = {
  enabled: yesNo(true),
  scan_on_start: yesNo(true),
  ...scheduleFields(DAY),
  skip_nfs: yesNo(true),
  policies: group({
    policy: list<ScaPolicy>(
      (element, report) => ({
        path: requireText(element, report),
        enabled: readYesNoAttribute(element, 'enabled', true, report),
      }),
      ['enabled'],
    ),
  }),
};

/** `<sca>` as read. */
export type ScaConfig = Values<typeof SCA_FIELDS>;

/** `<sca>`: security configuration assessment. Undefined without a block. */
export const SCA: Field<ScaConfig | undefined> = scheduled(optionalGroup(SCA_FIELDS));

const HASH = (digits: number): Field<string | undefined> =>
  scalar<string | undefined>(undefined, (element, report) => {
    const value = requireText(element, report);
    if (value.length !== digits || !/^[0-9a-fA-F]+$/.test(value)) {
      throw report.invalidValue(element);
    }
    return value.toLowerCase();
  });

/** The reference's default; a block without an interval is nearly a busy loop, so it is warned of. */
const COMMAND_INTERVAL = 2;

const COMMAND_FIELDS = {
  disabled: yesNo(false),
  tag: optionalText(),
  command: optionalText(),
  ...scheduleFields(COMMAND_INTERVAL),
  run_on_start: yesNo(true),
  ignore_output: yesNo(false),
  /** Seconds; 0 is unlimited. */
  timeout: integer(0),
  verify_md5: HASH(32),
  verify_sha1: HASH(40),
  verify_sha256: HASH(64),
  skip_verification: yesNo(false),
};

/** One `<wodle name="command">`. */
export type CommandModuleConfig = Omit<Values<typeof COMMAND_FIELDS>, 'command'> & { readonly command: string };

const SYSCOLLECTOR_FIELDS = {
  disabled: yesNo(false),
  ...scheduleFields(3600),
  scan_on_start: yesNo(true),
  hardware: yesNo(true),
  os: yesNo(true),
  network: yesNo(true),
  packages: yesNo(true),
  /** `all` adds ports that are not listening. */
  ports: attributed({ enabled: true, all: false }, ['all'], (element, report) => ({
    enabled: readYesNo(element, report),
    all: readYesNoAttribute(element, 'all', false, report),
  })),
  processes: yesNo(true),
  users: yesNo(true),
  groups: yesNo(true),
  services: yesNo(true),
  browser_extensions: yesNo(true),
  hotfixes: yesNo(true),
  synchronization: group({ max_eps: integer(10, { min: 0, max: 1_000_000 }) }),
};

/** `<wodle name="syscollector">` as read. */
export type SyscollectorConfig = Values<typeof SYSCOLLECTOR_FIELDS>;

/** Elements of the `<wodle>` blocks that are read, by their name. */
export const WODLE_SHAPES: Readonly<Record<string, Shape>> = {
  command: COMMAND_FIELDS,
  syscollector: SYSCOLLECTOR_FIELDS,
};

/** Modules whose blocks are kept unread until the module itself is there (daemons-and-config.md 7.1). */
export const UNREAD_WODLES: ReadonlySet<string> = new Set([
  'open-scap',
  'cis-cat',
  'osquery',
  'aws-s3',
  'azure-logs',
  'azure',
  'docker-listener',
  'agent-key-polling',
]);

/** All `<wodle name="...">` blocks. */
export type WodlesConfig = {
  /** Distinct by tag: a later block with the same tag replaces the earlier. */
  readonly command: readonly CommandModuleConfig[];
  /** A second block of one file replaces the first; one of agent.conf overrides what it says. */
  readonly syscollector: SyscollectorConfig | undefined;
  readonly other: readonly { readonly name: string; readonly block: XmlElement }[];
};

/** `<wodle>` blocks, told apart by their name. */
export const WODLE: Field<WodlesConfig> = {
  initial: { command: [], syscollector: undefined, other: [] },
  attributes: ['name'],
  fold(previous, block, report) {
    const name = block.attributes.find((attribute) => attribute.name === 'name')?.value;
    if (name === undefined) {
      throw report.missingValue(block, 'wodle name');
    }
    if (name === 'command') {
      const command = readCommandModule(block, report);
      const isOther = ({ tag }: CommandModuleConfig): boolean => tag === undefined || tag !== command.tag;
      const others = previous.command.every(isOther) ? previous.command : previous.command.filter(isOther);
      return { ...previous, command: append(others, [command], block, report) };
    }
    if (name === 'syscollector') {
      // What a manager pushes is laid over the block of this host (agents-and-groups.md 7.3).
      const before = report.shared ? previous.syscollector : undefined;
      const values = foldChildren(SYSCOLLECTOR_FIELDS, before ?? initialValues(SYSCOLLECTOR_FIELDS), block, report);
      return { ...previous, syscollector: { ...values, ...agreeSchedule(scheduleOf(values), block, report) } };
    }
    if (UNREAD_WODLES.has(name)) {
      return { ...previous, other: append(previous.other, [{ name, block }], block, report) };
    }
    throw report.invalidAttribute(block, name);
  },
};

function readCommandModule(block: XmlElement, report: ConfigReport): CommandModuleConfig {
  const values = foldChildren(COMMAND_FIELDS, initialValues(COMMAND_FIELDS), block, report);
  if (values.command === undefined) {
    throw report.missingValue(block, 'command');
  }
  if (!block.children.some(({ name }) => name === 'interval' || name === 'day' || name === 'wday' || name === 'time')) {
    report.warn(block, `The command module has no interval: it runs every ${String(COMMAND_INTERVAL)} seconds.`);
  }
  return { ...values, command: values.command, ...agreeSchedule(scheduleOf(values), block, report) };
}

function scheduleOf({ interval, day, wday, time }: Schedule): Schedule {
  return { interval, day, wday, time };
}

/** Checks the schedule of a section once its block is read. */
function scheduled<T extends Schedule>(inner: Field<T | undefined>): Field<T | undefined> {
  return {
    ...inner,
    fold(previous, block, report) {
      const values = inner.fold(previous, block, report);
      return values === undefined ? undefined : { ...values, ...agreeSchedule(scheduleOf(values), block, report) };
    },
  };
}

/** Time with suffix s m h d, as the task manager has it. */
const seconds = (initial: number): Field<number> => duration(initial, { min: 1 });

/** `<agent-upgrade>`: manager side first, then what agents read. */
export const AGENT_UPGRADE = group({
  chunk_size: integer(32_768, { min: 64, max: 60_000 }),
  max_threads: integer(8, { min: 0, max: 256 }),
  wpk_repository: text('packages.wazuh.com/4.x/wpk/'),
  enabled: yesNo(true),
  notification_wait_start: seconds(30),
  notification_wait_max: seconds(3600),
  notification_wait_factor: scalar(2, (element, report) => {
    const value = requireText(element, report);
    if (!/^\d{1,6}(\.\d{1,6})?$/.test(value) || Number(value) < 1) {
      throw report.invalidValue(element);
    }
    return Number(value);
  }),
  ca_verification: group({ enabled: yesNo(true), ca_store: list(requireText) }),
});

/** `<task-manager>`. */
export const TASK_MANAGER = group({ cleanup_time: seconds(7 * DAY), task_timeout: seconds(900) });

const VULNERABILITY_FIELDS = {
  enabled: yesNo(false),
  'index-status': yesNo(true),
  'feed-update-interval': seconds(3600),
  'offline-url': webAddress('https', 'http', 'file'),
  'cti-url': webAddress('https', 'http'),
};

/** `<vulnerability-detection>`: the last block counts. */
export const VULNERABILITY_DETECTION = lastBlock(optionalGroup(VULNERABILITY_FIELDS));

/** `<indexer>`: the last block counts. */
export const INDEXER = lastBlock(
  optionalGroup({
    enabled: yesNo(false),
    hosts: group({ host: list((element, report) => readWebAddress(element, report, ['https', 'http'])) }),
    ssl: group({
      certificate_authorities: group({ ca: list(requireText) }),
      certificate: optionalText(),
      key: optionalText(),
    }),
    options: group({
      alerts: yesNo(false),
      archives: yesNo(false),
      states: yesNo(true),
      fim_states: yesNo(false),
      geoip: oneOf('off', ['off', 'pipeline']),
      batch_size: integer(2048, { min: 1, max: 2048 }),
      flush_interval: duration(1, { min: 1, max: 60 }),
      timeout: duration(60, { min: 5, max: 600 }),
    }),
  }),
);
