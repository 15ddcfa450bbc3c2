import { parseXml } from '../../../xml/parse-xml.js';
import { attributeValue, type XmlElement } from '../../../xml/xml-element.js';
import { XmlError } from '../../../xml/xml-error.js';
import type { Diagnostics, EngineEvent } from '../../event.js';
import { jsonString } from '../../json-text.js';
import { stringMember } from '../json/json-values.js';
import { parseJsonObject } from '../json/parse-json.js';
import type { JsonPlugin } from '../plugins/json-plugin.js';
import { type Identities, type InternalDecoder, type InternalOutcome, setDecoder } from './internal-decoder.js';
import { AUDIT_CATEGORIES, POLICY_CHANGES } from './windows-categories.js';

const AUDIT_FAILURE = 0x10000000000000n;
const AUDIT_SUCCESS = 0x20000000000000n;
const SEVERITIES: ReadonlyMap<string, string> = new Map([
  ['1', 'CRITICAL'],
  ['2', 'ERROR'],
  ['3', 'WARNING'],
  ['4', 'INFORMATION'],
  ['5', 'VERBOSE'],
]);
/** Most changes of one audit policy event that are named. */
const MAX_POLICY_CHANGES = 4;

/** Members of a JSON object in the order they are written; names may repeat, as in the reference. */
type WindowsMembers = [name: string, value: string][];

/** Events of the Windows event channel (queue `f`; decoding.md 4.12). */
export class EventchannelDecoder implements InternalDecoder {
  readonly #identities: Identities;
  readonly #json: JsonPlugin;
  readonly #diagnostics: Diagnostics;
  #warned = false;

  constructor(identities: Identities, json: JsonPlugin, diagnostics: Diagnostics) {
    this.#identities = identities;
    this.#json = json;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent): InternalOutcome {
    const message = parseJsonObject(event.log);
    if (message === undefined) {
      this.#diagnostics.error('Malformed EventChannel JSON event.');
      return 'done';
    }
    const xml = stringMember(message, 'Event');
    if (xml === undefined) {
      this.#diagnostics.debug('EventChannel event without its XML text.');
      return 'done';
    }
    const parts = new WindowsEvent();
    // The reference reads the escaped form of the XML, so that backslashes and line ends arrive as escapes.
    const escaped = jsonString(xml);
    const roots = this.#readXml(escaped);
    for (const child of roots?.[0]?.children ?? []) {
      parts.read(child);
    }
    parts.finish(stringMember(message, 'Message'));
    event.programName = undefined;
    event.timestamp = undefined;
    setDecoder(event, this.#identities('windows_eventchannel'));
    event.fullLog = parts.toJson();
    event.log = event.fullLog;
    this.#json.decodeText(event, event.log, 0, true, 'discard');
    return 'rules';
  }

  #readXml(text: string): XmlElement[] | undefined {
    try {
      return parseXml(text, 'EventChannel');
    } catch (error) {
      if (!(error instanceof XmlError)) {
        throw error;
      }
      const message = `Could not read XML string: '${text}'`;
      // Only the first is worth a warning: an agent that sends one sends thousands.
      if (this.#warned) {
        this.#diagnostics.debug(message);
      } else {
        this.#diagnostics.warn(message);
        this.#warned = true;
      }
      return undefined;
    }
  }
}

/** Collects what one event says. */
class WindowsEvent {
  readonly #system: WindowsMembers = [];
  readonly #eventData: WindowsMembers = [];
  /** Members below any other element, and the name of the last such element. */
  readonly #other: WindowsMembers = [];
  #otherName = '';

  read(element: XmlElement): void {
    if (element.name === 'System') {
      for (const child of element.children) {
        this.#readSystem(child);
      }
    } else if (element.name === 'EventData') {
      this.#readEventData(element);
    } else {
      for (const child of element.children) {
        this.#otherName = lowerFirst(child.name);
        for (const member of child.children) {
          add(this.#other, lowerFirst(member.name), member.content);
        }
      }
    }
  }

  #readSystem(element: XmlElement): void {
    switch (element.name) {
      case 'Provider':
        add(this.#system, 'providerName', attributeValue(element, 'Name'));
        add(this.#system, 'providerGuid', attributeValue(element, 'Guid'));
        add(this.#system, 'eventSourceName', attributeValue(element, 'EventSourceName'));
        break;
      case 'TimeCreated':
        if (element.attributes[0]?.name === 'SystemTime') {
          add(this.#system, 'systemTime', element.attributes[0].value);
        }
        break;
      case 'Execution':
        add(this.#system, 'processID', attributeValue(element, 'ProcessID'));
        add(this.#system, 'threadID', attributeValue(element, 'ThreadID'));
        break;
      case 'Security':
        // A defect of the reference looks at the value instead of the name; users' rules know it so.
        if (element.attributes.some(({ value }) => value === 'UserID')) {
          add(this.#system, 'securityUserID', 'UserID');
        }
        break;
      case 'Correlation':
        break;
      default:
        add(this.#system, lowerFirst(element.name), element.content);
    }
  }

  #readEventData(element: XmlElement): void {
    const unnamed: string[] = [];
    for (const child of element.children) {
      if (child.name !== 'Data') {
        add(this.#eventData, lowerFirst(child.name), child.content);
      } else if (child.attributes.length === 0) {
        if (child.content !== '') {
          unnamed.push(child.content);
        }
      } else {
        const value = withoutTrailingSpace(child.content);
        if (value !== '' && value !== '(NULL)' && value !== '-') {
          const name = lowerFirst(attributeValue(child, 'Name') ?? '');
          add(this.#eventData, name === 'auditPolicyChanges' ? 'auditPolicyChangesId' : name, value);
        }
      }
    }
    add(this.#eventData, 'data', unnamed.join(', '));
  }

  /** Adds what is concluded from the rest, and the message. */
  finish(message: string | undefined): void {
    const level = valueOf(this.#system, 'level');
    const keywords = valueOf(this.#system, 'keywords');
    if (level !== undefined && keywords !== undefined) {
      add(this.#system, 'severityValue', severity(level, keywords));
    }
    const category = AUDIT_CATEGORIES.get(referenceNumber(valueOf(this.#eventData, 'categoryId')));
    const subcategoryId = valueOf(this.#eventData, 'subcategoryId');
    if (category !== undefined && subcategoryId !== undefined) {
      add(this.#eventData, 'category', category[0]);
      add(this.#eventData, 'subcategory', category[1].get(referenceNumber(subcategoryId)));
    }
    const changes = valueOf(this.#eventData, 'auditPolicyChangesId');
    if (changes !== undefined) {
      add(this.#eventData, 'auditPolicyChanges', policyChanges(changes));
    }
    if (message !== undefined) {
      // The quotes of the message's JSON form stay.
      add(this.#system, 'message', `"${message}"`);
    }
  }

  toJson(): string {
    const parts = [`"system":${toObject(this.#system)}`];
    if (this.#eventData.length > 0) {
      parts.push(`"eventdata":${toObject(this.#eventData)}`);
    }
    if (this.#other.length > 0) {
      parts.push(`${jsonString(this.#otherName)}:${toObject(this.#other)}`);
    }
    return `{"win":{${parts.join(',')}}}`;
  }
}

function add(members: WindowsMembers, name: string, value: string | undefined): void {
  if (value !== undefined && value !== '') {
    members.push([name, value]);
  }
}

function valueOf(members: WindowsMembers, name: string): string | undefined {
  return members.find(([member]) => member === name)?.[1];
}

function toObject(members: WindowsMembers): string {
  return `{${members.map(([name, value]) => `${jsonString(name)}:${jsonString(value)}`).join(',')}}`;
}

/** `trimEnd` would also cut the byte 0xA0, which ends many a UTF-8 character. */
function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n\v\f\r'.includes(text.charAt(end - 1))) {
    end -= 1;
  }
  return text.slice(0, end);
}

/** Only an ASCII letter has a lower case here: names are byte strings. */
function lowerFirst(name: string): string {
  return name.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
}

function severity(level: string, keywords: string): string {
  const bits = /^0[xX][0-9A-Fa-f]{1,16}$/.test(keywords) ? BigInt(keywords) : 0n;
  if (level !== '0') {
    return SEVERITIES.get(level) ?? 'UNKNOWN';
  }
  return (bits & AUDIT_FAILURE) !== 0n ? 'AUDIT_FAILURE' : (bits & AUDIT_SUCCESS) !== 0n ? 'AUDIT_SUCCESS' : 'UNKNOWN';
}

/** The number of a reference such as `%%8273`. */
function referenceNumber(text: string | undefined): number {
  return Number(text?.replace('%%', '') ?? NaN);
}

function policyChanges(text: string): string {
  const names = text
    .split(',')
    .slice(0, MAX_POLICY_CHANGES)
    .map((part) => POLICY_CHANGES.get(part.replaceAll('%%', '').trim()));
  return names.filter((name) => name !== undefined).join(', ');
}
