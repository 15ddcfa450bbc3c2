import { isUserLabel, visibleLabel } from '../../events/agent-labels.js';
import { toValidUtf8 } from '../byte-string.js';
import { NestedJson } from '../decode/nested-json.js';
import { type EngineEvent, STATIC_FIELDS } from '../event.js';
import { jsonString } from '../json-text.js';
import type { LocalClock } from '../local-clock.js';
import { headerHostname } from '../predecode/header-hostname.js';
import { type Alert, type AlertOrigin, hasAgentLocation, previousOutput } from './alert.js';
import type { RuleJson, RuleList } from './rule-json.js';
import { syscheckJson } from './syscheck-json.js';

export type AlertJsonOptions = {
  /** `<seconds>.<offset>`, see rules-and-alerts.md 7.4. */
  readonly id: string;
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
  readonly #manager: string;
  readonly #managerName: string;
  readonly #cluster: string;

  constructor(origin: AlertOrigin, clock: LocalClock) {
    this.#origin = origin;
    this.#clock = clock;
    this.#managerName = jsonString(origin.managerName);
    const { cluster } = origin;
    const node = cluster?.node === undefined ? '' : `,"node":${jsonString(cluster.node)}`;
    this.#manager = `,"manager":{"name":${this.#managerName}}`;
    this.#cluster = cluster === undefined ? '' : `,"cluster":{"name":${jsonString(cluster.name)}${node}}`;
  }

  /**
   * @param rule what is constant for the alert's rule; needed when it has one
   * @returns a byte string of valid UTF-8, without a line end
   */
  write(alert: Alert, rule: RuleJson | undefined, options: AlertJsonOptions): string {
    const { event } = alert;
    let json = `{"timestamp":"${this.#clock.timestamp(event.receivedAt)}"`;
    if (alert.rule !== undefined && rule !== undefined) json += `,"rule":${ruleMember(alert, rule, options)}`;
    const agentless = agentlessMember(event);
    if (agentless === undefined) json += this.#agentMember(event);
    json += `${this.#manager},"id":"${options.id}"${this.#cluster}`;
    const previous = previousOutput(alert);
    if (previous.length > 0) json += `,"previous_output":${jsonString(previous.join('\n'))}`;
    if (options.alwaysFullLog === true || alert.rule?.rule.noFullLog !== true) {
      json += `,"full_log":${jsonString(alert.fullLog)}`;
    }
    const isSyscheck = event.decoder?.name.startsWith('syscheck_') === true;
    if (isSyscheck) json += syscheckJson(event, this.#clock);
    const hostname = headerHostname(alert.fullLog);
    const early = event.programName !== undefined || event.timestamp !== undefined;
    if (early) json += predecoderMember(event, hostname);
    json += decoderMember(event);
    if (alert.previousLog !== undefined) json += `,"previous_log":${jsonString(alert.previousLog)}`;
    json += dataMember(event, isSyscheck);
    if (!early && hostname !== undefined) json += predecoderMember(event, hostname);
    json += `,"location":${jsonString(shownLocation(event))}`;
    if (agentless !== undefined) json += agentless;
    return toValidUtf8(`${json}}`);
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

function ruleMember(alert: Alert, constant: RuleJson, options: AlertJsonOptions): string {
  const { rule, event } = alert;
  let json = constant.head;
  // without a description the member is missing, and with it the comma before the next one
  if (alert.description === undefined) json = json.slice(0, json.lastIndexOf('"description"')).replace(/,$/, '');
  else json += jsonString(alert.description);
  json += json === '{' ? constant.middle.slice(1) : constant.middle;
  if (alert.firedTimes !== undefined && rule?.rule.noCounter !== true) {
    json += `,"firedtimes":${String(alert.firedTimes)}`;
  }
  const lists = extendedLists(event, alert, constant);
  const zero = options.showLevelZero === true && rule?.rule.level === 0 ? ',"level":0' : '';
  if (lists === undefined && zero === '') return json + constant.tail;
  return `${json}${constant.tailWith(lists ?? constant.lists)}${zero}}`;
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

function predecoderMember(event: EngineEvent, hostname: string | undefined): string {
  let json = '';
  if (event.programName !== undefined) json += `,"program_name":${jsonString(event.programName)}`;
  if (event.timestamp !== undefined) json += `,"timestamp":${jsonString(event.timestamp)}`;
  if (hostname !== undefined) json += `,"hostname":${jsonString(hostname)}`;
  return `,"predecoder":{${json.slice(1)}}`;
}

function decoderMember({ decoder }: EngineEvent): string {
  if (decoder === undefined) return ',"decoder":{}';
  let json = decoder.accumulate ? ',"accumulate":1' : '';
  if (decoder.parent !== undefined) json += `,"parent":${jsonString(decoder.parent)}`;
  json += `,"name":${jsonString(decoder.name)}`;
  if (decoder.ftscomment !== undefined) json += `,"ftscomment":${jsonString(decoder.ftscomment)}`;
  return `,"decoder":{${json.slice(1)}}`;
}

function dataMember(event: EngineEvent, isSyscheck: boolean): string {
  const names = event.fieldNames;
  if (names.length === 0 || isSyscheck) {
    let json = '';
    for (const name of STATIC_FIELDS) {
      const value = event[name];
      if (value !== undefined) json += `,"${name}":${jsonString(value)}`;
    }
    return json === '' ? '' : `,"data":{${json.slice(1)}}`;
  }
  const object = new NestedJson();
  for (const name of STATIC_FIELDS) {
    const value = event[name];
    if (value !== undefined) object.set(name, jsonString(value));
  }
  const values = event.fieldValues;
  for (let i = 0; i < names.length; i += 1) {
    const value = values[i];
    if (value !== undefined && value !== '') object.addText(names[i] ?? '', value);
  }
  return object.isEmpty ? '' : `,"data":${object.toString()}`;
}
