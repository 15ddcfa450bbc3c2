import { isUserLabel, visibleLabel } from '../../events/agent-labels.js';
import { flatBytes } from '../byte-string.js';
import { NestedJson } from '../decode/nested-json.js';
import { type DecoderIdentity, type EngineEvent, STATIC_FIELDS } from '../event.js';
import { escapeJson, jsonString } from '../json-text.js';
import type { LocalClock } from '../local-clock.js';
import { headerHostname } from '../predecode/header-hostname.js';
import { type Alert, type AlertOrigin, hasAgentLocation, previousOutput } from './alert.js';
import { AlertRecord } from './alert-record.js';
import { EscapedLogs } from './escaped-logs.js';
import type { EventData } from './event-data.js';
import type { RuleJson, RuleList } from './rule-json.js';
import { syscheckJson } from './syscheck-json.js';

export type AlertJsonOptions = {
  /** Archives show the full log even of rules with `no_full_log`. */
  readonly alwaysFullLog?: boolean;
  /** Logtest shows the level 0 too, as the last member of `rule`. */
  readonly showLevelZero?: boolean;
};

/** `{ruleid: a, b}` marks in the text of rootcheck alerts: how many, and how long (rules-and-alerts.md 7.2). */
const MAX_MARKS = 10;
const MARK = /\{([^{}:]{1,29}): ([^{}]{1,1023})\}/g;
const COMPLIANCE_FIELD = 'sca.check.compliance.';

/** Writes alerts and archived events as one line of JSON (rules-and-alerts.md 7.1 to 7.3). */
export class AlertJson {
  readonly #origin: AlertOrigin;
  readonly #clock: LocalClock;
  readonly #data: EventData;
  readonly #logs = new EscapedLogs();
  readonly #managerName: string;
  /** Behind the agent, up to the id. */
  readonly #beforeId: string;
  /** The same with the agent, for events of the manager itself. */
  readonly #localBeforeId: string;
  /** Behind the id. */
  readonly #afterId: string;
  readonly #decoders = new Map<DecoderIdentity, string>();
  #openedAt = Number.NaN;
  #opening = '';
  #location = '';
  #closing = ',"location":""}';

  constructor(origin: AlertOrigin, clock: LocalClock, data: EventData) {
    this.#origin = origin;
    this.#clock = clock;
    this.#data = data;
    this.#managerName = jsonString(origin.managerName);
    const { cluster } = origin;
    const node = cluster?.node === undefined ? '' : `,"node":${jsonString(cluster.node)}`;
    this.#beforeId = flatBytes(`,"manager":{"name":${this.#managerName}},"id":"`);
    this.#localBeforeId = flatBytes(`,"agent":{"id":"000","name":${this.#managerName}}${this.#beforeId}`);
    this.#afterId = flatBytes(cluster === undefined ? '"' : `","cluster":{"name":${jsonString(cluster.name)}${node}}`);
  }

  /**
   * @param rule what is constant for the alert's rule; needed when it has one
   * @returns a byte string of valid UTF-8 when it is complete, without a line end
   */
  render(alert: Alert, rule: RuleJson | undefined, options: AlertJsonOptions): AlertRecord {
    const { event } = alert;
    const record = new AlertRecord(true);
    record.add(this.#openingAt(event.receivedAt));
    if (alert.rule !== undefined && rule !== undefined) addRule(record, alert, rule, options);
    const agentless = agentlessMember(event);
    if (agentless !== undefined) record.add(this.#beforeId);
    else if (event.agentId === '000' && event.labels === undefined) record.add(this.#localBeforeId);
    else record.add(this.#agentMember(event) + this.#beforeId);
    record.addId();
    record.add(this.#afterId);
    this.#addLogs(record, alert, options);
    const isSyscheck = event.decoder?.name.startsWith('syscheck_') === true;
    if (isSyscheck) record.add(syscheckJson(event, this.#clock));
    const hostname = headerHostname(alert.fullLog);
    const early = event.programName !== undefined || event.timestamp !== undefined;
    if (early) addPredecoder(record, event, hostname);
    record.add(this.#decoderMember(event.decoder));
    if (alert.previousLog !== undefined) record.add(`,"previous_log":${jsonString(alert.previousLog)}`);
    if (isSyscheck) record.add(staticMembers(event));
    else this.#data.addJson(record, event);
    if (!early && hostname !== undefined) addPredecoder(record, event, hostname);
    if (agentless === undefined) record.add(this.#closingOf(shownLocation(event)));
    else record.add(`,"location":${jsonString(shownLocation(event))}${agentless}}`);
    return record;
  }

  /** Most events of a batch have the same time. */
  #openingAt(receivedAt: number): string {
    if (receivedAt !== this.#openedAt) {
      this.#openedAt = receivedAt;
      this.#opening = flatBytes(`{"timestamp":"${this.#clock.timestamp(receivedAt)}"`);
    }
    return this.#opening;
  }

  /** Most events come from where the one before came from. */
  #closingOf(location: string): string {
    if (location !== this.#location) {
      this.#location = location;
      this.#closing = flatBytes(`,"location":${jsonString(location)}}`);
    }
    return this.#closing;
  }

  #addLogs(record: AlertRecord, alert: Alert, options: AlertJsonOptions): void {
    const previous = previousOutput(alert);
    if (previous.length > 0) {
      for (let i = 0; i < previous.length; i += 1) {
        record.add(i === 0 ? ',"previous_output":"' : '\\n');
        record.add(this.#logs.of(previous[i] ?? ''));
      }
      record.add('"');
    }
    if (options.alwaysFullLog === true || alert.rule?.rule.noFullLog !== true) {
      record.add(',"full_log":"');
      record.add(this.#logs.of(alert.fullLog));
      record.add('"');
    }
  }

  #decoderMember(decoder: DecoderIdentity | undefined): string {
    if (decoder === undefined) return ',"decoder":{}';
    let json = this.#decoders.get(decoder);
    if (json === undefined) this.#decoders.set(decoder, (json = flatBytes(decoderMember(decoder))));
    return json;
  }

  #agentMember(event: EngineEvent): string {
    const { agentId, labels, location } = event;
    let json = `,"agent":{"id":${jsonString(agentId)}`;
    const isManager = agentId === '000';
    if (isManager) json += `,"name":${this.#managerName}`;
    else if (hasAgentLocation(event)) json += `,"name":${jsonString(event.hostname)}`;
    if (!isManager) {
      const ip = labels?.get('_agent_ip') ?? addressOf(location);
      if (ip !== undefined && ip !== 'any') json += `,"ip":${jsonString(ip)}`;
    }
    if (labels !== undefined && [...labels.keys()].some(isUserLabel)) {
      const object = new NestedJson();
      for (const [name, value] of labels) {
        const shown = visibleLabel(name, this.#origin.showHiddenLabels);
        if (shown !== undefined) object.addText(shown, value);
      }
      json += `,"labels":${object.toString()}`;
    }
    return `${json}}`;
  }
}

/** Address in `(name) ip->path`: up to the first `-`. */
function addressOf(location: string): string | undefined {
  if (location.charCodeAt(0) !== 0x28) return undefined;
  const start = location.indexOf(') ');
  const end = start < 0 ? -1 : location.indexOf('-', start);
  return end < 0 ? undefined : location.slice(start + 2, end);
}

function shownLocation(event: EngineEvent): string {
  const { location } = event;
  const arrow = hasAgentLocation(event) ? location.indexOf('>') : -1;
  return arrow < 0 ? location : location.slice(arrow + 1);
}

/** `agentless`, for reports of scripts that run on hosts without an agent: `(script) user@host->...`. */
function agentlessMember(event: EngineEvent): string | undefined {
  if (event.agentId !== '000' || !hasAgentLocation(event)) return undefined;
  const parts = /^\(([^)]*)\) ([^@]*)@(.*?)->/.exec(event.location);
  if (parts === null) return undefined;
  const [, script = '', user = '', host = ''] = parts;
  return `,"agentless":{"script":${jsonString(script)},"user":${jsonString(user)},"host":${jsonString(host)}}`;
}

function addRule(record: AlertRecord, alert: Alert, constant: RuleJson, options: AlertJsonOptions): void {
  const { rule, event, description } = alert;
  record.add(',"rule":');
  if (description === constant.plainDescription) {
    record.add(constant.opening);
  } else if (description === undefined) {
    // without a description the member is missing, and with it the comma before the next one
    const { head, middle } = constant;
    const start = head.slice(0, head.lastIndexOf('"description"')).replace(/,$/, '');
    record.add(start + (start === '{' ? middle.slice(1) : middle));
  } else {
    record.add(constant.head + jsonString(description) + constant.middle);
  }
  if (alert.firedTimes !== undefined && rule?.rule.noCounter !== true) {
    record.add(',"firedtimes":');
    record.addFiredTimes();
  }
  const lists = extendedLists(event, alert, constant);
  const zero = options.showLevelZero === true && rule?.rule.level === 0 ? ',"level":0' : '';
  if (lists === undefined && zero === '') record.add(constant.tail);
  else record.add(`${constant.tailWith(lists ?? constant.lists)}${zero}}`);
}

/** The rule's arrays with what SCA checks and rootcheck texts add to them; undefined when nothing is added. */
function extendedLists(
  event: EngineEvent,
  alert: Alert,
  { lists, isRootcheck }: RuleJson,
): readonly RuleList[] | undefined {
  const isSca = event.decoder?.name === 'sca';
  if (!isSca && !isRootcheck) return undefined;
  const added: [string, string[]][] = [];
  if (isSca) {
    event.fieldNames.forEach((name, i) => {
      if (!name.startsWith(COMPLIANCE_FIELD)) return;
      const values = (event.fieldValues[i] ?? '').split(',').filter((value) => value !== '');
      added.push([name.slice(COMPLIANCE_FIELD.length), values]);
    });
  } else {
    for (const mark of alert.fullLog.slice(0, 1023).matchAll(MARK)) {
      if (added.length === MAX_MARKS) break;
      const values = (mark[2] ?? '').split(',').map((value) => value.trim());
      added.push([(mark[1] ?? '').toLowerCase(), values.filter((value) => value !== '')]);
    }
  }
  if (added.length === 0) return undefined;
  const result = new Map(lists.map(({ name, values }) => [name, { name, values: [...values] }]));
  for (const [name, values] of added) {
    const list = result.get(name);
    if (list === undefined) result.set(name, { name, values: [...values] });
    else for (const value of values) list.values.push(value);
  }
  return [...result.values()];
}

function addPredecoder(record: AlertRecord, event: EngineEvent, hostname: string | undefined): void {
  const { programName, timestamp } = event;
  let before = ',"predecoder":{"';
  if (programName !== undefined) {
    record.add(`${before}program_name":"`);
    record.add(escapeJson(programName));
    before = '","';
  }
  if (timestamp !== undefined) {
    record.add(`${before}timestamp":"`);
    record.add(escapeJson(timestamp));
    before = '","';
  }
  if (hostname !== undefined) {
    record.add(`${before}hostname":"`);
    record.add(escapeJson(hostname));
  }
  record.add('"}');
}

function decoderMember(decoder: DecoderIdentity): string {
  let json = decoder.accumulate ? ',"accumulate":1' : '';
  if (decoder.parent !== undefined) json += `,"parent":${jsonString(decoder.parent)}`;
  json += `,"name":${jsonString(decoder.name)}`;
  if (decoder.ftscomment !== undefined) json += `,"ftscomment":${jsonString(decoder.ftscomment)}`;
  return `,"decoder":{${json.slice(1)}}`;
}

/** The `data` member of file events: their fields are in `syscheck`. */
function staticMembers(event: EngineEvent): string {
  let json = '';
  for (const name of STATIC_FIELDS) {
    const value = event[name];
    if (value !== undefined) json += `,"${name}":${jsonString(value)}`;
  }
  return json === '' ? '' : `,"data":{${json.slice(1)}}`;
}
