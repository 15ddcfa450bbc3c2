import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import {
  attributed,
  blocks,
  group,
  ignored,
  initialValues,
  list,
  optionalGroup,
  scalar,
  type Values,
} from '../field.js';
import { splitList } from '../units.js';
import {
  address,
  duration,
  integer,
  optionalInteger,
  optionalText,
  readDuration,
  readNetwork,
  readYesNo,
  readYesNoAttribute,
  requireText,
  text,
  yesNo,
} from '../value-fields.js';

/** Transport of a listener. */
export type RemoteProtocol = 'tcp' | 'udp';

/** Port 0 lets the system choose, so that several homes run on one machine. */
const PORT = { min: 0, max: 65535 };
/** Above this the queue of events in memory is larger than recommended. */
const LARGE_QUEUE = 262_144;
const DEFAULT_PORT = { secure: 1514, syslog: 514 };

const REMOTE_FIELDS = {
  connection: scalar<'secure' | 'syslog' | undefined>(undefined, (element, report) => {
    const value = requireText(element, report);
    if (value !== 'secure' && value !== 'syslog') {
      throw report.invalidValue(element);
    }
    return value;
  }),
  port: optionalInteger(PORT),
  protocol: scalar<readonly string[]>([], (element, report) => splitList(requireText(element, report))),
  ipv6: yesNo(false),
  local_ip: address(),
  'allowed-ips': list(readNetwork),
  'denied-ips': list(readNetwork),
  queue_size: integer(131_072, { min: 1 }),
  /** Seconds. */
  rids_closing_time: duration(300),
  /** Seconds; 0 is off. */
  connection_overtake_time: integer(60, { min: 0, max: 3600 }),
  agents: group({ allow_higher_versions: yesNo(false) }),
  /** Messages of RFC 5424 become such of RFC 3164; for syslog only. */
  rewrite_rfc5424: yesNo(false),
};

type RawRemote = Values<typeof REMOTE_FIELDS>;

/** One `<remote>` block: a listener for agents or for syslog senders. */
export type RemoteConfig = Omit<RawRemote, 'connection' | 'port' | 'protocol'> & {
  readonly connection: 'secure' | 'syslog';
  readonly port: number;
  readonly protocol: readonly RemoteProtocol[];
};

const REMOTE_BLOCKS = blocks(REMOTE_FIELDS, finishRemote);

/** `<remote>` (daemons-and-config.md 1.2). Only one secure block is allowed. */
export const REMOTE: typeof REMOTE_BLOCKS = {
  ...REMOTE_BLOCKS,
  fold(previous, element, report) {
    const all = REMOTE_BLOCKS.fold(previous, element, report);
    if (all.filter(({ connection }) => connection === 'secure').length > 1) {
      throw report.error(element, 1244, "Only one 'remote' block may have the connection 'secure'.");
    }
    return all;
  },
};

function finishRemote(raw: RawRemote, block: XmlElement, report: ConfigReport): RemoteConfig {
  const { connection } = raw;
  if (connection === undefined) {
    throw report.missingValue(block, 'connection');
  }
  if (raw.queue_size > LARGE_QUEUE) {
    report.warn(
      block,
      `Queue size of ${String(raw.queue_size)} is very large; at most ${String(LARGE_QUEUE)} is advised.`,
    );
  }
  if (connection === 'syslog' && raw['allowed-ips'].length === 0) {
    report.warn(block, "A syslog listener without 'allowed-ips' accepts nobody.");
  }
  return { ...raw, connection, port: raw.port ?? DEFAULT_PORT[connection], protocol: protocols(raw, block, report) };
}

/** tcp when nothing usable is named, and for syslog when both are. */
function protocols(raw: RawRemote, block: XmlElement, report: ConfigReport): readonly RemoteProtocol[] {
  const named = new Set<RemoteProtocol>();
  for (const word of raw.protocol) {
    const name = word.toLowerCase();
    if (name === 'tcp' || name === 'udp') {
      named.add(name);
    } else {
      report.warn(block, `(9001): Ignored invalid value '${word}' for 'protocol'.`);
    }
  }
  if (named.size === 2 && raw.connection === 'syslog') {
    report.warn(block, '(9002): A syslog listener uses one protocol; tcp is used.');
    named.delete('udp');
  }
  return named.size === 0 ? ['tcp'] : [...named];
}

/** Seconds with the attribute `enabled`, which the reference demands; without it the check is on. */
const DISCONNECTED_TIME = attributed({ enabled: true, seconds: 3600 }, ['enabled'], (element, report) => ({
  enabled: readYesNoAttribute(element, 'enabled', true, report),
  seconds: readDuration(element, report),
}));

const FORCE = {
  enabled: yesNo(true),
  key_mismatch: yesNo(true),
  disconnected_time: DISCONNECTED_TIME,
  /** Seconds; 0 turns the test off. */
  after_registration_time: duration(3600),
};

const AUTH_FIELDS = {
  disabled: yesNo(false),
  remote_enrollment: yesNo(true),
  port: integer(1515, PORT),
  ipv6: yesNo(false),
  /** Address the port is opened at, as in `<remote>`; all of them without it. */
  local_ip: address(),
  use_source_ip: yesNo(false),
  purge: yesNo(false),
  use_password: yesNo(false),
  ciphers: text('HIGH:!ADH:!EXP:!MD5:!RC4:!3DES:!CAMELLIA:@STRENGTH'),
  ssl_agent_ca: optionalText(),
  ssl_verify_host: yesNo(false),
  ssl_manager_cert: text('etc/sslmanager.cert'),
  ssl_manager_key: text('etc/sslmanager.key'),
  ssl_auto_negotiate: yesNo(false),
  force: optionalGroup(FORCE),
  agents: group({ allow_higher_versions: yesNo(false) }),
  key_request: optionalGroup({
    enabled: yesNo(true),
    exec_path: optionalText(),
    socket: optionalText(),
    timeout: duration(60, { min: 1 }),
    threads: integer(1, { min: 1, max: 32 }),
    queue_size: integer(1024, { min: 1, max: 220_000 }),
  }),
  force_insert: scalar<boolean | undefined>(undefined, (element, report) => {
    warnOld(element, report);
    return readYesNo(element, report);
  }),
  force_time: scalar<number | undefined>(undefined, (element, report) => {
    warnOld(element, report);
    return readDuration(element, report);
  }),
  limit_maxagents: ignored(),
};

type RawAuth = Values<typeof AUTH_FIELDS>;

/** `<auth>` as read: the old elements mapped to `force`. */
export type AuthConfig = Omit<RawAuth, 'force' | 'force_insert' | 'force_time' | 'limit_maxagents'> & {
  readonly force: Values<typeof FORCE>;
};

/** `<auth>`: enrolment of agents. Undefined without a block: the service is then off. */
export const AUTH = optionalGroup(AUTH_FIELDS);

/** Completes a read `<auth>`: the old `force_insert` and `force_time` count only where there is no `force`. */
export function finishAuth(raw: RawAuth | undefined): AuthConfig | undefined {
  if (raw === undefined) {
    return undefined;
  }
  const { force, force_insert, force_time, limit_maxagents: _limit, ...rest } = raw;
  const defaults = initialValues(FORCE);
  return {
    ...rest,
    force: force ?? {
      ...defaults,
      enabled: force_insert ?? defaults.enabled,
      disconnected_time:
        force_time === undefined ? defaults.disconnected_time : { enabled: force_time > 0, seconds: force_time },
    },
  };
}

function warnOld(element: XmlElement, report: ConfigReport): void {
  report.warn(element, `Element '${element.name}' is old; use the section 'force'.`);
}
