import type { Diagnostics, EngineEvent } from '../../event.js';
import type { Plugin } from './plugin.js';

const MAX_LOCATION = 254;
const MAX_LOG = 4094;

/** Whether the ruleset at hand has a rule; the rules are loaded after the decoders, so it is asked for each event. */
export type RuleExists = (id: number) => boolean;

/**
 * `OSSECAlert_Decoder`: alerts that another manager sent as syslog (decoding.md 4.8). The event becomes the one the other
 * manager saw, and belongs to the rule it names. Where the line breaks off, the event keeps its category without a rule.
 */
export class OssecAlertPlugin implements Plugin {
  readonly #ruleExists: RuleExists;
  readonly #diagnostics: Diagnostics;

  constructor(ruleExists: RuleExists, diagnostics: Diagnostics) {
    this.#ruleExists = ruleExists;
    this.#diagnostics = diagnostics;
  }

  decode(event: EngineEvent): void {
    event.category = 'ossec-alert';
    const log = event.log;
    if (!log.startsWith('Alert Level:') && !log.startsWith('ossec: Alert Level')) {
      return;
    }
    const rule = this.#readRule(log);
    if (rule === undefined) {
      return;
    }
    const locationStart = log.indexOf(';', rule.end);
    if (locationStart < 0 || !log.startsWith(' Location: ', locationStart + 1)) {
      return;
    }
    const from = locationStart + 12;
    const locationEnd = log.indexOf(';', from);
    if (locationEnd < 0) {
      return;
    }
    const location = `${event.location}|${log.slice(from, locationEnd)}`.slice(0, MAX_LOCATION);
    const rest = readFields(event, log, locationEnd + 1);
    if (rest === undefined) {
      return;
    }
    event.location = location;
    event.hostname = location;
    event.fullLog = rest;
    event.log = rest;
    event.generatedRule = rule.id;
  }

  #readRule(log: string): { id: number; end: number } | undefined {
    const semicolon = log.indexOf(';');
    const colon = semicolon < 0 ? -1 : log.indexOf(':', semicolon);
    if (colon < 0 || log.charAt(colon + 1) !== ' ') {
      return undefined;
    }
    const end = log.indexOf(' ', colon + 2);
    if (end < 0) {
      return undefined;
    }
    const word = log.slice(colon + 2, end);
    const id = /^[0-9]{1,9}$/.test(word) ? Number(word) : -1;
    if (id < 0 || !this.#ruleExists(id)) {
      this.#diagnostics.warn(`Rule id '${word}' not found internally: ${log}`);
      return undefined;
    }
    return { id, end };
  }
}

/** Fields behind one space each, up to two spaces; gives the text behind them, or undefined where they break off. */
function readFields(event: EngineEvent, log: string, from: number): string | undefined {
  let at = from;
  let srcip: string | undefined;
  let user: string | undefined;
  while (log.charAt(at) === ' ' && log.charAt(at + 1) !== ' ') {
    const end = log.indexOf('; ', at);
    if (end < 0) {
      return undefined;
    }
    if (log.startsWith('srcip: ', at + 1)) {
      srcip = log.slice(at + 8, end);
    } else if (log.startsWith('user: ', at + 1)) {
      user = log.slice(at + 7, end);
    }
    at = end + 1;
  }
  event.srcip = srcip ?? event.srcip;
  event.dstuser = user ?? event.dstuser;
  return log
    .slice(at, at + MAX_LOG + 64)
    .replace(/^ +/, '')
    .slice(0, MAX_LOG);
}
