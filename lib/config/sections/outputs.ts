import { isObject } from '../../json/is-object.js';
import { filterProblem, isReportField, type ReportField } from '../../report/report-fields.js';
import type { XmlElement } from '../../xml/xml-element.js';
import type { ConfigReport } from '../config-report.js';
import { blocks, type Field, list, MAX_ITEMS, reportUnknownAttributes, scalar } from '../field.js';
import { parseDigits, splitList } from '../units.js';
import {
  freeText,
  hostName,
  integer,
  oneOf,
  optionalText,
  readPattern,
  requireText,
  webAddress,
  yesNo,
} from '../value-fields.js';
import { readMailAddress } from './global.js';

const LEVEL = { min: 0, max: 16 };

const words = (): Field<readonly string[]> =>
  scalar<readonly string[]>([], (element, report) => splitList(requireText(element, report)));

const ruleIds = (): Field<readonly number[]> =>
  scalar<readonly number[]>([], (element, report) =>
    splitList(requireText(element, report)).map((word) => {
      const id = parseDigits(word);
      if (id === undefined) {
        throw report.invalidValue(element);
      }
      return id;
    }),
  );

/** A pattern of the simple match language. */
const matchPattern = (): Field<string | undefined> =>
  scalar<string | undefined>(undefined, (element, report) => readPattern('osmatch', element, report));

/** An empty element that is a switch by being there. */
const flag = (): Field<boolean> => ({ initial: false, attributes: [], fold: () => true });

/** What each stock integration needs; `webhook` is ours: the alert itself as JSON. */
const STOCK_INTEGRATIONS: Readonly<Record<string, readonly ('hook_url' | 'api_key')[]>> = {
  slack: ['hook_url'],
  shuffle: ['hook_url'],
  pagerduty: ['api_key'],
  virustotal: ['api_key'],
  maltiverse: ['hook_url', 'api_key'],
  webhook: ['hook_url'],
};
const MISSING = { hook_url: 'Missing hook URL.', api_key: 'Missing API Key.' } as const;

/** `<integration>` blocks: programs in integrations/ that get alerts. */
export const INTEGRATION = blocks(
  {
    name: scalar<string | undefined>(undefined, (element, report) => {
      const value = requireText(element, report);
      // The name is a file in integrations/: nothing that leads out of it.
      if (!Object.hasOwn(STOCK_INTEGRATIONS, value) && !/^custom-[\w.-]+$/.test(value)) {
        throw report.invalidValue(element);
      }
      return value;
    }),
    api_key: optionalText(),
    hook_url: webAddress('https', 'http'),
    level: integer(0, LEVEL),
    rule_id: ruleIds(),
    group: words(),
    event_location: matchPattern(),
    alert_format: oneOf<'json' | 'text'>('text', ['text', 'json']),
    /** Bytes of the log in the text format. */
    max_log: integer(165, { min: 165, max: 1024 }),
    options: scalar<string | undefined>(undefined, (element, report) => {
      const value = requireText(element, report);
      if (!isJsonObject(value)) throw report.invalidValue(element);
      return value;
    }),
    /** Seconds. */
    timeout: integer(10, { min: 1, max: 3600 }),
    retries: integer(3, { max: 100 }),
  },
  (raw, block, report) => {
    const { name } = raw;
    if (name === undefined) {
      throw report.missingValue(block, 'name');
    }
    const missing = (STOCK_INTEGRATIONS[name] ?? []).find((needed) => raw[needed] === undefined);
    if (missing !== undefined) {
      report.warn(block, `Unable to enable integration for: '${name}'. ${MISSING[missing]}`, { level: 'error' });
      return undefined;
    }
    return { ...raw, name, line: block.line };
  },
);

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Forms of a forwarded alert (daemons-and-config.md 8.1). */
export type SyslogFormat = 'default' | 'cef' | 'json' | 'splunk';
/** How it travels. */
export type SyslogProtocol = 'udp' | 'tcp' | 'tls';

/** `<syslog_output>` blocks: alerts to a syslog receiver. */
export const SYSLOG_OUTPUT = blocks(
  {
    server: hostName(),
    port: integer(514, { min: 1, max: 65_535 }),
    format: oneOf<SyslogFormat>('default', ['default', 'cef', 'json', 'splunk']),
    level: integer(0, LEVEL),
    rule_id: ruleIds(),
    group: matchPattern(),
    location: matchPattern(),
    use_fqdn: yesNo(false),
    /** [PRODUCT] How it travels: datagrams, or a connection, with TLS or without. */
    protocol: oneOf<SyslogProtocol>('udp', ['udp', 'tcp', 'tls']),
    /** [PRODUCT] File with the authorities that TLS trusts instead of the public ones. */
    ca: optionalText(),
  },
  (raw, block, report) => {
    const { server } = raw;
    if (server === undefined) {
      throw report.missingValue(block, 'server');
    }
    if (raw.ca !== undefined && raw.protocol !== 'tls') {
      report.warn(block, "Element 'ca' of 'syslog_output' has no effect without <protocol>tls.");
    }
    return { ...raw, server };
  },
);

/** `<email_alerts>` blocks: alerts to further recipients. */
export const EMAIL_ALERTS = blocks(
  {
    email_to: list(readMailAddress),
    format: oneOf('full', ['full', 'default', 'sms']),
    level: integer(0, LEVEL),
    rule_id: ruleIds(),
    group: matchPattern(),
    event_location: matchPattern(),
    do_not_delay: flag(),
    do_not_group: flag(),
  },
  (raw, block, report) => {
    if (raw.email_to.length === 0) {
      throw report.missingValue(block, 'email_to');
    }
    return raw;
  },
);

/** What a report is told about one of its fields. */
export type ReportElement = {
  /** Only alerts of which this holds. */
  readonly value: string | undefined;
  /** Fields that are listed beside each value (`type="relation"`). */
  readonly related: readonly ReportField[];
};

/** An element of a report: a filter, and beside it, or instead, names of fields that belong to it. */
const reportElement = (field: ReportField): Field<ReportElement | undefined> => ({
  initial: undefined,
  attributes: ['type'],
  fold(previous, element, report) {
    const type = element.attributes.find(({ name }) => name === 'type')?.value;
    if (type !== undefined && type !== 'relation') {
      throw report.invalidAttribute(element, type);
    }
    const { value, related } = previous ?? { value: undefined, related: [] };
    const text = requireText(element, report).trim();
    if (type === undefined) {
      const problem = filterProblem({ field, value: text });
      if (problem !== undefined) throw report.invalidValue(element);
      return { value: text, related };
    }
    if (!isReportField(text)) throw report.invalidValue(element);
    return { value, related: related.includes(text) ? related : [...related, text] };
  },
});

/** `<reports>` blocks: daily summaries by mail (daemons-and-config.md 4.4, 8.4). */
export const REPORTS = blocks(
  {
    title: scalar('OSSEC Report (unnamed)', requireText),
    type: oneOf('email', ['email']),
    category: reportElement('group'),
    group: reportElement('group'),
    rule: reportElement('rule'),
    level: reportElement('level'),
    location: reportElement('location'),
    srcip: reportElement('srcip'),
    user: reportElement('user'),
    frequency: freeText(),
    showlogs: yesNo(false),
    email_to: list(readMailAddress),
  },
  ({ group, category, ...rest }, block, report) => {
    if (rest.email_to.length === 0) {
      report.warn(block, `Report '${rest.title}' is left out: it has no <email_to>.`, { level: 'error' });
      return undefined;
    }
    const related = [...(category?.related ?? []), ...(group?.related ?? [])];
    return { ...rest, category: { value: category?.value ?? group?.value, related }, line: block.line };
  },
);

const LABEL_ATTRIBUTES = ['key', 'hidden'];

/** A label of this host, shown in alerts unless hidden. */
export type LabelConfig = { readonly key: string; readonly value: string; readonly hidden: boolean };

/**
 * `<label>` elements of `<labels>`; a key that comes again gets the new value (agents-and-groups.md 7.3). Keys beginning
 * with `_` are the product's own and left out with a warning.
 */
export const LABELS: Field<readonly LabelConfig[]> = {
  initial: [],
  attributes: [],
  fold(previous, block, report) {
    const labels = new Map(previous.map((label) => [label.key, label]));
    for (const child of block.children) {
      if (child.name !== 'label') {
        throw report.unknownElement(child);
      }
      reportUnknownAttributes(LABEL_ATTRIBUTES, child, report);
      const label = readLabel(child, report);
      if (label !== undefined) {
        labels.set(label.key, label);
      }
      if (labels.size > MAX_ITEMS) {
        throw report.tooMany(child, MAX_ITEMS);
      }
    }
    return [...labels.values()];
  },
};

function readLabel(element: XmlElement, report: ConfigReport): LabelConfig | undefined {
  const key = element.attributes.find(({ name }) => name === 'key')?.value;
  const hidden = element.attributes.find(({ name }) => name === 'hidden')?.value ?? 'no';
  if (key === undefined || key === '') {
    throw report.missingValue(element, 'key');
  }
  if (hidden !== 'yes' && hidden !== 'no') {
    throw report.invalidAttribute(element, hidden);
  }
  if (key.startsWith('_')) {
    report.warn(element, `Label '${key}' is left out: keys that begin with '_' are reserved.`);
    return undefined;
  }
  return { key, value: requireText(element, report), hidden: hidden === 'yes' };
}
