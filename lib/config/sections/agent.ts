import { blocks, group, list, optionalGroup } from '../field.js';
import {
  duration,
  freeText,
  integer,
  oneOf,
  optionalInteger,
  optionalText,
  requireText,
  text,
  yesNo,
} from '../value-fields.js';

/** Longest time of a timer, 24.8 days: a longer one would run out at once. */
const MAX_TIMER_SECONDS = 2_147_483;

const PORT = { min: 0, max: 65_535 };

const SERVER = blocks(
  {
    address: optionalText(),
    port: integer(1514, PORT),
    protocol: oneOf('tcp', ['tcp', 'udp']),
    /** Read for configurations of 4.x; it has no effect. */
    interface_index: optionalInteger(),
    max_retries: integer(5, { min: 1 }),
    /** Seconds; without a pause an agent would flood a server that refuses it. */
    retry_interval: duration(10, { min: 1, max: MAX_TIMER_SECONDS }),
  },
  (raw, block, report) => {
    const { address } = raw;
    if (address === undefined) {
      throw report.missingValue(block, 'address');
    }
    return { ...raw, address };
  },
);

/** `<client>`: how an agent reaches its manager (svc-agentd). A manager accepts the section and does not use it. */
export const CLIENT = optionalGroup({
  server: SERVER,
  'config-profile': freeText(),
  /** Seconds. */
  notify_time: duration(10, { min: 1, max: MAX_TIMER_SECONDS }),
  /** Seconds. */
  'time-reconnect': duration(60, { min: 1 }),
  force_reconnect_interval: duration(0, { max: MAX_TIMER_SECONDS }),
  ip_update_interval: duration(0),
  local_ip: optionalText(),
  auto_restart: yesNo(true),
  crypto_method: oneOf('aes', ['aes', 'blowfish']),
  enrollment: group({
    enabled: yesNo(true),
    manager_address: optionalText(),
    port: integer(1515, PORT),
    /** As above. */
    interface_index: optionalInteger(),
    agent_name: optionalText(),
    groups: optionalText(),
    agent_address: optionalText(),
    ssl_cipher: text('HIGH:!ADH:!EXP:!MD5:!RC4:!3DES:!CAMELLIA:@STRENGTH'),
    server_ca_path: optionalText(),
    agent_certificate_path: optionalText(),
    agent_key_path: optionalText(),
    authorization_pass_path: text('etc/authd.pass'),
    auto_method: yesNo(false),
    delay_after_enrollment: duration(20, { max: MAX_TIMER_SECONDS }),
    use_source_ip: yesNo(false),
  }),
});

/** `<client_buffer>`: an agent's leaky bucket. */
export const CLIENT_BUFFER = group({
  disabled: yesNo(false),
  queue_size: integer(5000, { min: 1, max: 100_000 }),
  events_per_second: integer(500, { min: 1, max: 1000 }),
});

/** `<anti_tampering>`. */
export const ANTI_TAMPERING = group({ package_uninstallation: yesNo(false) });

/** `<agentless>` blocks: hosts watched over ssh. */
export const AGENTLESS = blocks(
  {
    type: optionalText(),
    frequency: optionalInteger({ min: 1 }),
    host: list(requireText),
    state: oneOf('periodic', ['periodic', 'periodic_diff', 'stay_connected']),
    arguments: freeText(),
    port: integer(22, { min: 1, max: 65_535 }),
  },
  (raw, block, report) => {
    const { type } = raw;
    if (type === undefined) {
      throw report.missingValue(block, 'type');
    }
    if (!/^[\w-]+$/.test(type)) {
      // The type is a script in agentless/: nothing that leads out of it.
      throw report.error(block, 1235, `Invalid value for element 'type': ${type}.`);
    }
    if (raw.host.length === 0) {
      throw report.missingValue(block, 'host');
    }
    return { ...raw, type };
  },
);

/** Backup of the database; `<wdb><backup database="global">`. */
const BACKUP = {
  enabled: yesNo(true),
  /** Seconds. */
  interval: duration(86_400, { min: 1 }),
  max_files: integer(3, { min: 1 }),
};

const BACKUP_GROUP = group(BACKUP);

/** `<wdb>`: backups of svc-db. */
export const WDB = group({
  backup: {
    ...BACKUP_GROUP,
    attributes: ['database'],
    fold(previous: typeof BACKUP_GROUP.initial, element, report) {
      const database = element.attributes.find(({ name }) => name === 'database')?.value;
      if (database !== 'global') {
        throw report.invalidAttribute(element, database ?? '');
      }
      return BACKUP_GROUP.fold(previous, element, report);
    },
  } satisfies typeof BACKUP_GROUP,
});
