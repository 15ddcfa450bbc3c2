import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { group, ignored, list, optionalGroup, scalar, type Values } from '../field.js';
import {
  duration,
  hostName,
  integer,
  oneOf,
  optionalInteger,
  optionalText,
  readDuration,
  readInteger,
  readPattern,
  readWebAddress,
  requireText,
  size,
  text,
  yesNo,
} from '../value-fields.js';

/** Fewest events kept for correlation. */
const LEAST_MEMORY = 2048;
/** Smallest rotation interval any setting of `analysisd.min_rotate_interval` allows; analysisd checks its own bound. */
const LEAST_ROTATE_INTERVAL = 10;
const DAY = 86400;
const LEAST_OUTPUT_SIZE = 1_000_000;
const MOST_OUTPUT_SIZE = 1024 ** 4;
const EVENT_CLASS_LEVEL = { min: 0, max: 16 };

const SMTP_HOST = hostName();

/** How the way to a mail server is protected. */
export type SmtpSecurity = 'no' | 'starttls' | 'tls';

/** `<global>`: read by analysisd, monitord, remoted and the mail output (daemons-and-config.md 1.2). */
const GLOBAL_FIELDS = {
  jsonout_output: yesNo(true),
  alerts_log: yesNo(true),
  logall: yesNo(false),
  logall_json: yesNo(false),
  /** Undefined when absent: mail is then off, but `<email_to>` and the rest are still read. */
  email_notification: scalar<boolean | undefined>(undefined, (element, report) => {
    const value = requireText(element, report);
    if (value !== 'yes' && value !== 'no') {
      throw report.invalidValue(element);
    }
    return value === 'yes';
  }),
  email_to: list(readMailAddress),
  email_from: optionalText(),
  email_reply_to: optionalText(),
  email_idsname: optionalText(),
  /** A host, or a program to hand mails to. */
  smtp_server: scalar<string | undefined>(undefined, (element, report) =>
    element.content.startsWith('/') ? element.content : SMTP_HOST.fold(undefined, element, report),
  ),
  helo_server: text('notify.ossec.net'),
  /** [PRODUCT] Undefined: 25, 587 with starttls, 465 with tls. */
  smtp_port: optionalInteger({ min: 1, max: 65_535 }),
  /** [PRODUCT] How the way to the server is protected. */
  smtp_secure: oneOf<SmtpSecurity>('no', ['no', 'starttls', 'tls']),
  /** [PRODUCT] File with the authorities that are trusted instead of the public ones. */
  smtp_ca: optionalText(),
  /** [PRODUCT] Login; the password is the content of a file that others cannot read. */
  smtp_user: optionalText(),
  smtp_password_file: optionalText(),
  email_maxperhour: integer(12, { min: 1, max: 1_000_000 }),
  email_log_source: scalar<'alerts.json' | 'alerts.log'>('alerts.json', (element, report) =>
    requireText(element, report) === 'alerts.log' ? 'alerts.log' : 'alerts.json',
  ),
  custom_alert_output: optionalText(),
  integrity_checking: integer(8, EVENT_CLASS_LEVEL),
  rootkit_detection: integer(8, EVENT_CLASS_LEVEL),
  host_information: integer(8, EVENT_CLASS_LEVEL),
  stats: integer(4, EVENT_CLASS_LEVEL),
  memory_size: scalar(8192, readMemorySize),
  /** Addresses, networks or host-name patterns as written; `!` in front negates. */
  white_list: list(readWhiteListed),
  /** Events a second over `timeframe` seconds; maximum 0 is no limit. */
  limits: group({
    eps: group({
      maximum: integer(0, { min: 0, max: 100_000 }),
      timeframe: integer(10, { min: 1, max: 3600 }),
    }),
  }),
  /** Seconds; 0 is off. */
  rotate_interval: scalar(0, (element, report) => {
    const seconds = readDuration(element, report, { max: DAY });
    if (seconds !== 0 && seconds < LEAST_ROTATE_INTERVAL) {
      throw report.invalidValue(element);
    }
    return seconds;
  }),
  /** Bytes; 0 is off. */
  max_output_size: size(0, (bytes) => bytes === 0 || (bytes >= LEAST_OUTPUT_SIZE && bytes <= MOST_OUTPUT_SIZE)),
  /** Seconds. */
  agents_disconnection_time: duration(900, { min: 1 }),
  /** Seconds after the disconnection. */
  agents_disconnection_alert_time: duration(0),
  update_check: yesNo(true),
  'cti-url': scalar('https://cti.wazuh.com', (element, report) => readWebAddress(element, report, ['https', 'http'])),
  /** Names of `<socket>` blocks that get every event. */
  forward_to: scalar<readonly string[]>([], (element, report) =>
    requireText(element, report)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
  prelude_output: ignored(),
  prelude_profile: ignored(),
  prelude_log_level: ignored(),
  zeromq_output: ignored(),
  zeromq_uri: ignored(),
  zeromq_server_cert: ignored(),
  zeromq_client_cert: ignored(),
  geoipdb: ignored(),
  geoip_db_path: ignored(),
  compress_alerts: ignored(),
  queue_size: ignored(),
};

/** `<global>` as read. */
export type GlobalConfig = Values<typeof GLOBAL_FIELDS>;
/** Reads `<global>` blocks. */
export const GLOBAL = group(GLOBAL_FIELDS);

const ALERT_LEVEL = { min: 1, max: 16 };

/** `<alerts>`: lowest rule levels that are written and mailed. */
export const ALERTS = group({
  log_alert_level: integer(1, ALERT_LEVEL),
  email_alert_level: integer(7, ALERT_LEVEL),
  use_geoip: ignored(),
});

/** `<logging>`: which manager logs are written. */
export const LOGGING = optionalGroup({
  log_format: scalar({ plain: true, json: false }, (element, report) => {
    const words = requireText(element, report)
      .split(',')
      .map((word) => word.trim());
    if (words.some((word) => word !== 'plain' && word !== 'json')) {
      throw report.invalidValue(element);
    }
    return { plain: words.includes('plain'), json: words.includes('json') };
  }),
});

/** An address or a network is read as a pattern, too: it is short enough to be one. */
function readWhiteListed(element: XmlElement, report: ConfigReport): string {
  return readPattern('osmatch', element, report);
}

function readMemorySize(element: XmlElement, report: ConfigReport): number {
  const events = readInteger(element, report);
  if (events < LEAST_MEMORY) {
    report.warn(
      element,
      `Value ${String(events)} of element 'memory_size' is too small; ${String(LEAST_MEMORY)} is used.`,
    );
    return LEAST_MEMORY;
  }
  return events;
}

/** A mail address needs a local part and a host; mail servers judge the rest. */
export function readMailAddress(element: XmlElement, report: ConfigReport): string {
  const value = requireText(element, report);
  if (!/^[^\s@<>,;]+@[^\s@<>,;]+$/.test(value)) {
    throw report.invalidValue(element);
  }
  return value;
}
