import type { ReportAlert } from './report-alert.js';

/** How an alert begins: `** Alert 1741083330.48211: mail  - local,syslog,` (rules-and-alerts.md 7.7). */
const HEADER = /^\*\* Alert \d+\.\d+:(?: mail )? - (.*)$/s;
const ORIGIN = /^(\d{4} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2}) (.*)$/s;
const RULE = /^Rule: (\d+) \(level (\d+)\) -> '(.*)'$/s;
/** Lines between the rule and the log, in their order; each is there once or not at all. */
const DETAILS = ['Src IP', 'Src Location', 'Src Port', 'Dst IP', 'Dst Location', 'Dst Port', 'User'];
/** The first line of alerts of file integrity. */
const FILE = /^(?:File|Registry (?:Key|Value)) '(.+)' (?:was )?(?:added|deleted|modified|checksum changed)\b/s;
const FILE_GROUP = 'syscheck';
/** Characters of a log that are kept; a report shows fewer. */
const MAX_LOG = 8192;

type OpenAlert = { -readonly [Name in keyof ReportAlert]: ReportAlert[Name] };

/** What the next line may be. `between`: nothing of an alert has come yet. */
type Place = 'between' | 'origin' | 'rule' | 'details' | 'log';

/**
 * Puts lines of alerts.log together to alerts (rules-and-alerts.md 7.7). An alert ends with the next header or the input: logs
 * have empty lines, too, and an end may be lost in a crash. The form cannot tell a line of a log that looks like a header from
 * one; alerts.json can.
 */
export class TextAlertParser {
  readonly #take: (alert: ReportAlert) => void;
  #place: Place = 'between';
  #alert = emptyAlert('');
  /** Details that may still come are those from this one on. */
  #detail = 0;
  /** Empty lines that belong to the log if it goes on. */
  #emptyLines = 0;
  #badLines = 0;

  constructor(take: (alert: ReportAlert) => void) {
    this.#take = take;
  }

  /** Lines that are part of no alert, and those of alerts that broke off. */
  get badLines(): number {
    return this.#badLines;
  }

  /** @param line without its end */
  line(line: string): void {
    const groups = HEADER.exec(line)?.[1];
    if (groups === undefined) {
      this.#inside(line);
      return;
    }
    this.end();
    this.#alert = emptyAlert(groups);
    this.#place = 'origin';
  }

  /** No more lines come, or something else does. */
  end(): void {
    if (this.#place === 'details' || this.#place === 'log') this.#take(this.#alert);
    else if (this.#place !== 'between') this.#badLines += 1;
    this.#place = 'between';
    this.#emptyLines = 0;
  }

  #inside(line: string): void {
    switch (this.#place) {
      case 'between':
        if (line !== '') this.#badLines += 1;
        return;
      case 'origin':
        this.#origin(line);
        return;
      case 'rule':
        this.#rule(line);
        return;
      case 'details':
        if (this.#isDetail(line)) return;
        this.#place = 'log';
        this.#log(line);
        return;
      case 'log':
        this.#log(line);
    }
  }

  #origin(line: string): void {
    const [, date, location] = ORIGIN.exec(line) ?? [];
    if (date === undefined || location === undefined) {
      this.#breakOff(line);
      return;
    }
    this.#alert.date = date;
    this.#alert.location = location;
    this.#place = 'rule';
  }

  /** Labels stand before the rule; nothing else has lines there. */
  #rule(line: string): void {
    const [, id, level, description] = RULE.exec(line) ?? [];
    if (id === undefined || level === undefined || description === undefined) {
      if (!line.includes(': ')) this.#breakOff(line);
      return;
    }
    this.#alert.ruleId = id;
    this.#alert.level = Number(level);
    this.#alert.description = description;
    this.#detail = 0;
    this.#place = 'details';
  }

  #isDetail(line: string): boolean {
    const at = DETAILS.findIndex((name, i) => i >= this.#detail && line.startsWith(`${name}: `));
    const name = DETAILS[at];
    if (name === undefined) return false;
    this.#detail = at + 1;
    const value = line.slice(name.length + 2);
    if (name === 'Src IP') this.#alert.srcip = value;
    else if (name === 'User') this.#alert.user = value;
    return true;
  }

  #log(line: string): void {
    const alert = this.#alert;
    if (line === '') {
      this.#emptyLines += 1;
      return;
    }
    if (alert.log === '') {
      if (alert.groups.includes(FILE_GROUP)) alert.filename = FILE.exec(line)?.[1] ?? '';
      alert.log = line.slice(0, MAX_LOG);
    } else if (alert.log.length < MAX_LOG) {
      alert.log = `${alert.log}${'\n'.repeat(Math.min(this.#emptyLines, MAX_LOG) + 1)}${line}`.slice(0, MAX_LOG);
    }
    this.#emptyLines = 0;
  }

  /** The line is none of an alert. */
  #breakOff(line: string): void {
    this.#badLines += line === '' ? 1 : 2;
    this.#place = 'between';
  }
}

function emptyAlert(groups: string): OpenAlert {
  return {
    date: '',
    location: '',
    groups,
    ruleId: '',
    level: 0,
    description: '',
    srcip: '',
    user: '',
    filename: '',
    log: '',
  };
}
